# src/wake/report.rs
s/if wake.state == State::Done || report.nudge != wake.rung {/if wake.state == State::Done {/
