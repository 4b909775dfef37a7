# src/messaging/post.rs
0,/for recipient in post.recipients {$/s//for recipient in post.recipients.iter().take(1) {/
