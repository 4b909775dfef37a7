//! The commands (cli.md), each run as the real program against a real relay, in a home of their own.

mod admin;
mod as_part;
mod backup;
mod checkup;
mod completions;
mod demo;
mod desk;
mod doctor_agents;
mod doctor_panes;
mod doctor_relay;
mod export;
mod help;
mod home;
mod ids;
mod join;
mod mail;
mod output;
mod restore;
mod rotate;
mod serve;
mod up;
mod up_parts;
mod usage;
mod wakes;
