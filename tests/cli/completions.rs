//! `completions` and `man`: every command and flag of `--help` is in them, and shells take them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use clap::CommandFactory;
use relayroom::cli::Cli;

use super::home::Home;

/// Every command a person may see, by its words, with the flags its `--help` tells of.
fn told(home: &Home) -> BTreeMap<Vec<String>, Vec<String>> {
    let mut paths = vec![Vec::new()];
    collect(&Cli::command(), &[], &mut paths);
    paths
        .into_iter()
        .map(|path| {
            let mut args: Vec<&str> = path.iter().map(String::as_str).collect();
            args.push("--help");
            let help = home.done(&args);
            let flags = help
                .lines()
                .map(str::trim_start)
                .filter(|line| line.starts_with('-'))
                .filter_map(|line| {
                    line.split([' ', ',', '['])
                        .find(|word| word.starts_with("--"))
                })
                .map(str::to_owned)
                .collect();
            (path, flags)
        })
        .collect()
}

fn collect(command: &clap::Command, above: &[String], paths: &mut Vec<Vec<String>>) {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let mut path = above.to_vec();
        path.push(sub.get_name().to_owned());
        collect(sub, &path, paths);
        paths.push(path);
    }
}

/// What a shell says to a script, if there is such a shell here.
fn shell(home: &Home, program: &str, args: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command
        .args(args)
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("TERM", "dumb");
    let output = match command.output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => panic!("{program}: {error}"),
    };
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && err.is_empty(),
        "{program}: {err}"
    );
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn cli_042_every_command_and_flag_has_its_line_in_a_man_page() {
    let home = Home::empty();
    let folder = home.path().join("pages");
    home.done(&["man", "pages"]);
    let told = told(&home);
    assert!(told.len() > 40 && told.values().all(|flags| !flags.is_empty()));
    for (path, flags) in &told {
        let mut name = vec!["relayroom".to_owned()];
        name.extend(path.clone());
        let file = folder.join(format!("{}.1", name.join("-")));
        let page = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let page = page.replace("\\-", "-");
        for flag in flags {
            assert!(page.contains(flag.as_str()), "{path:?} lacks {flag}");
        }
    }
    assert_eq!(
        fs::read_dir(&folder).unwrap().count(),
        told.len(),
        "a page too many"
    );
    assert!(!folder.join("relayroom-demo-agent.1").exists());
}

#[test]
fn cli_042_without_a_folder_pages_go_where_man_looks() {
    let home = Home::empty();
    let told = home.json(&["man"]);
    let folder = home.path().join(".local/share/man/man1");
    assert_eq!(told["folder"], *folder.to_string_lossy());
    assert!(folder.join("relayroom-part-add.1").exists());
    let shown = Command::new("man")
        .args(["-l"])
        .arg(folder.join("relayroom-backup.1"))
        .env("MANWIDTH", "80")
        .output();
    if let Ok(shown) = shown {
        let text = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(text.contains("--keep"), "{text}");
    }
}

#[test]
fn cli_042_bash_completes_every_command_and_flag() {
    let home = Home::empty();
    let file = home.path().join("relayroom.bash");
    fs::write(&file, home.done(&["completions", "bash"])).unwrap();
    let told = told(&home);
    let mut script = format!("source {}\n", file.display());
    let mut asked = Vec::new();
    for (path, flags) in &told {
        let below = told.keys().filter(|other| other.len() == path.len() + 1);
        let below = below.filter(|other| other.starts_with(path));
        let below: Vec<String> = below.filter_map(|other| other.last().cloned()).collect();
        for (typed, expected) in [("--", flags.clone()), ("", below)] {
            let words: Vec<String> = path.iter().map(|word| format!("'{word}'")).collect();
            script += &format!(
                "COMP_WORDS=(relayroom {} '{typed}'); COMP_CWORD={}; COMPREPLY=()\n\
                 _relayroom relayroom '{typed}' '{}'; echo \" ${{COMPREPLY[*]}} \"\n",
                words.join(" "),
                path.len() + 1,
                path.last().map_or("relayroom", String::as_str),
            );
            asked.push((path, typed, expected));
        }
    }
    let said = shell(&home, "bash", &["--norc", "-c", &script]).expect("these tests need bash");
    assert_eq!(said.lines().count(), asked.len());
    for (line, (path, typed, expected)) in said.lines().zip(asked) {
        for word in expected {
            assert!(
                line.contains(&format!(" {word} ")),
                "{path:?} {typed:?} lacks {word}: {line}"
            );
        }
    }
}

#[test]
fn cli_042_zsh_and_fish_take_their_scripts() {
    let home = Home::empty();
    let write = |shell: &str, name: &str| {
        let file = home.path().join(name);
        fs::write(&file, home.done(&["completions", shell])).unwrap();
        file
    };
    let zsh = write("zsh", "_relayroom");
    let load = "fpath=($HOME $fpath); autoload -U compinit; compinit -u -D; autoload +X _relayroom; whence -w _relayroom";
    if let Some(said) = shell(&home, "zsh", &["-f", "-c", load]) {
        assert_eq!(said.trim(), "_relayroom: function");
    }
    let fish = write("fish", "relayroom.fish");
    let ask = format!(
        "source {}; complete -C 'relayroom part add --'",
        path(&fish)
    );
    if let Some(said) = shell(&home, "fish", &["--no-config", "-c", &ask]) {
        for flag in ["--show", "--out", "--project"] {
            assert!(said.contains(flag), "{said}");
        }
    }
    for file in [zsh, fish] {
        let script = fs::read_to_string(&file).unwrap();
        assert!(!script.contains("demo-agent"), "{}", file.display());
        for (path, flags) in told(&home) {
            for flag in flags {
                let name = flag.trim_start_matches("--");
                assert!(script.contains(name), "{path:?} lacks {flag}");
            }
        }
    }
    assert_eq!(home.run(&["completions", "elvish"]).code, 2);
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}
