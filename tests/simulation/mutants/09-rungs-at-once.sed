# src/wake/ladder.rs
s/AT_ONCE: Duration = Duration::from_secs(60)/AT_ONCE: Duration = Duration::from_secs(5)/
