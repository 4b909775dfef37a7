# src/messaging/post.rs
s/for recipient in post.recipients {$/for recipient in post.recipients.iter().take(1) {/
