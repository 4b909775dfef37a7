//! `relayroom join` (cli.md 4 and 9), on scratch repositories.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::desk::Desk;
use super::desk::mode;
use super::desk::text;
use crate::support::http::Call;
use crate::support::process::ask;
use crate::support::seat::Seat;

/// A part's place, with the token its worktree holds.
fn seat(desk: &Desk, root: &Path) -> Seat {
    let record = desk.record(root);
    Seat {
        address: desk
            .home
            .address
            .trim_start_matches("http://")
            .parse()
            .unwrap(),
        code: record.code.unwrap(),
        part: record.part.unwrap(),
        token: record.agent_token.unwrap(),
    }
}

/// Every file of a worktree but git's own, with its text and when it was written.
fn files(root: &Path) -> Vec<(String, String, std::time::SystemTime)> {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<(String, String, std::time::SystemTime)>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.file_name().unwrap() == ".git" {
                continue;
            }
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                let modified = path.metadata().unwrap().modified().unwrap();
                found.push((name, fs::read_to_string(&path).unwrap(), modified));
            }
        }
    }
    let mut found = Vec::new();
    walk(root, root, &mut found);
    found.sort();
    found
}

#[test]
fn cli_002_all_worktrees_of_a_repository_are_one_project() {
    let desk = Desk::new();
    let shop = desk.repository("src/shop");
    let (web, api) = (
        desk.worktree(&shop, "shop-web"),
        desk.worktree(&shop, "shop-api"),
    );
    let first = desk.json(&web, &["join", "web", "--agent", "claude"]);
    assert_eq!(first["project"], "shop", "{first}");
    assert_eq!(first["session"], "shop-web");
    assert_eq!(first["state"], "started");
    let second = desk.json(&api, &["join", "api", "--agent", "codex", "--main"]);
    assert_eq!(second["project"], "shop");
    assert_eq!(desk.marks(), ["shop-api api", "shop-web web"]);
    let starts = desk.started(2);
    assert_eq!(
        (starts[0].agent.as_str(), &starts[0].folder),
        ("codex", &api)
    );
    assert_eq!(
        (starts[1].agent.as_str(), &starts[1].folder),
        ("claude", &web)
    );
    assert_eq!(starts[1].line(), "", "an untracked file says it all");
    let config = web.join(".relayroom/config.toml");
    assert_eq!(
        starts[1].variable("RELAYROOM_CONFIG"),
        Some(config.to_str().unwrap())
    );
    assert_eq!(seat(&desk, &web).tool("whoami", &json!({}))["part"], "web");
    let who = seat(&desk, &api).tool("whoami", &json!({}));
    assert_eq!(
        (&who["part"], &who["isMain"]),
        (&json!("api"), &json!(true)),
        "{who}"
    );
    let playbook = text(&web.join("RELAYROOM.md")).unwrap();
    assert!(
        playbook.starts_with("<!-- relayroom:playbook "),
        "{playbook}"
    );
}

#[test]
fn cli_003_another_repository_of_the_same_name_is_another_project() {
    let desk = Desk::new();
    let shop = desk.repository("src/shop");
    let old = desk.repository("src/old/shop");
    let join = ["join", "web", "--agent", "claude", "--no-start"];
    assert_eq!(desk.json(&shop, &join)["project"], "shop");
    assert_eq!(desk.json(&old, &join)["project"], "old-shop");
    let no_git = desk.path("notes");
    fs::create_dir(&no_git).unwrap();
    assert_eq!(desk.json(&no_git, &join)["project"], "notes");
}

