//! What a look's child printed, as facts (pager.md 1, "Parsing"). A line without the nonce is no fact; a line of the wrong shape makes its
//! pane unreadable and no other.

use std::collections::HashMap;
use std::collections::HashSet;

use crate::pager::facts::ClientFacts;
use crate::pager::facts::Identity;
use crate::pager::facts::PaneFacts;

/// All one child told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// One row per pane and session: a linked window stands here several times.
    pub rows: Vec<PaneFacts>,
    /// Panes whose line could not be read.
    pub bad: HashSet<String>,
    /// Clients of the server.
    pub clients: Vec<ClientFacts>,
    /// Complete captures, by pane.
    pub captures: HashMap<String, Vec<u8>>,
    /// The server's version, empty if no pane was listed.
    pub version: String,
}

/// What a guarded send printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It was carried out.
    Sent,
    /// The guard said no.
    Held,
}

impl Listing {
    /// Reads the output of `command::look` for a server on `socket`.
    #[must_use]
    pub fn parse(stdout: &[u8], nonce: &str, socket: &str) -> Self {
        let mut listing = Self::default();
        let mut names: HashMap<(String, String), (String, String)> = HashMap::new();
        let mut capture: Option<(String, Vec<u8>)> = None;
        for line in stdout.split_inclusive(|byte| *byte == b'\n') {
            let Some((kind, rest)) = fact(line, nonce) else {
                if let Some((_, bytes)) = &mut capture {
                    bytes.extend_from_slice(line);
                }
                continue;
            };
            match kind.as_str() {
                "P" => listing.take_row(&rest, socket),
                "S" | "W" => {
                    let mut fields = rest.splitn(3, '|');
                    if let (Some(pane), Some(session), Some(name)) =
                        (fields.next(), fields.next(), fields.next())
                    {
                        let entry = names
                            .entry((pane.to_owned(), session.to_owned()))
                            .or_default();
                        let place = if kind == "S" {
                            &mut entry.0
                        } else {
                            &mut entry.1
                        };
                        name.clone_into(place);
                    }
                }
                "C" => listing.clients.extend(client(&rest)),
                "capture" => capture = Some((rest, Vec::new())),
                "end" => {
                    if let Some((pane, bytes)) = capture.take().filter(|(pane, _)| *pane == rest) {
                        listing.captures.insert(pane, bytes);
                    }
                }
                _ => {}
            }
        }
        for row in &mut listing.rows {
            let key = (row.identity.pane.clone(), row.session_id.clone());
            if let Some((session, window)) = names.get(&key) {
                row.session_name.clone_from(session);
                row.window_name.clone_from(window);
            }
        }
        listing
    }

    /// The pane with this id.
    #[must_use]
    pub fn pane(&self, id: &str) -> Option<&PaneFacts> {
        self.rows.iter().find(|row| row.identity.pane == id)
    }

    /// Each pane once, though its window may be linked into several sessions.
    pub fn panes(&self) -> impl Iterator<Item = &PaneFacts> {
        let mut seen = HashSet::new();
        self.rows
            .iter()
            .filter(move |row| seen.insert(row.identity.pane.as_str()))
    }

    /// Every session that shows the pane.
    pub fn sessions<'a>(&'a self, pane: &'a str) -> impl Iterator<Item = &'a str> {
        self.rows
            .iter()
            .filter(move |row| row.identity.pane == pane)
            .map(|row| row.session_id.as_str())
    }
}

/// Kind and rest of a line that begins with the nonce.
fn fact(line: &[u8], nonce: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix(nonce.as_bytes())?.strip_prefix(b"|")?;
    let text = String::from_utf8_lossy(rest);
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Some(match text.split_once('|') {
        Some((kind, rest)) => (kind.to_owned(), rest.to_owned()),
        None => (text.to_owned(), String::new()),
    })
}

/// The mark of a guarded send, if it printed one.
#[must_use]
pub fn mark(stdout: &[u8], nonce: &str) -> Option<Mark> {
    stdout
        .split(|byte| *byte == b'\n')
        .filter_map(|line| fact(line, nonce))
        .find_map(|(kind, _)| match kind.as_str() {
            "sent" => Some(Mark::Sent),
            "held" => Some(Mark::Held),
            _ => None,
        })
}

const FIELDS: usize = 23;

