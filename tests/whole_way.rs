//! The first message end to end: the relay's process, the pager's process, and an agent in a pane of real tmux. The fake agent is the
//! screen and the keys of one; what an agent does over MCP the test does for it.

use std::process::Command;
use std::time::Duration;
use std::time::Instant;

use relayroom::identity;
use relayroom::identity::part;
use relayroom::identity::people;
use relayroom::identity::project;
use relayroom::identity::token;
use relayroom::identity::token::Binding;
use relayroom::store::Store;
use relayroom::store::system_clock;
use rusqlite::Connection;
use serde_json::Value;
use serde_json::json;
use tempfile::TempDir;

use crate::support::fake_agent::Agent;
use crate::support::pager::Home;
use crate::support::pager::Pager;
use crate::support::process::Served;
use crate::support::process::free_address;
use crate::support::scripted_relay::line;
use crate::support::seat::Seat;
use crate::support::tmux::Tmux;
use crate::support::wait::SLACK;
use crate::support::wait::throughout;
use crate::support::wait::until;

/// Long enough for anything that is to happen at all.
const LONG: Duration = Duration::from_secs(30 * SLACK as u64);

/// From a message to its line in an idle pane, at most (pager.md 10).
const STORED_TO_SUBMITTED: Duration = Duration::from_millis(3_500 * SLACK as u64);

/// From the end of a turn or a dialog to the line, at most (pager.md 10).
const FREED_TO_SUBMITTED: Duration = Duration::from_secs(5 * SLACK as u64);

/// Longer than a poll waits (25 s) and than an idle pane is left unlooked at (20 s).
const IDLE: Duration = Duration::from_secs(31);

/// Kim's project `shop`: api and db call over MCP, web sits in a pane.
struct Way {
    folder: TempDir,
    relay: Served,
    api: Seat,
    db: Seat,
    web: Seat,
    home: Home,
    tmux: Tmux,
    agent: Agent,
}

impl Way {
    /// The relay runs and the pane is joined; no pager runs yet.
    fn new(knobs: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("relay.db");
        let now = system_clock().0;
        let store = Store::open(&db, "", now).unwrap();
        let (code, tokens) = store
            .write_blocking(move |tx| {
                identity::found(tx, "kim", now)?;
                let kim = people::first_owner(tx)?.seq;
                let shop = project::create(tx, kim, "shop", now)?;
                let mut tokens = Vec::new();
                for name in ["api", "db", "web"] {
                    part::add(tx, shop.seq, name, kim, now)?;
                    let binding = Binding::Agent {
                        project: shop.seq,
                        part: name.to_owned(),
                    };
                    tokens.push(token::issue(tx, kim, &binding, "", None, now)?.0);
                }
                Ok((shop.connect_code, tokens))
            })
            .unwrap();
        drop(store);
        let address = free_address();
        let relay = Served::start(&db, address);
        let seat = |n: usize, part: &str| Seat {
            address,
            code: code.clone(),
            part: part.to_owned(),
            token: tokens[n].clone(),
        };
        let tmux = Tmux::new();
        let agent = Agent::start(&tmux, "web", knobs);
        tmux.join(&agent.pane, &code, "web");
        Self {
            folder,
            relay,
            api: seat(0, "api"),
            db: seat(1, "db"),
            web: seat(2, "web"),
            home: Home::new(),
            tmux,
            agent,
        }
    }

    /// The pager of a home, started.
    fn pager(&self, home: &Home) -> Pager {
        let mut command: Command = home.command();
        let url = format!("http://{}", self.relay.address);
        command.args(["--server", &url, "--socket"]);
        command.arg(self.tmux.socket());
        Pager::spawn(command, home)
    }

    /// The pager, and the relay knows the pane in this state.
    fn served(&self, state: &str) -> Pager {
        let pager = self.pager(&self.home);
        self.web_is(state);
        pager
    }

    /// Waits until the roster says so of web; gives why.
    fn web_is(&self, state: &str) -> Value {
        let mut why = Value::Null;
        until(LONG, state, || {
            let roster = self.api.tool("roster", &json!({}));
            let rows = roster.as_array().unwrap();
            let row = rows.iter().find(|row| row["part"] == "web").unwrap();
            why = row["why"].clone();
            row["state"] == state
        });
        why
    }