#[test]
fn cli_004_a_second_join_writes_nothing() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    for agent in ["claude", "codex", "gemini"] {
        let root = desk.worktree(&shop, agent);
        let join = ["join", agent, "--agent", agent];
        desk.json(&root, &join);
        let before = files(&root);
        let home = [".codex/hooks.json", ".gemini/settings.json"];
        let home = home.map(|name| text(&desk.path(name)));
        let again = desk.json(&root, &join);
        assert_eq!(again["written"], json!([]), "{again}");
        assert_eq!(again["state"], "runs", "{again}");
        assert_eq!(files(&root), before, "{agent}");
        let after = [".codex/hooks.json", ".gemini/settings.json"];
        assert_eq!(after.map(|name| text(&desk.path(name))), home);
    }
    assert_eq!(desk.started(3).len(), 3);
    let tokens = desk.json(&shop, &["token", "list"]);
    let tokens = tokens["tokens"].as_array().unwrap();
    let of = |kind: &str| tokens.iter().filter(|token| token["kind"] == kind).count();
    assert_eq!((of("agent"), of("pager")), (3, 1), "{tokens:#?}");
}

#[test]
fn cli_005_a_part_is_in_one_worktree_and_taken_to_another_on_demand() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    let (one, two) = (desk.worktree(&shop, "one"), desk.worktree(&shop, "two"));
    let join = ["join", "web", "--agent", "claude", "--no-start"];
    desk.json(&one, &join);
    let old = seat(&desk, &one);
    let refused = desk.run(&two, &join);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.err.contains(one.to_str().unwrap()), "{refused:?}");
    assert!(!two.join(".relayroom").exists());

    desk.json(
        &two,
        &["join", "web", "--agent", "claude", "--no-start", "--take"],
    );
    let ping = |seat: &Seat| ask(&seat.call("whoami", &json!({}))).unwrap().status;
    assert_eq!(ping(&old), 401);
    assert_eq!(ping(&seat(&desk, &two)), 200);
    assert!(!one.join(".relayroom").exists() && !one.join(".mcp.json").exists());
    assert_eq!(
        desk.run(&one, &join).code,
        3,
        "now it is joined in the other"
    );

    let other = desk.run(&two, &["join", "api"]);
    assert_eq!(other.code, 3, "one agent per folder: {other:?}");
}

#[test]
fn cli_006_a_tracked_file_is_not_touched_and_the_agent_is_told_at_its_start() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    let mcp = "{\"mcpServers\": {\"docs\": {\"command\": \"docs\"}}}\n";
    let toml = "[mcp_servers.docs]\ncommand = \"docs\"\n";
    fs::write(shop.join(".mcp.json"), mcp).unwrap();
    fs::create_dir(shop.join(".codex")).unwrap();
    fs::write(shop.join(".codex/config.toml"), toml).unwrap();
    fs::create_dir(shop.join(".gemini")).unwrap();
    fs::write(shop.join(".gemini/settings.json"), mcp).unwrap();
    desk.commit(&shop);
    let roots = ["claude", "codex", "gemini"].map(|agent| {
        let root = desk.worktree(&shop, &format!("w-{agent}"));
        desk.json(&root, &["join", agent, "--agent", agent]);
        assert_eq!(desk.git(&root, &["status", "--porcelain"]), "", "{agent}");
        root
    });
    let [claude, codex, gemini] = &roots;
    assert_eq!(text(&claude.join(".mcp.json")).unwrap(), mcp);
    assert_eq!(text(&codex.join(".codex/config.toml")).unwrap(), toml);
    assert_eq!(text(&gemini.join(".gemini/settings.json")).unwrap(), mcp);

    let starts = desk.started(3);
    let own = claude.join(".relayroom/mcp.json");
    assert_eq!(mode(&own), 0o600);
    assert!(text(&own).unwrap().contains(&seat(&desk, claude).token));
    assert_eq!(starts[0].line(), format!("--mcp-config={}", own.display()));

    let there = seat(&desk, codex);
    let url = format!("http://{}/mcp/{}?part=codex", there.address, there.code);
    assert_eq!(
        starts[1].line(),
        format!(
            "-c mcp_servers.relayroom.url=\"{url}\" -c mcp_servers.relayroom.bearer_token_env_var=\"RELAYROOM_TOKEN\""
        )
    );
    assert_eq!(
        starts[1].variable("RELAYROOM_TOKEN"),
        Some(there.token.as_str())
    );

    let there = seat(&desk, gemini);
    let url = format!("http://{}/mcp/{}?part=gemini", there.address, there.code);
    assert_eq!(starts[2].variable("RELAYROOM_MCP"), Some(url.as_str()));
    assert_eq!(
        starts[2].variable("RELAYROOM_TOKEN"),
        Some(there.token.as_str())
    );
    let home = desk.path(".gemini/settings.json");
    let settings: serde_json::Value = serde_json::from_str(&text(&home).unwrap()).unwrap();
    let entry = &settings["mcpServers"]["relayroom"];
    assert_eq!(
        entry["headers"]["Authorization"],
        "Bearer ${RELAYROOM_TOKEN:-}"
    );
    assert_eq!(
        settings["mcp"]["excluded"],
        json!(["${RELAYROOM_LEFT_OUT:-relayroom}"]),
        "other sessions leave it out"
    );
    desk.done(gemini, &["leave"]);
    assert!(!home.exists(), "{:?}", text(&home));
}

