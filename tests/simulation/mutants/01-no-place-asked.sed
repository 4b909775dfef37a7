# src/wake/budget.rs
s/Ok(free_before(connection, wake.owner, wake.lane, wake.seq, now)? > 0)/Ok(true)/
