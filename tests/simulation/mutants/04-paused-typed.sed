# src/wake/facts.rs
s/self.live \&\& !self.paused \&\&/self.live \&\&/