#[test]
fn cli_007_what_is_made_is_private_and_unseen_by_git() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    for (agent, secret) in [
        ("claude", ".mcp.json"),
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
    ] {
        let root = desk.worktree(&shop, agent);
        desk.json(&root, &["join", agent, "--agent", agent, "--no-start"]);
        for file in [secret, ".relayroom/config.toml"] {
            assert_eq!(mode(&root.join(file)), 0o600, "{file}");
        }
        assert_eq!(mode(&root.join(".relayroom")), 0o700);
        assert_eq!(desk.git(&root, &["status", "--porcelain"]), "", "{agent}");
        assert_eq!(desk.git(&root, &["add", "-A", "--dry-run"]), "", "{agent}");
    }
    // A server added by hand survives.
    let root = desk.path("claude");
    let path = root.join(".mcp.json");
    let added = text(&path).unwrap().replacen(
        "\"mcpServers\": {",
        "\"mcpServers\": {\n    \"docs\": {\"command\": \"d\"},",
        1,
    );
    fs::write(&path, &added).unwrap();
    desk.json(&root, &["join", "claude", "--no-start"]);
    assert_eq!(text(&path).unwrap(), added);
}

#[test]
fn cli_008_usage_046_foreign_hooks_stay_and_broken_files_stop_everything() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    let settings = shop.join(".claude/settings.local.json");
    fs::create_dir(shop.join(".claude")).unwrap();
    let broken = "{\n  \"hooks\": {\n    \"Stop\" []\n  }\n}\n";
    fs::write(&settings, broken).unwrap();
    let before = files(&shop);
    let refused = desk.run(&shop, &["join", "web", "--agent", "claude"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(
        refused.err.contains("settings.local.json line 3"),
        "{refused:?}"
    );
    assert_eq!(files(&shop), before);
    assert_eq!(
        desk.json(&shop, &["project", "list"])["projects"],
        json!([])
    );
    assert_eq!(desk.marks(), [""; 0]);

    let foreign = "{\n  // mine\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"beep\"}]},\n    ]\n  },\n}\n";
    fs::write(&settings, foreign).unwrap();
    desk.json(&shop, &["join", "web", "--agent", "claude", "--no-start"]);
    let with = text(&settings).unwrap();
    let (beep, ours) = (
        with.find("beep").unwrap(),
        with.find(" hook claude").unwrap(),
    );
    assert!(
        beep < with.rfind(" hook claude").unwrap() && ours > 0,
        "{with}"
    );
    assert!(with.starts_with("{\n  // mine\n"), "{with}");
    let program = env!("CARGO_BIN_EXE_relayroom");
    assert!(
        with.contains(&format!("\"{program} hook claude\"")),
        "{with}"
    );

    let written = fs::metadata(&settings).unwrap().modified().unwrap();
    desk.json(&shop, &["join", "web", "--agent", "claude", "--no-start"]);
    assert_eq!(text(&settings).unwrap(), with);
    assert_eq!(
        fs::metadata(&settings).unwrap().modified().unwrap(),
        written
    );

    desk.done(&shop, &["leave"]);
    assert_eq!(text(&settings).unwrap(), foreign);
}

#[test]
fn cli_009_tracked_instructions_get_no_line() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    fs::write(shop.join("CLAUDE.md"), "Be kind.\n").unwrap();
    fs::write(shop.join("AGENTS.md"), "Be brief.\n").unwrap();
    desk.commit(&shop);
    desk.json(&shop, &["join", "web", "--agent", "claude", "--no-start"]);
    assert_eq!(text(&shop.join("CLAUDE.md")).unwrap(), "Be kind.\n");
    assert_eq!(
        text(&shop.join("CLAUDE.local.md")).unwrap(),
        "@RELAYROOM.md\n"
    );
    let again = desk.json(&shop, &["join", "web", "--agent", "codex", "--no-start"]);
    assert_eq!(text(&shop.join("AGENTS.md")).unwrap(), "Be brief.\n");
    let todo = again["todo"].to_string();
    assert!(todo.contains("add the line @RELAYROOM.md"), "{todo}");
    assert!(
        !shop.join(".mcp.json").exists(),
        "the agent of before is gone"
    );
    assert!(!shop.join("CLAUDE.local.md").exists());
    assert_eq!(desk.git(&shop, &["status", "--porcelain"]), "");
}

