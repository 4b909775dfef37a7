# src/wake/budget.rs
s/WHERE owner = ?1 AND lane = ?2 AND at > ?3";/WHERE owner = ?1 AND ?2 IS NOT NULL AND at > ?3";/
