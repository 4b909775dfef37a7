# pager/serve/acting.rs
s/delivery.is_done() || !(delivery.is_restarted() || part.sending)/delivery.wake != offer.wake_id/
