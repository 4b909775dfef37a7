//! The help of every command, as it is printed: a change of it is a change of the contract.

use clap::CommandFactory;

use super::home::Home;

#[test]
fn the_help_of_every_command() {
    let home = Home::empty();
    let mut paths = vec![Vec::new()];
    collect(&relayroom::cli::Cli::command(), &[], &mut paths);
    for path in paths {
        let mut args: Vec<&str> = path.iter().map(String::as_str).collect();
        args.push("--help");
        let help = home.run(&args);
        assert_eq!(help.code, 0, "{args:?}");
        let name = if path.is_empty() {
            "relayroom".to_owned()
        } else {
            path.join("-")
        };
        insta::assert_snapshot!(name, help.out);
    }
}

/// Every command a person may see, by its words.
fn collect(command: &clap::Command, above: &[String], paths: &mut Vec<Vec<String>>) {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let mut path = above.to_vec();
        path.push(sub.get_name().to_owned());
        collect(sub, &path, paths);
        paths.push(path);
    }
}
