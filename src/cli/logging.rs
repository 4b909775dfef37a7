//! The relay's log: on stderr in the foreground, in a file of bounded size in the background (cli.md 3).

use std::fs::File;
use std::fs::OpenOptions;
use std::io::IsTerminal;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::context::Context;
use super::failure::Failure;

/// What is logged unless `RELAYROOM_LOG` says otherwise. The MCP library tells of each request by itself: that is our own line already.
const FILTER: &str = "info,rmcp=warn,rmcp::service=off";

/// Largest log file, in bytes.
const LARGEST: u64 = 10 << 20;

/// Old log files kept.
const KEPT: u32 = 3;

/// Starts logging, to the file `detach` named or to stderr.
///
/// # Errors
/// Exit 2 for a `RELAYROOM_LOG` that is no filter; exit 1 for a file that cannot be written.
pub fn start(context: &Context) -> Result<(), Failure> {
    let words = context.env.get("RELAYROOM_LOG").unwrap_or(FILTER);
    let filter = EnvFilter::try_new(words)
        .map_err(|error| Failure::usage(format!("RELAYROOM_LOG: {error}")))?;
    match &context.log_file {
        Some(path) => {
            let log = Rotating::open(path.clone(), LARGEST, KEPT)
                .map_err(|error| Failure::fault(format!("{}: {error}", path.display())))?;
            subscribe(filter, false, Mutex::new(log));
        }
        None => {
            let coloured = std::io::stderr().is_terminal() && context.screen.colour;
            subscribe(filter, coloured, std::io::stderr);
        }
    }
    Ok(())
}

fn subscribe<W>(filter: EnvFilter, coloured: bool, writer: W)
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // Refused only if somebody listens already, in a test: then they have the log.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(coloured)
        .with_writer(writer)
        .try_init();
}

/// A log file that is put aside when it is full.
struct Rotating {
    path: PathBuf,
    file: File,
    size: u64,
    largest: u64,
    kept: u32,
}

impl Rotating {
    fn open(path: PathBuf, largest: u64, kept: u32) -> std::io::Result<Self> {
        let file = append(&path)?;
        let size = file.metadata()?.len();
        Ok(Self {
            path,
            file,
            size,
            largest,
            kept,
        })
    }

    /// `log` becomes `log.1`, `log.1` becomes `log.2`, and the last one goes.
    fn rotate(&mut self) -> std::io::Result<()> {
        let old = |number: u32| {
            let mut name = self.path.as_os_str().to_owned();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        for number in (1..self.kept).rev() {
            // Missing ones are not there yet.
            let _ = std::fs::rename(old(number), old(number + 1));
        }
        std::fs::rename(&self.path, old(1))?;
        self.file = append(&self.path)?;
        self.size = 0;
        Ok(())
    }
}

impl Write for Rotating {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        if self.size + line.len() as u64 > self.largest && self.size > 0 {
            // A log that cannot be put aside goes on in the same file.
            let _ = self.rotate();
        }
        let written = self.file.write(line)?;
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Opens a log for adding to it.
///
/// # Errors
/// The file system's.
pub fn append(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_is_put_aside_and_the_oldest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay.log");
        let mut log = Rotating::open(path.clone(), 10, 2).unwrap();
        for line in ["first..", "second.", "third..", "fourth."] {
            log.write_all(line.as_bytes()).unwrap();
        }
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).ok();
        assert_eq!(read("relay.log").as_deref(), Some("fourth."));
        assert_eq!(read("relay.log.1").as_deref(), Some("third.."));
        assert_eq!(read("relay.log.2").as_deref(), Some("second."));
        assert_eq!(read("relay.log.3"), None);
    }
}
