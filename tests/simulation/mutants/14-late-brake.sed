# src/wake/pingpong.rs
s/TRIP: usize = 6/TRIP: usize = 8/
