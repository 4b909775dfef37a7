# src/wake/ends.rs
/Ending::Consumed, now/,/^}/s/consider::consider(tx, part, now)?;//