#[test]
fn cli_010_no_command_line_shows_a_token() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    let mut child = desk
        .command(&shop, &["join", "web", "--agent", "claude"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut seen = 0;
    while child.try_wait().unwrap().is_none() {
        for (_, line) in desk.processes() {
            seen += 1;
            for prefix in ["rrt_", "rrp_", "rra_"] {
                assert!(!line.contains(prefix), "{line}");
            }
        }
    }
    assert!(seen > 0);
    for (_, line) in desk.processes() {
        assert!(!line.contains("rrt_") && !line.contains("rrp_"), "{line}");
    }
    let token = seat(&desk, &shop).token;
    let start = desk.started(1).remove(0);
    assert!(!start.environment.iter().any(|line| line.contains(&token)));
}

#[test]
fn cli_011_sessions_are_told_apart_by_their_whole_names() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    desk.tmux(&["new-session", "-d", "-s", "shop-web-admin", "sleep 1000"]);
    let joined = desk.json(&shop, &["join", "web", "--agent", "claude"]);
    assert_eq!(joined["session"], "shop-web");
    assert_eq!(desk.marks(), ["shop-web web"]);

    desk.tmux(&["new-session", "-d", "-s", "shop-api", "sleep 1000"]);
    let api = desk.worktree(&shop, "api");
    let refused = desk.run(&api, &["join", "api", "--agent", "claude"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.err.contains("--session"), "{refused:?}");
    assert!(!api.join(".relayroom").exists() && !api.join(".mcp.json").exists());
    let joined = desk.json(
        &api,
        &["join", "api", "--agent", "claude", "--session", "mine"],
    );
    assert_eq!(joined["session"], "mine");
}

#[test]
fn case_t16_what_tmux_calls_the_session_is_what_is_stored() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    let words = [
        "join",
        "web",
        "--agent",
        "claude",
        "--session",
        "proj v1.2:x",
    ];
    let joined = desk.json(&shop, &words);
    let name = desk.tmux(&["list-sessions", "-F", "#{session_name}"]);
    assert_eq!(joined["session"], name.as_str());
    assert_eq!(desk.record(&shop).session.as_deref(), Some(name.as_str()));
    assert_eq!(desk.json(&shop, &["join", "web"])["state"], "runs");
    desk.started(1);
}

