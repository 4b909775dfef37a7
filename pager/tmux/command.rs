//! The commands the pager gives tmux, as data (pager.md 1 and 5). Formats print a nonce in front of every line, so that nothing a pane or
//! a title holds can pass for a fact. None of them holds a `%`: tmux passes formats through strftime, which makes `  %4` of `%4`.

use std::time::Duration;

use tmux_interface::CapturePane;
use tmux_interface::DeleteBuffer;
use tmux_interface::DisplayMessage;
use tmux_interface::IfShell;
use tmux_interface::ListClients;
use tmux_interface::ListPanes;
use tmux_interface::PasteBuffer;
use tmux_interface::RunShell;
use tmux_interface::SendKeys;
use tmux_interface::SetBuffer;
use tmux_interface::SetOption;
use tmux_interface::TmuxCommand;
use tmux_interface::TmuxCommands;

use crate::pager::facts::PaneFacts;

/// Fields of a pane's line, in order; `listing` reads them. Numbers and ids first, then what a person or a program chose.
const PANE: &str = "#{pane_id}|#{pane_pid}|#{pid}|#{start_time}|#{session_id}|#{window_id}|#{window_index}|#{pane_index}|\
                    #{pane_width}|#{pane_height}|#{pane_dead}|#{pane_dead_status}|#{pane_in_mode}|#{pane_input_off}|\
                    #{pane_synchronized}|#{cursor_x}|#{cursor_y}|#{cursor_flag}|#{window_activity}|#{version}|#{pane_mode}|\
                    #{@relayroom}|#{pane_title}";

/// What a guard compares besides the pane's id: exactly these facts of the look, and the activity of a quiet window.
const GUARD: &str = "#{pane_pid}/#{pid}/#{start_time}/#{pane_dead}/#{pane_in_mode}/#{pane_input_off}/#{pane_synchronized}/\
                     #{pane_width}/#{pane_height}/#{cursor_x}/#{cursor_y}";

/// Name of the session option for the status line: the only option the pager writes.
const STATUS: &str = "@relayroom_status";

/// Sixteen random letters, new for each child.
#[must_use]
pub fn nonce() -> String {
    use rand::RngExt;
    let mut random = rand::rng();
    (0..16)
        .map(|_| char::from(random.random_range(b'a'..=b'z')))
        .collect()
}

/// Lists panes and clients, with `names` also names of sessions and windows, and captures `panes`. A failing capture drops those behind
/// it, so only panes just listed belong here.
#[must_use]
pub fn look(nonce: &str, panes: &[String], names: bool) -> TmuxCommands<'static> {
    let list = |kind: &str, fields: &str| {
        ListPanes::new()
            .all()
            .format(format!("{nonce}|{kind}|{fields}"))
            .build()
    };
    let mut commands = TmuxCommands::new().cmd(list("P", PANE));
    if names {
        // A name may hold the separator, so each stands at the end of a line of its own.
        commands.push(list("S", "#{pane_id}|#{session_id}|#{session_name}"));
        commands.push(list("W", "#{pane_id}|#{session_id}|#{window_name}"));
    }
    commands.push(
        ListClients::new()
            .format(format!(
                "{nonce}|C|#{{client_activity}}|#{{client_readonly}}|#{{pane_id}}"
            ))
            .build(),
    );
    for pane in panes {
        commands.push(say(pane, &format!("{nonce}|capture|#{{pane_id}}")));
        commands.push(
            CapturePane::new()
                .escape_sequences()
                .stdout()
                .join()
                .target_pane(pane.clone())
                .build(),
        );
        commands.push(say(pane, &format!("{nonce}|end|#{{pane_id}}")));
    }
    commands
}

fn say(pane: &str, text: &str) -> TmuxCommand<'static> {
    DisplayMessage::new()
        .print()
        .target_pane(pane.to_owned())
        .message(text.to_owned())
        .build()
}

