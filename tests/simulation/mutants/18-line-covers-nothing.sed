# src/wake/mail.rs
s/SET nudged_by = ?2, reminders = reminders + ?3/SET nudged_by = nullif(?2, ?2), reminders = reminders + ?3/
