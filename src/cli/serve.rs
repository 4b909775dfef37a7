//! `relayroom serve`: the relay itself (cli.md 3; access.md 8).

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::client;
use super::context::Context;
use super::detach;
use super::failure::Failure;
use super::logging;
use crate::activity::price::Prices;
use crate::config;
use crate::config::Env;
use crate::http::App;
use crate::http::Door;
use crate::http::Settings;
use crate::http::admin_token;
use crate::http::stop;
use crate::identity;
use crate::jobs;
use crate::store::Store;
use crate::store::system_clock;

/// How long a relay on a taken port is asked who it is.
const ASK: Duration = Duration::from_secs(1);

/// Threads for what may not run on an async one; more than there are connections to read with have nothing to do.
const BLOCKING: usize = 8;

/// Arguments of `serve`.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Arguments {
    /// Where to listen; may be given more than once
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Vec<String>,
    /// Run in the background, with the log in the state folder
    #[arg(long)]
    pub detach: bool,
}

/// Runs the relay until it is told to stop, or starts one in the background.
///
/// # Errors
/// Exit 1 for a file or an address that cannot be had; exit 2 for a setting that cannot be used.
pub fn run(context: &Context, arguments: &Arguments) -> Result<(), Failure> {
    if arguments.detach {
        return detach::serve(context, &arguments.listen);
    }
    logging::start(context)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // What reads is short and shares few connections: more threads would only take turns.
        .max_blocking_threads(BLOCKING)
        .enable_all()
        .build()?;
    let served = runtime.block_on(serve(context, &arguments.listen));
    // A blocked reader does not hold the process back: everything answered is on disk.
    runtime.shutdown_timeout(Duration::from_millis(500));
    served
}

async fn serve(context: &Context, listen: &[String]) -> Result<(), Failure> {
    let mut settings = Settings::read(&context.settings.person).map_err(|why| {
        let file = context.env.config_dir().join("config.toml");
        let line = line_of(&file, &why);
        Failure::usage(format!("{}: line {line}: {why}", file.display()))
    })?;
    if context.settings.person.prices.is_none() {
        let prices = Prices::load(&config::prices_file(&context.db()));
        settings.prices = Arc::new(prices.map_err(|bad| Failure::usage(bad.to_string()))?);
    }
    let listeners = match crate::http::bind(&context.settings.listen(listen, &context.env)).await {
        Ok(listeners) => listeners,
        Err((address, error)) => return Err(not_bound(context, &address, &error).await),
    };
    let addresses = listeners
        .iter()
        .map(tokio::net::TcpListener::local_addr)
        .collect::<std::io::Result<Vec<SocketAddr>>>()?;
    let address = reached_at(&addresses);
    let stop = CancellationToken::new();
    // Heard from the first moment on: a stop that comes while the file is opened is no reason to die of it.
    let mut told = tokio::spawn(stop::signals(stop.clone()));
    let door = Arc::new(Door::new(settings, addresses, stop.clone()));
    let serving = tokio::spawn(crate::http::serve(Arc::clone(&door), listeners));

    let opened = tokio::select! {
        opened = open(context, &door, &address) => opened,
        Ok(Ok(code)) = &mut told => std::process::exit(code),
    };
    let app = match opened {
        Ok(app) => app,
        Err(failure) => {
            stop.cancel();
            let _ = serving.await;
            return Err(failure);
        }
    };
    let work = tokio::spawn(jobs::run(Arc::clone(&app)));
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        file = %app.store.path().display(),
        "listening on {address}"
    );
    let store = app.store.clone();
    drop((door, app));
    tokio::select! {
        _ = serving => {}
        Ok(Ok(code)) = told => std::process::exit(code),
    }
    // Ends with the stop signal; what it panicked of is in the log.
    let _ = work.await;
    // Best effort: what stays in the log is read by the next start all the same.
    let _ = store.bound_wal(0).await;
    tracing::info!("stopped");
    Ok(())
}