/// Waits inside tmux, without a process.
#[must_use]
pub fn wait(span: Duration) -> TmuxCommand<'static> {
    RunShell::new()
        .delay(format!("{:.3}", span.as_secs_f64()))
        .build()
}

/// Puts `line` into a buffer of its own and pastes it, framed, if the guard holds; deletes the buffer either way.
#[must_use]
pub fn paste(nonce: &str, line: &str, seen: &PaneFacts, quiet: bool) -> TmuxCommands<'static> {
    let buffer = format!("rr-{nonce}");
    let mut set = SetBuffer::new().buffer_name(buffer.clone()).build();
    set.push_param("--").push_param(line.to_owned());
    let paste = PasteBuffer::new()
        .delete()
        .bracket_codes()
        .buffer_name(buffer.clone())
        .target_pane(seen.identity.pane.clone())
        .build();
    let delete = DeleteBuffer::new().buffer_name(buffer).build();
    TmuxCommands::new().cmd(set).cmd(guarded(
        nonce,
        seen,
        quiet,
        &paste.to_string(),
        &format!(" ; {delete}"),
    ))
}

/// Sends `line` letter by letter if the guard holds. A line that passed `line::check` holds no quote.
#[must_use]
pub fn letters(nonce: &str, line: &str, seen: &PaneFacts, quiet: bool) -> TmuxCommands<'static> {
    let letters = SendKeys::new()
        .disable_lookup()
        .target_pane(seen.identity.pane.clone())
        .key("--")
        .build();
    let send = format!("{letters} '{line}'");
    TmuxCommands::new().cmd(guarded(nonce, seen, quiet, &send, ""))
}

/// Presses one key, by tmux's name for it, if the guard holds.
#[must_use]
pub fn key(
    nonce: &str,
    name: &'static str,
    seen: &PaneFacts,
    quiet: bool,
) -> TmuxCommands<'static> {
    let press = SendKeys::new()
        .target_pane(seen.identity.pane.clone())
        .key(name)
        .build();
    TmuxCommands::new().cmd(guarded(nonce, seen, quiet, &press.to_string(), ""))
}

/// `if-shell -F`: tmux itself compares and sends in one step. Both ways print a mark; a send that fails prints none.
fn guarded(
    nonce: &str,
    seen: &PaneFacts,
    quiet: bool,
    send: &str,
    cleaning: &str,
) -> TmuxCommand<'static> {
    let mut command = IfShell::new()
        .not_execute()
        .target_pane(seen.identity.pane.clone())
        .shell_command(guard(seen, quiet))
        .command(format!("{send} ; display-message -p '{nonce}|sent'"))
        .build();
    command.push_param(format!("display-message -p '{nonce}|held'{cleaning}"));
    command
}

/// The format that is true while the pane is what the look saw. The facts are compared as one string: a long chain of `&&` is deeper than
/// older versions expand. The id's `%` is matched by `?`.
#[must_use]
pub fn guard(seen: &PaneFacts, quiet: bool) -> String {
    let flag = u8::from;
    let mut fields = GUARD.to_owned();
    let mut values = format!(
        "{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}",
        seen.identity.pane_pid,
        seen.identity.server_pid,
        seen.identity.server_start,
        flag(seen.dead),
        flag(seen.in_mode),
        flag(seen.input_off),
        flag(seen.synchronized),
        seen.width,
        seen.height,
        seen.cursor_x,
        seen.cursor_y
    );
    if quiet {
        fields.push_str("/#{window_activity}");
        values.push_str(&format!("/{}", seen.window_activity));
    }
    let id = seen.identity.pane.trim_start_matches('%');
    format!("#{{&&:#{{m:?{id},#{{pane_id}}}},#{{==:{fields},{values}}}}}")
}

