//! CLIs that `relayroom join` starts, in a scratch repository with a fresh home: they know their part, report their turns, are woken, and
//! the ledger's sums are what the model server says its answers cost, to the token.

mod desk;
mod ledger;
mod person;

use crate::agent::Agent;
use crate::obstacles::STANDING;
use crate::wait::PATIENCE;
use crate::wait::until;

use self::desk::Desk;
use self::ledger::Sum;

/// The part, its states, its wake, and what all of it cost.
pub fn alone(agent: Agent) {
    let Some(desk) = Desk::new(agent) else {
        return;
    };
    let web = desk.join("web");
    desk.begin(&web);
    assert_eq!(desk.ask(&web, "who are you"), "I am web.");
    desk.until_state("web", "idle");

    let count = "think=3000 count the orders of last week one by one";
    desk.submit(&web, count);
    desk.until_state("web", "busy");
    desk.until_answered(count);
    desk.until_state("web", "idle");

    let forbidden = desk.path("forbidden");
    desk.submit(&web, &format!("run: touch {}", forbidden.display()));
    web.pane.wait_for(agent.permission_question());
    desk.until_state("web", "blocked");
    web.pane.press(&["Escape"]);
    web.pane.rest();
    desk.until_state("web", "idle");

    let tag = desk.wake(&web);
    desk.until_state("web", "idle");
    assert!(!forbidden.exists(), "a command ran");
    ledger::equals(&desk, "alone", &[("web", Sum::due(&desk, |_| true))]);
    let turns = desk.turns("web");
    assert_eq!(turns["woken"], 1, "{turns}");
    assert_eq!(turns["duplicates"], 0, "{turns}");
    assert_eq!(turns["human"], 3, "{turns}");
    assert_eq!(desk.causes(), [tag]);
}

/// Mail is there before the CLI's first start, which asks its person whether it may begin at all: nobody else answers.
pub fn mail_before_the_first_start(agent: Agent) {
    let Some(desk) = Desk::new(agent) else {
        return;
    };
    let web = desk.join_without_start("web");
    desk.send("web");
    desk.up();
    web.pane.wait_for(agent.trust_question());
    std::thread::sleep(STANDING);
    assert!(
        web.pane.shows(agent.trust_question()),
        "the question was answered"
    );
    let wakes = desk.wakes();
    assert!(wakes.iter().all(|wake| wake.nudges == 0), "{wakes:?}");
    let tag = desk.woken(&web, 0);
    ledger::equals(&desk, "mail first", &[("web", Sum::due(&desk, |_| true))]);
    assert_eq!(desk.causes(), [tag]);
}

/// Two agents of one home in two worktrees.
pub fn two(agent: Agent) {
    let Some(desk) = Desk::new(agent) else {
        return;
    };
    let parts = ["web", "api"].map(|name| desk.join(name));
    for part in &parts {
        desk.begin(part);
    }
    for part in &parts {
        desk.submit(part, &format!("think=2000 count for {}", part.name));
    }
    for part in &parts {
        desk.until_answered(&format!("think=2000 count for {}", part.name));
    }
    for part in &parts {
        let name = part.name;
        assert_eq!(
            desk.ask(part, &format!("{name}, who are you")),
            format!("I am {name}.")
        );
    }
    let tags = parts.each_ref().map(|part| desk.wake(part));
    let due = |at: usize| {
        let (name, tag) = (parts[at].name, &tags[at]);
        let due = Sum::due(&desk, |turn| {
            turn.contains(name) || turn.contains(tag.as_str())
        });
        (name, due)
    };
    ledger::equals(&desk, "two", &[due(0), due(1)]);
    for part in &parts {
        let turns = desk.turns(part.name);
        assert_eq!(turns["woken"], 1, "{turns}");
        assert_eq!(turns["human"], 2, "{turns}");
    }
}

/// Every hook registered twice; a turn broken off while its answer streams; the CLI left, and its conversation taken up by `up`.
pub fn interrupted_and_resumed(agent: Agent) {
    let Some(desk) = Desk::new(agent) else {
        return;
    };
    desk.register_a_second_hook();
    let web = desk.join("web");
    desk.begin(&web);
    desk.ask(&web, "count the orders");
    desk.submit(&web, "think=4000 count them again line by line");
    until("the answer's first line is on the screen", PATIENCE, || {
        let rows = web.pane.rows();
        rows.iter().any(|row| row.ends_with("echo:")).then_some(())
    });
    web.pane.press(&["Escape"]);
    web.pane.rest();
    // Gemini CLI and Claude Code put a prompt that was broken off back into the composer.
    web.pane.clear();
    desk.ask(&web, "count the parcels");

    let session = desk.session();
    web.pane.submit(agent.leave());
    until("the CLI has ended", PATIENCE, || {
        web.pane.screen().is_err().then_some(())
    });
    desk.up();
    desk.begin(&web);
    desk.ask(&web, "count the customers");
    assert_eq!(desk.session(), session, "the conversation goes on");
    ledger::equals(
        &desk,
        "interrupted and resumed",
        &[("web", Sum::due(&desk, |_| true))],
    );
    assert!(desk.second_hook_ran().exists());
    let turns = desk.turns("web");
    assert_eq!(turns["human"], 4, "{turns}");
}
