//! Wakes of an agent that is idle, busy, flooded, or cut off.

use relayroom::store::system_clock;

use crate::agent::Agent;
use crate::ledger;
use crate::stage::Stage;
use crate::table::percentile;
use crate::wait::PATIENCE;
use crate::wait::until;
use crate::wait::within;

/// From a message stored to its wake submitted, agent idle (pager.md 10), with the factor 3 of a shared machine, in milliseconds.
const IDLE_P50: i64 = 3 * 2_000;
const IDLE_P95: i64 = 3 * 3_500;

/// From the end of what held a wake to its line submitted, in milliseconds: 5 s, with that factor.
pub const FREED: i64 = 3 * 5_000;

/// A message to an idle agent, and the next, and so on: some answered, some acknowledged.
pub fn idle(agent: Agent) {
    let Some(mut stage) = Stage::ready(agent) else {
        return;
    };
    let mut spans = Vec::new();
    for n in 0..agent.idle_wakes() {
        stage.pane.rest();
        stage.send(&format!("mail {n}, {}", ["reply", "ack"][n % 2]));
        spans.push(stage.woken(None).span());
    }
    spans.sort_unstable();
    stage.finish("idle");
    within(percentile(&spans, 50).unwrap(), IDLE_P50);
    within(percentile(&spans, 95).unwrap(), IDLE_P95);
}

/// A message before the model's first word, and one while it streams: both turns end undisturbed.
pub fn busy(agent: Agent) {
    let Some(mut stage) = Stage::ready(agent) else {
        return;
    };
    for (n, streaming) in [false, true].into_iter().enumerate() {
        stage.prompt(&format!(
            "think=4000 {n} count the orders of last week one by one"
        ));
        if streaming {
            stage.pane.wait_for("echo: ");
        }
        stage.send("while busy");
        println!("streaming {streaming}: held by {}", stage.held("busy"));
        let ended = until("the busy turn ends", PATIENCE, || {
            let heard = stage.model.heard();
            heard.iter().rfind(|heard| heard.ends_turn())?.done
        });
        let seen = stage.woken(Some(ended));
        assert!(seen.span() > 0, "{seen:?}");
        within(seen.span(), FREED);
        stage.pane.rest();
    }
    stage.finish("busy");
}

/// Twenty messages at once, before the agent has asked for its mail: one line, one turn, all of them shown.
pub fn twenty(agent: Agent) {
    let Some(mut stage) = Stage::ready(agent) else {
        return;
    };
    stage.model.hold_mail(true);
    for n in 0..20 {
        stage.send(&format!("mail {n}"));
    }
    stage.presented();
    stage.model.hold_mail(false);
    stage.woken(None);
    stage.pane.rest();
    assert_eq!(ledger::unseen(&stage.db()), 0);
    stage.finish("twenty");
}

/// The relay dies when the line has been submitted and before the agent asks for its mail.
pub fn relay_killed(agent: Agent) {
    let Some(mut stage) = Stage::ready(agent) else {
        return;
    };
    stage.model.hold_mail(true);
    stage.send("a relay that dies");
    stage.presented();
    stage.kill_relay();
    stage.start_relay();
    stage.model.hold_mail(false);
    stage.woken(None);
    stage.pane.rest();
    // And the pager goes on where it was.
    stage.send("after it");
    stage.woken(None);
    stage.finish("relay_killed");
}

/// The pager dies when its line stands in the composer and before it presses Enter.
pub fn pager_killed(agent: Agent) {
    let Some(mut stage) = Stage::ready(agent) else {
        return;
    };
    stage.send("a pager that dies");
    until("the line stands in the composer", PATIENCE, || {
        stage.pane.shows("relayroom: you have").then_some(())
    });
    stage.kill_pager();
    stage.pane.rest();
    let (begun, _) = system_clock();
    stage.start_pager();
    stage.woken(Some(begun));
    stage.finish("pager_killed");
}
