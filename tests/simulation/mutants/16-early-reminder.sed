# src/wake/remind.rs
s/Duration::from_secs(10 \* 60)/Duration::from_secs(8 * 60)/
