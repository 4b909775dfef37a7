//! Turns and tokens, from the hook that reads them to the ledger that sums them (usage.md 12).

mod hook_events;
mod hook_failures;
mod hook_reading;
mod hook_sessions;
mod hook_spool;
mod hook_stage;
mod hook_to_relay;
mod hook_transcript;
mod ledger;
mod prices;
mod reporter;
mod routes;
mod rows;
mod turns;
