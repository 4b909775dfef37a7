# src/wake/open.rs
s/wake.lease_until.is_none_or(|until| until <= case.now)/wake.lease_until.is_none()/