/// The line of a settings file on which the setting stands that `why` begins with.
fn line_of(file: &Path, why: &str) -> usize {
    let name: String = why
        .chars()
        .take_while(|c| c.is_ascii_lowercase() || *c == '_')
        .collect();
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let found = text.lines().position(|line| {
        line.trim_start()
            .strip_prefix(&name)
            .is_some_and(|rest| rest.trim_start().starts_with('='))
    });
    found.map_or(1, |index| index + 1)
}

/// Opens the file and lets the requests in that waited.
async fn open(context: &Context, door: &Door, address: &str) -> Result<Arc<App>, Failure> {
    let db = context.db();
    if let Some(folder) = db.parent() {
        detach::private_folder(folder)
            .map_err(|error| Failure::fault(format!("{}: {error}", folder.display())))?;
    }
    let (now, _) = system_clock();
    let address = address.to_owned();
    let store = tokio::task::spawn_blocking(move || Store::open(&db, &address, now))
        .await
        .map_err(|_| Failure::fault("opening the file broke off"))?
        .map_err(|error| Failure::fault(error.to_string()))?;
    let account = account(&context.env);
    let failed = |error: crate::store::Error| Failure::fault(error.to_string());
    store
        .write(move |tx| identity::found(tx, &account, now))
        .await
        .map_err(failed)?;
    if let Some(why) = admin_token::prepare(&store, now).await.map_err(failed)? {
        tracing::info!("made a new admin token: {why}");
    }
    door.open(store).await.map_err(failed)
}

/// The name of a fresh file's owner: the account that runs the relay.
fn account(env: &Env) -> String {
    let named = env.get("USER").or_else(|| env.get("LOGNAME"));
    named.map_or_else(
        || {
            let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
            account_of(&accounts, rustix::process::getuid().as_raw())
        },
        str::to_owned,
    )
}

/// The name of a user id in the text of `passwd`.
fn account_of(accounts: &str, uid: u32) -> String {
    let found = accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then_some(name)
    });
    found.unwrap_or("owner").to_owned()
}

/// The address clients on this machine use.
fn reached_at(addresses: &[SocketAddr]) -> String {
    let loopback = addresses.iter().find(|address| address.ip().is_loopback());
    let Some(mut address) = loopback.or(addresses.first()).copied() else {
        return String::new();
    };
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{address}")
}

/// Why an address cannot be had; a relay that has it is named with its version and, where it is this file's, its process.
async fn not_bound(context: &Context, address: &str, error: &std::io::Error) -> Failure {
    if error.kind() == std::io::ErrorKind::InvalidInput {
        return Failure::usage(format!("{address} is no address such as 127.0.0.1:48801"));
    }
    if error.kind() != std::io::ErrorKind::AddrInUse {
        return Failure::fault(format!("cannot listen on {address}: {error}"));
    }
    let who = match client::health(&format!("http://{address}"), ASK).await {
        Some(health) => format!("relayroom {}", health.version.unwrap_or_default()),
        None => "another program".to_owned(),
    };
    let ours = Store::holder(&context.db()).filter(|holder| holder.address.ends_with(address));
    let pid = ours.map_or_else(String::new, |holder| format!(" (pid {})", holder.pid));
    Failure::fault(format!("{address} is taken: {who}{pid} answers there"))
        .fix("relayroom serve --listen ADDRESS")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_number() {
        let accounts = "root:x:0:0::/root:/bin/sh\nkim:x:1000:1000::/home/kim:/bin/sh\n";
        assert_eq!(account_of(accounts, 1000), "kim");
        assert_eq!(account_of(accounts, 7), "owner");
    }

    #[test]
    fn clients_here_go_to_loopback() {
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        assert_eq!(
            reached_at(&[at("192.168.1.5:1"), at("127.0.0.1:2")]),
            "http://127.0.0.1:2"
        );
        assert_eq!(reached_at(&[at("0.0.0.0:3")]), "http://127.0.0.1:3");
        assert_eq!(reached_at(&[at("[::]:4")]), "http://[::1]:4");
    }
}
