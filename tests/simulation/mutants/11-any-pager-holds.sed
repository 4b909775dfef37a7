# src/wake/lease.rs
s/if holder == asker {/if !asker.is_empty() || holder == asker {/