/// Sets the status string of each session, or unsets it.
#[must_use]
pub fn status(sessions: &[(String, Option<String>)]) -> TmuxCommands<'static> {
    let mut commands = TmuxCommands::new();
    for (session, text) in sessions {
        // Quiet: a session that has just ended must not drop those behind it.
        let mut set = SetOption::new().quiet().build();
        if text.is_none() {
            set.push_flag("-u");
        }
        set.push_option("-t", session.clone()).push_param(STATUS);
        if let Some(text) = text {
            set.push_param(text.clone());
        }
        commands.push(set);
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pager::facts::Identity;

    fn pane() -> PaneFacts {
        PaneFacts {
            identity: Identity {
                socket: "/tmp/s".into(),
                server_pid: 10,
                server_start: 1_700_000_000,
                pane: "%3".into(),
                pane_pid: 42,
            },
            session_id: "$1".into(),
            session_name: "web".into(),
            window_id: "@2".into(),
            window_index: 0,
            window_name: "w".into(),
            pane_index: 0,
            width: 80,
            height: 24,
            dead: false,
            dead_status: None,
            in_mode: false,
            mode: String::new(),
            input_off: false,
            synchronized: false,
            cursor_x: 2,
            cursor_y: 21,
            cursor_shown: true,
            window_activity: 1_700_000_100,
            option: String::new(),
            title: String::new(),
        }
    }

    fn words(commands: &TmuxCommands<'_>) -> Vec<String> {
        commands
            .to_vec()
            .into_iter()
            .map(|word| word.into_owned())
            .collect()
    }

    #[test]
    fn case_t24_a_text_is_a_guarded_framed_paste_without_any_key() {
        let commands = paste(
            "nnn",
            "relayroom: you have mail (tag kqmwvz)",
            &pane(),
            true,
        );
        let all = words(&commands);
        assert!(all.contains(&"--".to_owned()));
        assert!(all.contains(&"relayroom: you have mail (tag kqmwvz)".to_owned()));
        let text = all.join(" ");
        assert!(text.contains("-d -p -b rr-nnn -t %3"), "{text}");
        assert!(text.contains("'nnn|held' ; "), "{text}");
        assert!(!text.contains("Enter") && !text.contains("send"), "{text}");
    }

    #[test]
    fn case_t05_case_t06_letters_are_literal_and_quoted() {
        let text = words(&letters(
            "nnn",
            "relayroom: mail (tag kqmwvz)",
            &pane(),
            true,
        ))
        .join(" ");
        assert!(
            text.contains("-l -t %3 -- 'relayroom: mail (tag kqmwvz)' ; display-message"),
            "{text}"
        );
    }

    #[test]
    fn an_enter_is_the_key_name_and_nothing_else() {
        let text = words(&key("nnn", "Enter", &pane(), false)).join(" ");
        assert!(text.contains("-t %3 Enter ; display-message"), "{text}");
        assert!(!text.contains("buffer") && !text.contains("-l"), "{text}");
        assert!(!text.contains("window_activity"), "{text}");
    }

    #[test]
    fn no_format_holds_a_percent_sign() {
        let all = words(&look("nnn", &["%3".into(), "%12".into()], true));
        let formats = all.iter().filter(|word| word.starts_with("nnn|"));
        assert_eq!(formats.clone().count(), 8);
        assert!(formats.clone().all(|format| !format.contains('%')));
    }

    #[test]
    fn the_guard_holds_every_fact_and_no_percent_sign() {
        let text = guard(&pane(), true);
        assert!(!text.contains('%'), "{text}");
        assert!(text.starts_with("#{&&:#{m:?3,#{pane_id}},"), "{text}");
        assert!(
            text.ends_with(",42/10/1700000000/0/0/0/0/80/24/2/21/1700000100}}"),
            "{text}"
        );
    }

    #[test]
    fn a_status_is_set_and_unset_per_session_only() {
        let text = words(&status(&[
            ("$1".into(), Some("#[fg=black] web 3".into())),
            ("$2".into(), None),
        ]))
        .join(" ");
        assert!(
            text.contains("-q -t $1 @relayroom_status #[fg=black] web 3"),
            "{text}"
        );
        assert!(text.contains("-q -u -t $2 @relayroom_status"), "{text}");
        assert!(!text.contains("-g"), "{text}");
    }
}