#[test]
fn cli_012_the_pane_it_is_typed_in_is_adopted_and_becomes_the_agent() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    desk.tmux(&["new-session", "-d", "-s", "work", "-x", "100", "-y", "30"]);
    let line = format!(
        "cd {} && PATH={} RELAYROOM_SERVER={} {} join web --agent claude",
        shop.display(),
        desk.search_path(),
        desk.home.address,
        env!("CARGO_BIN_EXE_relayroom")
    );
    desk.tmux(&["send-keys", "-t", "work", "-l", "--", &line]);
    desk.tmux(&["send-keys", "-t", "work", "Enter"]);
    let start = desk.started(1).remove(0);
    assert_eq!(start.folder, shop);
    assert_eq!(desk.marks(), ["work web"]);
    assert_eq!(desk.record(&shop).session.as_deref(), Some("work"));
    assert_eq!(
        desk.tmux(&["list-sessions", "-F", "#{session_name}"]),
        "work"
    );

    // From elsewhere, while it lives: nothing moves.
    let again = desk.json(&shop, &["join", "web"]);
    assert_eq!(
        (&again["state"], &again["session"]),
        (&json!("runs"), &json!("work"))
    );
    assert_eq!(desk.marks(), ["work web"]);
}

#[test]
fn cli_013_every_worktree_speaks_as_its_own_part_and_no_home_entry_names_one() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    fs::create_dir(desk.path(".codex")).unwrap();
    let mine = "[mcp_servers.docs]\ncommand = \"docs\"\n";
    fs::write(desk.path(".codex/config.toml"), mine).unwrap();
    for (part, agent) in [
        ("a", "codex"),
        ("b", "codex"),
        ("c", "claude"),
        ("d", "claude"),
    ] {
        let root = desk.worktree(&shop, part);
        desk.json(&root, &["join", part, "--agent", agent, "--no-start"]);
        assert_eq!(seat(&desk, &root).tool("whoami", &json!({}))["part"], part);
    }
    assert_eq!(text(&desk.path(".codex/config.toml")).unwrap(), mine);
    assert!(!desk.path(".claude.json").exists());
    let hooks = text(&desk.path(".codex/hooks.json")).unwrap();
    assert_eq!(hooks.matches(" hook codex").count(), 6, "{hooks}");
    assert!(!hooks.contains("mcp"), "{hooks}");
}

#[test]
fn cli_014_leaving_brings_back_the_files_of_before() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    let docs = "{\"mcpServers\": {\"docs\": {\"command\": \"docs\"}}}\n";
    fs::create_dir(shop.join(".gemini")).unwrap();
    fs::write(shop.join(".mcp.json"), docs).unwrap();
    fs::write(shop.join(".gemini/settings.json"), docs).unwrap();
    fs::write(shop.join("AGENTS.md"), "Be brief.").unwrap();
    let exclude = text(&shop.join(".git/info/exclude"));
    let plain = |root: &Path| -> Vec<(String, String)> {
        files(root)
            .into_iter()
            .map(|(name, text, _)| (name, text))
            .collect()
    };
    let before = plain(&shop);
    for agent in ["claude", "codex", "gemini"] {
        let joined = desk.json(&shop, &["join", "web", "--agent", agent]);
        assert_ne!(plain(&shop), before, "{joined}");
        let there = seat(&desk, &shop);
        desk.home.json(&["send", "web", "Hello", "-m", "x"]);
        desk.done(&shop, &["leave"]);
        let mut after = plain(&shop);
        // A line that had no end got one.
        after.iter_mut().for_each(|(name, text)| {
            if name == "AGENTS.md" {
                *text = text.trim_end().to_owned();
            }
        });
        assert_eq!(after, before, "{agent}");
        assert_eq!(text(&shop.join(".git/info/exclude")), exclude);
        assert_eq!(desk.marks(), [""; 0]);
        let call = there.call("whoami", &json!({}));
        assert_eq!(ask(&call).unwrap().status, 401);
    }
    assert!(!desk.path(".codex/hooks.json").exists());
    assert!(!desk.path(".gemini/settings.json").exists());
    assert!(!desk.home.state().join("machine.token").exists());
    let mail = desk.home.json(&["inbox", "--part", "web"]);
    assert_eq!(mail["items"].as_array().unwrap().len(), 3, "{mail}");
    let starts = desk.starts();
    assert_eq!(
        starts.len(),
        1,
        "session and agent go on: the first is adopted"
    );
    assert!(starts[0].lives());
    let gone = desk.run(&shop, &["leave", "web"]);
    assert_eq!(gone.code, 5, "{gone:?}");
}

