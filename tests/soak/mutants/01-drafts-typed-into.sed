# pager/deliver/state.rs
s/if !(look.verdict.is_ready() || look.is_own_draft())/if look.verdict.kind != Kind::Draft \&\& !(look.verdict.is_ready() || look.is_own_draft())/
