//! The commands (cli.md), each run as the real program against a real relay, in a home of their own.

mod admin;
mod backup;
mod completions;
mod demo;
mod desk;
mod export;
mod help;
mod home;
mod ids;
mod join;
mod mail;
mod output;
mod restore;
mod serve;
mod up;
mod up_parts;
mod wakes;
