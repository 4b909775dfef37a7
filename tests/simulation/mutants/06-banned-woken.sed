# src/wake/facts.rs
s/coalesce(o.banned_at, m.banned_at) IS NULL/o.banned_at IS NULL/