    /// Waits until web's latest wake waits for this reason of the pane.
    fn held_up(&self, reason: &str) {
        let sql = "SELECT coalesce(hold_reason, '') FROM wake ORDER BY seq DESC LIMIT 1";
        until(LONG, reason, || self.fact(sql) == reason);
    }

    /// A text of the relay's file.
    fn fact(&self, sql: &str) -> String {
        let file = Connection::open(self.folder.path().join("relay.db")).unwrap();
        file.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// How web's latest wake stands: its state, or how it ended.
    fn wake(&self) -> String {
        self.fact(
            "SELECT coalesce(w.outcome, w.state) FROM wake AS w JOIN part AS p ON p.seq = w.part
              WHERE p.slug = 'web' ORDER BY w.seq DESC LIMIT 1",
        )
    }

    /// Tags of web's wakes, oldest first.
    fn lines(&self) -> Vec<String> {
        let tags = self.fact(
            "SELECT group_concat(tag, ' ') FROM
               (SELECT tag FROM wake JOIN part AS p ON p.seq = part WHERE p.slug = 'web' ORDER BY wake.seq)",
        );
        tags.split(' ').map(line).collect()
    }

    fn submitted(&self, prompts: usize, limit: Duration) {
        until(limit, "the line is submitted", || {
            self.agent.submits().len() >= prompts
        });
    }

    /// Watches that the agent gets no byte more.
    fn untouched(&self, span: Duration) {
        let before = self.agent.bytes().len();
        throughout(span, "no byte reaches the agent", || {
            self.agent.bytes().len() == before
        });
    }
}

/// Arguments of a message to web.
fn mail(subject: &str) -> Value {
    json!({"subject": subject, "body": "Is the index in?", "to": ["web"]})
}

#[test]
fn the_first_message_end_to_end() {
    let way = Way::new("");
    let receipt = |thread: &Value| {
        let shown = way.api.tool("show", &json!({"threadId": thread}));
        shown["messages"][0]["receipts"]["web"].clone()
    };

    // Stored, with nobody there yet who could wake web.
    let sent = way.api.tool("send", &mail("Index on orders"));
    let expected = json!([{"part": "web", "wake": "issued", "reason": "no_pager"}]);
    assert_eq!(sent["recipients"], expected, "{sent}");
    let thread = &sent["threadId"];
    assert_eq!(receipt(thread), "stored");
    assert_eq!(way.wake(), "waiting");

    // Typed and submitted: one line, ours, once.
    let _pager = way.pager(&way.home);
    way.submitted(1, LONG);
    assert_eq!(way.agent.submits(), way.lines());
    assert_eq!((way.agent.pastes(), way.agent.enters()), (1, 1));
    until(LONG, "it is presented", || receipt(thread) == "presented");
    assert_eq!(way.wake(), "presented");

    // The agent comes for its mail, answers, and closes.
    let inbox = way.web.tool("inbox", &json!({"unreadOnly": true}));
    assert_eq!(inbox.as_array().unwrap().len(), 1, "{inbox}");
    assert_eq!(inbox[0]["full"], true);
    until(LONG, "it is consumed", || way.wake() == "consumed");
    assert_eq!(receipt(thread), "shown");
    let answer = json!({"threadId": inbox[0]["threadId"], "body": "Since this morning."});
    let replied = way.web.tool("reply", &answer);
    assert_eq!(replied["threadStatus"], "answered", "{replied}");
    assert_eq!(receipt(thread), "read");
    let back = way.api.tool("inbox", &json!({"unreadOnly": true}));
    assert_eq!(back[0]["preview"], "Since this morning.");
    let closed = way.api.tool("close", &json!({"threadId": thread}));
    assert_eq!(closed["status"], "closed", "{closed}");

    // And that was all: one wake of web, one nudge, one prompt.
    way.untouched(Duration::from_secs(3));
    assert_eq!(way.agent.submits(), way.lines());
    let nudges = "SELECT group_concat(outcome || ' ' || enters || ' ' || rung) FROM nudge";
    assert_eq!(way.fact(nudges), "submitted 1 1");
}

#[test]
fn case_a03_mail_the_agent_read_by_itself_wakes_nobody() {
    let way = Way::new("--turn 600000");
    let _pager = way.served("idle");
    way.agent.knob("turn begin");
    for n in 0..5 {
        way.api.tool("send", &mail(&n.to_string()));
    }
    way.held_up("busy");
    let inbox = way.web.tool("inbox", &json!({}));
    assert_eq!(inbox.as_array().unwrap().len(), 5);
    until(LONG, "it is consumed", || way.wake() == "consumed");
    way.agent.knob("turn end");
    way.untouched(Duration::from_secs(8));

    // The pager was there all the time: what is new is announced.
    way.db.tool("send", &mail("new"));
    way.submitted(1, LONG);
    assert_eq!(way.agent.submits(), way.lines()[1..]);
}

#[test]
fn case_a05_an_agent_idle_for_long_is_woken_in_time_or_the_sender_sees_why_not() {
    let way = Way::new("");
    let _pager = way.served("idle");
    way.untouched(IDLE);
    let begun = Instant::now();
    let sent = way.api.tool("send", &mail("after a long rest"));
    let expected = json!([{"part": "web", "wake": "issued"}]);
    assert_eq!(sent["recipients"], expected, "{sent}");
    way.submitted(1, STORED_TO_SUBMITTED.saturating_sub(begun.elapsed()));
    way.web.tool("inbox", &json!({}));

    way.agent.knob("dialog open");
    way.db.tool("send", &mail("behind a dialog"));
    way.held_up("dialog");
    let why = way.web_is("blocked");
    assert!(
        why.as_str().unwrap().starts_with("permission prompt"),
        "{why}"
    );
    assert_eq!(way.agent.submits().len(), 1);
    assert_eq!(way.agent.dialog_keys(), 0);
}

#[test]
fn case_a12_two_pagers_make_one_line_and_a_dead_one_blocks_nobody() {
    let way = Way::new("");
    let first = way.served("idle");
    let (code, _, err) = way.pager(&way.home).finish(LONG);
    assert_eq!(code, 4, "{err}");
    assert!(err.contains("held by pid "), "{err}");

    // One more on the same panes, with a state folder and a name of its own.
    let elsewhere = Home::new();
    let second = way.pager(&elsewhere);
    way.agent.knob("dialog open");
    way.api.tool("send", &mail("one"));
    let machine = rustix::system::uname()
        .nodename()
        .to_str()
        .unwrap()
        .to_owned();
    let told = format!("held by {machine}");
    until(LONG, "one of them is told", || {
        way.home.log().contains(&told) || elsewhere.log().contains(&told)
    });
    way.agent.knob("dialog close");
    way.submitted(1, LONG);
    way.untouched(Duration::from_secs(5));
    assert_eq!(way.agent.submits(), way.lines());
    assert_eq!((way.agent.pastes(), way.agent.enters()), (1, 1));
    way.web.tool("inbox", &json!({}));
    second.stop();

    first.kill();
    let mut next = way.pager(&way.home);
    way.db.tool("send", &mail("two"));
    way.submitted(2, LONG);
    assert!(next.runs());
    assert_eq!(way.agent.submits(), way.lines());
}

#[test]
fn case_a13_a_wake_waits_for_the_end_of_a_turn_urgent_or_not() {
    let way = Way::new("--turn 600000");
    let _pager = way.served("idle");
    way.agent.knob("turn begin");
    way.api.tool("send", &mail("normal"));
    let mut urgent = mail("urgent");
    urgent["urgent"] = json!(true);
    let sent = way.db.tool("send", &urgent);
    assert_eq!(sent["recipients"][0]["wake"], "waiting", "{sent}");
    assert_eq!(way.fact("SELECT lane FROM wake"), "urgent");
    way.held_up("busy");
    way.web_is("busy");
    way.untouched(Duration::from_secs(6));
    assert_eq!(way.agent.bytes(), b"");
    way.agent.knob("turn end");
    way.submitted(1, FREED_TO_SUBMITTED);
    assert_eq!(way.agent.submits(), way.lines());
}
