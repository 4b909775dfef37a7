# src/wake/chain.rs
s/LONG: u32 = 12/LONG: u32 = 13/
