# src/wake/due.rs
s/None => Lane::Human,/None => Lane::Normal,/
