# src/wake/ladder.rs
s/            Next::Unanswered$/            Next::Wait/