#[test]
fn a_broken_file_of_ours_is_written_anew() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    let join = ["join", "web", "--agent", "claude", "--no-start"];
    desk.json(&shop, &join);
    let config = shop.join(".relayroom/config.toml");
    fs::write(&config, "part = = web\n").unwrap();
    assert_eq!(desk.run(&shop, &["status"]).code, 2);
    let again = desk.run(&shop, &join);
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.err.contains("config.toml: line 1"), "{again:?}");
    assert_eq!(seat(&desk, &shop).tool("whoami", &json!({}))["part"], "web");
    fs::write(&config, "part = = web\n").unwrap();
    desk.done(&shop, &["leave", "web"]);
    assert!(!config.exists() && !shop.join(".mcp.json").exists());
}

#[test]
fn a_relay_that_does_not_answer_leaves_nothing_behind() {
    let desk = Desk::without_relay();
    let shop = desk.repository("shop");
    let before = files(&shop);
    let ran = desk.run(
        &shop,
        &[
            "--server",
            "http://127.0.0.1:9",
            "join",
            "web",
            "--agent",
            "claude",
        ],
    );
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.err.contains("relayroom up"), "{ran:?}");
    assert_eq!(files(&shop), before);
}

#[test]
fn a_step_that_fails_undoes_the_earlier_ones() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    // A rule of the repository that brings our file back.
    fs::write(shop.join(".gitignore"), "!.mcp.json\n").unwrap();
    desk.commit(&shop);
    let before = files(&shop);
    let exclude = text(&shop.join(".git/info/exclude"));
    let refused = desk.run(&shop, &["join", "web", "--agent", "claude"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.err.contains(".gitignore"), "{refused:?}");
    assert_eq!(files(&shop), before);
    assert!(!shop.join(".relayroom").exists());
    assert_eq!(text(&shop.join(".git/info/exclude")), exclude);
    let tokens = desk.json(&shop, &["token", "list"]).to_string();
    assert!(
        !tokens.contains("agent") && !tokens.contains("pager"),
        "{tokens}"
    );

    // An agent that ends at once.
    fs::write(shop.join(".gitignore"), "").unwrap();
    fs::write(desk.path("bin/claude"), "#!/bin/sh\nexit 1\n").unwrap();
    let before = files(&shop);
    let ended = desk.run(&shop, &["join", "web", "--agent", "claude"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.err.contains("ended at once"), "{ended:?}");
    assert_eq!(files(&shop), before);
    assert_eq!(desk.marks(), [""; 0]);
}

/// A call that shows that a person's other machine needs no admin token.
#[test]
fn tokens_that_were_brought_take_the_admin_tokens_place() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    desk.home.done(&["project", "new", "shop"]);
    let agent = desk.home.json(&["part", "add", "web", "--show"]);
    let machine = desk
        .home
        .json(&["token", "new", "--pager", "box", "--show"]);
    let code = desk.home.done(&["project", "code"]);
    let file = desk.path("tokens");
    let lines = format!(
        "{}\n{}",
        agent["token"].as_str().unwrap(),
        machine["token"].as_str().unwrap()
    );
    relayroom::config::write_secret(&file, &lines).unwrap();
    let admin = desk.home.db().with_extension("db.admin");
    fs::rename(&admin, desk.path("hidden")).unwrap();
    let words = [
        "join",
        "web",
        "--agent",
        "claude",
        "--no-start",
        "--token-file",
        file.to_str().unwrap(),
        "--code",
        code.trim(),
    ];
    let joined = desk.json(&shop, &words);
    assert_eq!(joined["project"], "shop", "{joined}");
    assert_eq!(seat(&desk, &shop).tool("whoami", &json!({}))["part"], "web");
    let record = desk.record(&shop);
    let poll = Call::new(seat(&desk, &shop).address, "GET", "/api/playbook?part=web")
        .bearer(&record.token.unwrap())
        .header("x-relayroom-code", code.trim());
    assert_eq!(ask(&poll).unwrap().status, 200);
}
