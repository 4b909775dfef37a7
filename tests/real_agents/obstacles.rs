//! What stands in a wake's way in a pane: nothing is typed while it does, and soon after it is gone the agent is woken.

use std::time::Duration;

use relayroom::store::system_clock;

use crate::agent::Agent;
use crate::scenarios::FREED;
use crate::stage::Stage;
use crate::wait::PATIENCE;
use crate::wait::until;
use crate::wait::within;

/// How long an obstacle is left standing after the pager named it: more than one of its looks, which are 2 s apart.
pub const STANDING: Duration = Duration::from_millis(4_500);

/// A draft of the person.
const DRAFT: &str = "merge only after";

/// One thing in the way.
struct Obstacle {
    /// Why the pager holds the wake.
    reason: &'static str,
    set: fn(&mut Stage),
    clear: fn(&Stage),
}

const OBSTACLES: [Obstacle; 4] = [
    Obstacle {
        reason: "dialog",
        set: |stage| {
            let command = format!("run: touch {}", stage.forbidden().display());
            stage.prompt(&command);
            stage.pane.wait_for(stage.agent.permission_question());
        },
        clear: |stage| stage.pane.press(&["Escape"]),
    },
    Obstacle {
        reason: "draft",
        set: |stage| stage.pane.write(DRAFT),
        clear: |stage| stage.pane.erase(DRAFT.len()),
    },
    Obstacle {
        reason: "draft",
        set: |stage| stage.pane.write("/"),
        clear: |stage| stage.pane.erase(1),
    },
    Obstacle {
        reason: "mode",
        set: |stage| drop(stage.pane.tmux(&["copy-mode", "-t", "web"])),
        clear: |stage| drop(stage.pane.tmux(&["send-keys", "-t", "web", "-X", "cancel"])),
    },
];

/// A permission dialog, a draft, the slash menu and copy mode, one after the other.
pub fn each(agent: Agent) {
    let Some(mut stage) = Stage::ready(agent) else {
        return;
    };
    for obstacle in OBSTACLES {
        stage.pane.rest();
        (obstacle.set)(&mut stage);
        stage.send("something in the way");
        stands(&stage, obstacle.reason);
        (obstacle.clear)(&stage);
        let (freed, _) = system_clock();
        let seen = stage.woken(Some(freed));
        within(seen.span(), FREED);
    }
    stage.finish("obstacles");
}

/// The question whether the folder is trusted, asked at the first start.
pub fn trust(agent: Agent) {
    let Some(mut stage) = Stage::raised(agent, false) else {
        return;
    };
    stage.pane.wait_for(agent.trust_question());
    stage.start_pager();
    stage.send("before the first turn");
    stands(&stage, "dialog");
    assert!(stage.pane.shows(agent.trust_question()));
    stage.pane.press(agent.trust_keys());
    until("the composer is there", PATIENCE, || stage.pane.composer());
    let (freed, _) = system_clock();
    stage.woken(Some(freed));
    stage.finish("trust");
}

/// Waits until the pager names the reason, and sees that nothing happens as long as the obstacle stands.
fn stands(stage: &Stage, reason: &str) {
    let hold = stage.held(reason);
    println!("held by {hold}");
    let composer = stage.pane.composer();
    std::thread::sleep(STANDING);
    let wake = stage.open_wake().unwrap();
    assert_eq!(wake.nudges, 0, "{wake:?}");
    assert!(!stage.pane.shows(&wake.tag), "typed into an obstacle");
    assert_eq!(stage.pane.composer(), composer);
    assert!(wake.hold.is_some_and(|hold| hold.starts_with(reason)));
    assert!(!stage.forbidden().exists(), "a command ran");
}
