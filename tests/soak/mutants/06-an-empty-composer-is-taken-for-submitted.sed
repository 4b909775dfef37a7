# pager/deliver/state.rs
s/if echoes > self.before.echoes {/if echoes >= self.before.echoes {/
