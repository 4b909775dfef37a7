//! Real agent CLIs, each a TUI in a pane of its own, woken by the real pager for the mail of a real relay (pager.md 9–11).
//!
//! Claude Code, Codex and Gemini CLI come from npm at pinned versions. Their model is a server in the test; no account, key or address
//! outside this machine is used. What was seen stands in a table, `real_agents/table.md` in cargo's folder for tests.

#![expect(
    clippy::unwrap_used,
    reason = "a test that meets the unexpected is to fail there"
)]

mod agent;
mod install;
mod joined;
mod ledger;
mod obstacles;
mod pane;
mod raise;
mod scenarios;
mod stage;
#[path = "../support"]
mod support {
    #[expect(dead_code, reason = "shared with the tests of the relay alone")]
    pub mod http;
    pub mod model_server;
    pub mod process;
}
mod table;
mod wait;

/// The tests of one CLI.
macro_rules! tests_of {
    ($name:ident, $agent:expr) => {
        mod $name {
            use crate::agent::Agent;
            use crate::joined;
            use crate::obstacles;
            use crate::scenarios;

            #[test]
            fn every_wake_of_an_idle_agent_is_submitted_and_consumed() {
                scenarios::idle($agent);
            }

            #[test]
            fn pager_088_a_busy_turn_is_not_disturbed_and_a_wake_follows_it() {
                scenarios::busy($agent);
            }

            #[test]
            fn pager_092_nothing_is_typed_into_a_dialog_a_draft_a_menu_or_copy_mode() {
                obstacles::each($agent);
            }

            #[test]
            fn pager_035_nothing_is_typed_into_a_trust_screen() {
                obstacles::trust($agent);
            }

            #[test]
            fn twenty_messages_at_once_make_one_turn() {
                scenarios::twenty($agent);
            }

            #[test]
            fn wake_037_a_relay_killed_between_nudge_and_reading_loses_nothing() {
                scenarios::relay_killed($agent);
            }

            #[test]
            fn pager_079_a_pager_killed_between_text_and_enter_submits_once() {
                scenarios::pager_killed($agent);
            }

            #[test]
            fn case_u_joined_its_part_states_wake_and_cost_are_known() {
                joined::alone($agent);
            }

            #[test]
            fn case_t14_mail_before_the_first_start_answers_none_of_its_questions() {
                joined::mail_before_the_first_start($agent);
            }

            #[test]
            fn case_u_joined_a_broken_off_turn_a_resumed_session_and_a_hook_twice_cost_what_they_cost() {
                joined::interrupted_and_resumed($agent);
            }
        }
    };
}

tests_of!(claude_2_1_332, Agent::Claude332);
tests_of!(claude_2_1_197, Agent::Claude197);
tests_of!(codex, Agent::Codex);
tests_of!(gemini, Agent::Gemini);

#[test]
fn usage_050_two_codex_in_two_worktrees_are_told_apart() {
    joined::two(agent::Agent::Codex);
}

#[test]
fn case_u_two_claude_code_in_two_worktrees_are_told_apart() {
    joined::two(agent::Agent::Claude332);
}
