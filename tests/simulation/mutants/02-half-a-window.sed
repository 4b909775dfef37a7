# src/wake/budget.rs
s/^const WINDOW: Duration = Duration::from_secs(60 \* 60)/const WINDOW: Duration = Duration::from_secs(30 * 60)/
