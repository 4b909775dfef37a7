# pager/tmux/command.rs
s/format!("#{{&&:#{{m:?{id},#{{pane_id}}}},#{{==:{fields},{values}}}}}")/format!("#{{m:?{id},#{{pane_id}}}}")/
