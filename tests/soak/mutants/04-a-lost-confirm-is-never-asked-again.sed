# pager/deliver/before.rs
/            None => {/{n;s/.*/                self.phase = Phase::Confirming { adopt };/}
