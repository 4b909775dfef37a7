# src/wake/sweep.rs
s/SET later = 0 WHERE later = 1/SET later = 1 WHERE later = 1/
