# pager/deliver/state.rs
s/self.verdict.kind == Kind::Draft && self.verdict.composer.is_own_line()/false/
s/if !(look.verdict.is_ready() || look.is_own_draft())/if !(look.verdict.is_ready() || look.verdict.composer.is_own_line())/
