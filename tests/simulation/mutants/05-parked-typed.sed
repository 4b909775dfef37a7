# src/wake/facts.rs
s/!self.paused \&\& self.limited_until.is_none()/!self.paused/
