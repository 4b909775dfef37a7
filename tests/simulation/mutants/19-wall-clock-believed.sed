# src/store/time.rs
s/let now = wall.max(steady);/let now = wall.max(Time(steady.0.min(wall.0)));/
