# src/wake/held.rs
s/COOLDOWN: Duration = Duration::from_secs(30)/COOLDOWN: Duration = Duration::from_secs(10)/