fn is_id(text: &str, sign: char) -> bool {
    text.strip_prefix(sign)
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

fn client(rest: &str) -> Option<ClientFacts> {
    let mut fields = rest.split('|');
    let facts = ClientFacts {
        activity: fields.next()?.parse().ok()?,
        read_only: fields.next()? == "1",
        pane: fields.next()?.to_owned(),
    };
    (is_id(&facts.pane, '%') && fields.next().is_none()).then_some(facts)
}

impl Listing {
    fn take_row(&mut self, rest: &str, socket: &str) {
        let fields: Vec<&str> = rest.splitn(FIELDS, '|').collect();
        match row(&fields, socket) {
            Some(row) => {
                fields[19].clone_into(&mut self.version);
                self.rows.push(row);
            }
            None => {
                let id = fields.first().copied().unwrap_or_default();
                if is_id(id, '%') {
                    self.bad.insert(id.to_owned());
                }
            }
        }
    }
}

fn row(fields: &[&str], socket: &str) -> Option<PaneFacts> {
    if fields.len() != FIELDS {
        return None;
    }
    let flag = |index: usize| match fields[index] {
        "0" | "" => Some(false),
        "1" => Some(true),
        _ => None,
    };
    let shaped = is_id(fields[0], '%') && is_id(fields[4], '$') && is_id(fields[5], '@');
    let mode = fields[20];
    if !shaped || !mode.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') {
        return None;
    }
    Some(PaneFacts {
        identity: Identity {
            socket: socket.to_owned(),
            server_pid: fields[2].parse().ok()?,
            server_start: fields[3].parse().ok()?,
            pane: fields[0].to_owned(),
            pane_pid: fields[1].parse().ok()?,
        },
        session_id: fields[4].to_owned(),
        session_name: String::new(),
        window_id: fields[5].to_owned(),
        window_index: fields[6].parse().ok()?,
        window_name: String::new(),
        pane_index: fields[7].parse().ok()?,
        width: fields[8].parse().ok()?,
        height: fields[9].parse().ok()?,
        dead: flag(10)?,
        dead_status: match fields[11] {
            "" => None,
            status => Some(status.parse().ok()?),
        },
        // The number of modes, one over the other.
        in_mode: fields[12].parse::<u32>().ok()? > 0,
        mode: mode.to_owned(),
        input_off: flag(13)?,
        synchronized: flag(14)?,
        cursor_x: fields[15].parse().ok()?,
        cursor_y: fields[16].parse().ok()?,
        cursor_shown: flag(17)?,
        window_activity: fields[18].parse().ok()?,
        option: fields[21].to_owned(),
        title: fields[22].to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "%3|42|10|1700000000|$1|@2|0|1|80|24|0||0|0|0|2|21|1|1700000100|3.3a||";

    fn read(text: &str) -> Listing {
        Listing::parse(text.as_bytes(), "nnn", "/tmp/s")
    }

    #[test]
    fn reads_a_pane_with_separators_in_its_title() {
        let listing = read(&format!("nnn|P|{LINE}RR/web/42|a|b|c\n"));
        let pane = listing.pane("%3").unwrap();
        assert_eq!(pane.title, "a|b|c");
        assert_eq!(pane.option, "RR/web/42");
        assert_eq!(
            (pane.width, pane.cursor_y, pane.window_activity),
            (80, 21, 1_700_000_100)
        );
        assert_eq!(listing.version, "3.3a");
    }

    #[test]
    fn pager_019_a_title_that_imitates_a_fact_is_a_title() {
        let imitation = format!("nnn|P|{LINE}x/y/1|t").replace("%3", "%4");
        let listing = read(&format!(
            "nnn|P|{LINE}|{imitation}\n{imitation2}\n",
            imitation2 = imitation.replace("nnn", "mmm")
        ));
        assert_eq!(listing.panes().count(), 1);
        assert_eq!(listing.pane("%3").unwrap().title, imitation);
        assert!(listing.pane("%4").is_none());
    }

    #[test]
    fn a_bad_line_spoils_its_own_pane_only() {
        for (at, value) in [(1, "x"), (8, "wide"), (12, "-1"), (18, ""), (20, "A|")] {
            let mut fields: Vec<&str> = LINE.split('|').collect();
            fields[0] = "%9";
            fields[at] = value;
            let listing = read(&format!("nnn|P|{}|t\nnnn|P|{LINE}|t\n", fields.join("|")));
            assert!(
                listing.pane("%9").is_none() && listing.bad.contains("%9"),
                "{at}"
            );
            assert!(listing.pane("%3").is_some() && !listing.bad.contains("%3"));
        }
        assert!(read("nnn|P|%3|42\n").bad.contains("%3"));
    }

    #[test]
    fn a_window_in_two_sessions_is_one_pane() {
        let linked = LINE.replace("$1", "$2");
        let listing = read(&format!(
            "nnn|P|{LINE}|t\nnnn|P|{linked}|t\nnnn|S|%3|$1|a|b\nnnn|W|%3|$1|w\nnnn|S|%3|$2|c\n"
        ));
        assert_eq!(listing.panes().count(), 1);
        assert_eq!(listing.sessions("%3").collect::<Vec<_>>(), ["$1", "$2"]);
        assert_eq!(listing.rows[0].session_name, "a|b");
        assert_eq!(listing.rows[0].window_name, "w");
        assert_eq!(listing.rows[1].session_name, "c");
    }

    #[test]
    fn a_capture_counts_only_when_its_end_was_printed() {
        let listing = read("nnn|capture|%3\nrow one\nnnn row\n\nnnn|end|%3\nnnn|capture|%4\nhalf");
        assert_eq!(listing.captures["%3"], b"row one\nnnn row\n\n");
        assert!(!listing.captures.contains_key("%4"));
    }

    #[test]
    fn clients_and_marks() {
        let listing = read("nnn|C|1700000000|1|%3\nnnn|C|soon|0|%3\nnnn|C|1|0|x\n");
        assert_eq!(
            listing.clients,
            [ClientFacts {
                activity: 1_700_000_000,
                read_only: true,
                pane: "%3".into()
            }]
        );
        assert_eq!(mark(b"x\nnnn|held\n", "nnn"), Some(Mark::Held));
        assert_eq!(mark(b"nnn|sent\n", "nnn"), Some(Mark::Sent));
        assert_eq!(mark(b"mmm|sent\nsent\n", "nnn"), None);
    }
}
