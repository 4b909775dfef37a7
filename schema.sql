-- RelayRoom's whole data model, in reading order. A new file is made from this text; `PRAGMA user_version` and the steps in
-- `src/store/migrate.rs` bring an old one to the same shape.
--
-- Conventions. `seq` is the number rows are joined and ordered by; it only grows and is never used twice. `id` is the UUIDv7 the
-- outside sees. `*_at`, `*_until` are milliseconds since 1970, UTC. A NULL time means "not (yet)". Booleans are 0 and 1.

-- 1. The relay itself ------------------------------------------------------------------------------------------------------------

-- Exactly one row. `instance` names this relay whatever URL it is reached by; `restore` makes it anew.
CREATE TABLE relay (
  one        INTEGER PRIMARY KEY CHECK (one = 1),
  instance   TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  -- When `/health` last proved that this file can be written.
  proved_at  INTEGER
) STRICT;

-- 2. Who may do what (src/identity) ----------------------------------------------------------------------------------------------

CREATE TABLE user (
  seq           INTEGER PRIMARY KEY AUTOINCREMENT,
  id            TEXT    NOT NULL UNIQUE,
  name          TEXT    NOT NULL UNIQUE,
  password_hash TEXT,
  -- Nudges per sliding hour this person pays for, per lane (wake.md 4).
  normal_budget INTEGER NOT NULL DEFAULT 30 CHECK (normal_budget BETWEEN 0 AND 240),
  urgent_budget INTEGER NOT NULL DEFAULT 5  CHECK (urgent_budget BETWEEN 0 AND 60),
  created_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE org (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT    NOT NULL UNIQUE,
  name       TEXT    NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE org_member (
  org       INTEGER NOT NULL REFERENCES org (seq),
  user      INTEGER NOT NULL REFERENCES user (seq),
  role      TEXT    NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  banned_at INTEGER,
  PRIMARY KEY (org, user)
) STRICT, WITHOUT ROWID;

CREATE TABLE project (
  seq              INTEGER PRIMARY KEY AUTOINCREMENT,
  id               TEXT    NOT NULL UNIQUE,
  org              INTEGER NOT NULL REFERENCES org (seq),
  slug             TEXT    NOT NULL,
  name             TEXT    NOT NULL,
  connect_code     TEXT    NOT NULL UNIQUE,
  main_part        INTEGER REFERENCES part (seq),
  -- NULL: min(live parts, 8) (tools.md 6, send).
  max_broadcast    INTEGER CHECK (max_broadcast BETWEEN 1 AND 64),
  distill_on_close INTEGER NOT NULL DEFAULT 1 CHECK (distill_on_close IN (0, 1)),
  created_at       INTEGER NOT NULL,
  archived_at      INTEGER,
  UNIQUE (org, slug)
) STRICT;

CREATE TABLE project_member (
  project         INTEGER NOT NULL REFERENCES project (seq),
  user            INTEGER NOT NULL REFERENCES user (seq),
  level           TEXT    NOT NULL CHECK (level IN ('readonly', 'write', 'owner')),
  can_urgent      INTEGER NOT NULL DEFAULT 0 CHECK (can_urgent IN (0, 1)),
  can_needs_human INTEGER NOT NULL DEFAULT 0 CHECK (can_needs_human IN (0, 1)),
  banned_at       INTEGER,
  PRIMARY KEY (project, user)
) STRICT, WITHOUT ROWID;

CREATE TABLE part (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT,
  id              TEXT    NOT NULL UNIQUE,
  project         INTEGER NOT NULL REFERENCES project (seq),
  slug            TEXT    NOT NULL,
  owner           INTEGER NOT NULL REFERENCES user (seq),
  nickname        TEXT,
  colour          TEXT,
  created_at      INTEGER NOT NULL,
  deleted_at      INTEGER,
  paused_at       INTEGER,
  -- The park (wake.md 7): mail queues until then.
  limited_at      INTEGER,
  limited_until   INTEGER,
  -- End of the latest pause or park, for the quiet half hour before auto-close (tools.md 10).
  freed_at        INTEGER,
  -- Last own MCP call that passed every check; written in batches.
  heard_at        INTEGER,
  UNIQUE (project, slug)
) STRICT;
CREATE INDEX part_by_owner ON part (owner);

-- Credentials. The secret is never kept: `hash` is the SHA-256 of the whole token. An agent token is bound to a name, not to a part
-- row, because it may be issued for a name that is still free.
CREATE TABLE token (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE,
  hash         BLOB    NOT NULL UNIQUE,
  kind         TEXT    NOT NULL CHECK (kind IN ('agent', 'pager', 'admin')),
  last_four    TEXT    NOT NULL,
  label        TEXT    NOT NULL DEFAULT '',
  user         INTEGER NOT NULL REFERENCES user (seq),
  project      INTEGER REFERENCES project (seq),
  part_slug    TEXT,
  machine      TEXT,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  revoked_at   INTEGER,
  last_used_at INTEGER,
  last_peer    TEXT,
  last_client  TEXT,
  CHECK (kind <> 'agent' OR (project IS NOT NULL AND part_slug IS NOT NULL))
) STRICT;
CREATE INDEX token_by_part ON token (project, part_slug) WHERE revoked_at IS NULL;

-- 3. Mail (src/messaging) --------------------------------------------------------------------------------------------------------

CREATE TABLE thread (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  id          TEXT    NOT NULL UNIQUE,
  project     INTEGER NOT NULL REFERENCES project (seq),
  subject     TEXT    NOT NULL,
  -- Lower case beyond ASCII, for `threads.q`.
  folded      TEXT    NOT NULL,
  status      TEXT    NOT NULL CHECK (status IN ('open', 'answered', 'holding', 'closed', 'canceled')),
  -- NULL: a person opened it.
  opener      INTEGER REFERENCES part (seq),
  created_at  INTEGER NOT NULL,
  -- Flagged needs-human since.
  flagged_at  INTEGER,
  ended_at    INTEGER,
  -- Messages it holds; the next one's ordinal.
  messages    INTEGER NOT NULL DEFAULT 0,
  -- Newest message. The quiet half hour before auto-close runs from `stirred_at`: the latest of newest message, a message shown to a
  -- recipient for the first time, and a person's reopening (tools.md 10).
  message_at  INTEGER NOT NULL,
  stirred_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX thread_by_project ON thread (project, seq);
CREATE INDEX thread_by_status ON thread (project, status, seq);
CREATE INDEX thread_quiet ON thread (stirred_at) WHERE status IN ('open', 'answered') AND flagged_at IS NULL;

CREATE TABLE thread_tag (
  thread INTEGER NOT NULL REFERENCES thread (seq),
  tag    TEXT    NOT NULL,
  PRIMARY KEY (thread, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX thread_by_tag ON thread_tag (tag, thread);

CREATE TABLE message (
  seq       INTEGER PRIMARY KEY AUTOINCREMENT,
  id        TEXT    NOT NULL UNIQUE,
  thread    INTEGER NOT NULL REFERENCES thread (seq),
  ordinal   INTEGER NOT NULL,
  -- NULL: a person wrote it (`human`); `author` is the account it counts for.
  sender    INTEGER REFERENCES part (seq),
  author    INTEGER NOT NULL REFERENCES user (seq),
  body      TEXT    NOT NULL,
  urgent    INTEGER NOT NULL DEFAULT 0 CHECK (urgent IN (0, 1)),
  fyi       INTEGER NOT NULL DEFAULT 0 CHECK (fyi IN (0, 1)),
  at        INTEGER NOT NULL,
  -- Parts it was addressed to, for cooldown (exactly one) and broadcast.
  reach     INTEGER NOT NULL,
  -- Length of the chain of agent messages that led to it, and the one before it in that chain (wake.md 6).
  hops      INTEGER NOT NULL DEFAULT 0,
  follows   INTEGER REFERENCES message (seq),
  -- SHA-256 of thread or subject, body and recipients: the repeat brake (tools.md 9).
  sameness  BLOB    NOT NULL,
  UNIQUE (thread, ordinal)
) STRICT;
CREATE INDEX message_by_sender ON message (sender, at) WHERE sender IS NOT NULL;
CREATE INDEX message_by_author ON message (author, at, sender) WHERE sender IS NOT NULL;

-- One row per message and recipient; `part` NULL is the person's lane. `live` follows the thread's status, so that inboxes and
-- wakes read one partial index.
CREATE TABLE recipient (
  message      INTEGER NOT NULL REFERENCES message (seq),
  part         INTEGER REFERENCES part (seq),
  thread       INTEGER NOT NULL REFERENCES thread (seq),
  live         INTEGER NOT NULL DEFAULT 1 CHECK (live IN (0, 1)),
  fyi          INTEGER NOT NULL CHECK (fyi IN (0, 1)),
  -- Shown, the first and the last time; read.
  seen_at      INTEGER,
  last_seen_at INTEGER,
  read_at      INTEGER,
  -- The latest wake with a nudge that covered it, and when the first such line was known to have been submitted.
  nudged_by    INTEGER REFERENCES wake (seq),
  presented_at INTEGER,
  -- Beyond the broadcast cap of its reply: it wakes nobody before the next sweep.
  later        INTEGER NOT NULL DEFAULT 0 CHECK (later IN (0, 1)),
  -- Reminders that covered it, and when the next is due (wake.md 5).
  reminders    INTEGER NOT NULL DEFAULT 0,
  remind_at    INTEGER
) STRICT;
CREATE UNIQUE INDEX recipient_once ON recipient (message, part);
CREATE UNIQUE INDEX recipient_person ON recipient (message) WHERE part IS NULL;
CREATE INDEX recipient_inbox ON recipient (part, message) WHERE live = 1;
CREATE INDEX recipient_unread ON recipient (part, message) WHERE live = 1 AND read_at IS NULL;
CREATE INDEX recipient_loud ON recipient (part, message) WHERE live = 1 AND read_at IS NULL AND fyi = 0;
CREATE INDEX recipient_new ON recipient (part, message)
  WHERE live = 1 AND read_at IS NULL AND fyi = 0 AND seen_at IS NULL AND nudged_by IS NULL;
CREATE INDEX recipient_remind ON recipient (remind_at, part) WHERE live = 1 AND read_at IS NULL AND remind_at IS NOT NULL;
CREATE INDEX recipient_later ON recipient (message) WHERE later = 1;
CREATE INDEX recipient_shown ON recipient (part, last_seen_at) WHERE last_seen_at IS NOT NULL;
CREATE INDEX recipient_by_thread ON recipient (thread, part);

-- Every party of a thread: opener, addressees, writers. `part` NULL is the person's lane.
CREATE TABLE participant (
  thread       INTEGER NOT NULL REFERENCES thread (seq),
  part         INTEGER REFERENCES part (seq),
  -- Addressed by any message so far; place in order of first address; newest message written.
  addressee    INTEGER NOT NULL DEFAULT 0 CHECK (addressee IN (0, 1)),
  position     INTEGER NOT NULL,
  last_message INTEGER REFERENCES message (seq)
) STRICT;
CREATE UNIQUE INDEX participant_part ON participant (thread, part);
CREATE UNIQUE INDEX participant_person ON participant (thread) WHERE part IS NULL;

-- Remembered 24 h per sending part (tools.md 9).
CREATE TABLE idempotency (
  part       INTEGER NOT NULL REFERENCES part (seq),
  key        TEXT    NOT NULL,
  digest     BLOB    NOT NULL,
  thread_id  TEXT    NOT NULL,
  message_id TEXT    NOT NULL,
  at         INTEGER NOT NULL,
  PRIMARY KEY (part, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (at);

-- Full text. The text is folded to lower case. `rowid` is thread.seq * 2^20 + message.ordinal, so that walking it downwards visits the
-- newest threads first and one thread is one range. The subject stands in the row of ordinal 0. The text is folded already, so the
-- tokenizer is told to keep its hands off.
CREATE VIRTUAL TABLE mail_text USING fts5 (subject, body, tokenize = 'trigram case_sensitive 1');

-- 4. Waking (src/wake) -----------------------------------------------------------------------------------------------------------

CREATE TABLE wake (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE,
  part         INTEGER NOT NULL REFERENCES part (seq),
  -- Who pays: the part's owner when it was issued.
  owner        INTEGER NOT NULL REFERENCES user (seq),
  tag          TEXT    NOT NULL,
  lane         TEXT    NOT NULL CHECK (lane IN ('normal', 'urgent', 'human')),
  kind         TEXT    NOT NULL CHECK (kind IN ('mail', 'reminder', 'again')),
  state        TEXT    NOT NULL CHECK (state IN ('waiting', 'leased', 'presented', 'unconfirmed', 'done')),
  -- Newest message it announces.
  last_seq     INTEGER NOT NULL,
  -- What caused it.
  cause_part   INTEGER REFERENCES part (seq),
  cause_thread INTEGER REFERENCES thread (seq),
  cause_message INTEGER REFERENCES message (seq),
  issued_at    INTEGER NOT NULL,
  -- When the message that caused it was stored; for a reminder and a wake asked for by hand, when it was issued. Latencies run from here.
  stored_at    INTEGER NOT NULL,
  -- The number of the latest nudge, due or typed (1 to 4), and whether its line was typed: until then it holds a place in the budget,
  -- from then on it counts as a nudge.
  rung         INTEGER NOT NULL DEFAULT 1,
  typed        INTEGER NOT NULL DEFAULT 0 CHECK (typed IN (0, 1)),
  -- When a line was last typed for it.
  nudged_at    INTEGER,
  -- The lease: whose pager, on which machine.
  holder       TEXT,
  machine      TEXT,
  leased_at    INTEGER,
  lease_until  INTEGER,
  -- What holds it up in the pane, in the pager's or our words, and since when.
  hold_reason  TEXT,
  hold_detail  TEXT,
  hold_since   INTEGER,
  evidence     TEXT,
  presented_at INTEGER,
  consumed_at  INTEGER,
  ended_at     INTEGER,
  outcome      TEXT CHECK (outcome IN ('consumed', 'cleared', 'unanswered', 'canceled')),
  CHECK ((state = 'done') = (ended_at IS NOT NULL)),
  CHECK ((state = 'done') = (outcome IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX wake_open ON wake (part) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX wake_open_tag ON wake (tag) WHERE ended_at IS NULL;
CREATE INDEX wake_place ON wake (owner, lane, seq) WHERE ended_at IS NULL AND typed = 0;
CREATE INDEX wake_by_cause ON wake (part, cause_part, issued_at) WHERE cause_part IS NOT NULL;
CREATE INDEX wake_by_part ON wake (part, seq);
CREATE INDEX wake_by_issue ON wake (issued_at);
CREATE INDEX wake_by_tag ON wake (tag, seq);
CREATE INDEX wake_by_thread ON wake (cause_thread) WHERE cause_thread IS NOT NULL;

-- One line typed. Never changed but for its outcome, which is written once.
CREATE TABLE nudge (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  wake         INTEGER NOT NULL REFERENCES wake (seq),
  part         INTEGER NOT NULL REFERENCES part (seq),
  owner        INTEGER NOT NULL REFERENCES user (seq),
  lane         TEXT    NOT NULL CHECK (lane IN ('normal', 'urgent', 'human')),
  rung         INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  -- Newest message it covered.
  last_seq     INTEGER NOT NULL,
  outcome      TEXT CHECK (outcome IN ('submitted', 'unconfirmed')),
  outcome_at   INTEGER,
  -- 1: by a turn that began with the line, until the pager says so itself.
  proved       INTEGER NOT NULL DEFAULT 0 CHECK (proved IN (0, 1)),
  evidence     TEXT,
  enters       INTEGER,
  cause_part   INTEGER REFERENCES part (seq),
  cause_thread INTEGER REFERENCES thread (seq),
  -- What it was typed into, as the pager said: the agent CLI and tmux of that time.
  cli          TEXT,
  cli_version  TEXT,
  tmux         TEXT,
  UNIQUE (wake, rung)
) STRICT;
CREATE INDEX nudge_by_owner ON nudge (owner, lane, at);
CREATE INDEX nudge_by_part ON nudge (part, lane, at);
CREATE INDEX nudge_in_order ON nudge (part, seq);

-- A wake that was due and not issued: one row per part and reason while it lasts.
CREATE TABLE hold (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  part        INTEGER NOT NULL REFERENCES part (seq),
  owner       INTEGER NOT NULL REFERENCES user (seq),
  reason      TEXT    NOT NULL CHECK (reason IN ('paused', 'limited', 'human_ceiling', 'cooldown', 'ping_pong', 'broadcast', 'budget')),
  since       INTEGER NOT NULL,
  until       INTEGER,
  -- Messages it held back so far.
  count       INTEGER NOT NULL DEFAULT 1,
  last_sender INTEGER REFERENCES part (seq),
  last_seq    INTEGER NOT NULL,
  ended_at    INTEGER
) STRICT;
CREATE UNIQUE INDEX hold_open ON hold (part, reason) WHERE ended_at IS NULL;
CREATE INDEX hold_open_by_owner ON hold (owner, reason) WHERE ended_at IS NULL;
CREATE INDEX hold_by_part ON hold (part, seq);
CREATE INDEX hold_by_end ON hold (ended_at) WHERE ended_at IS NOT NULL;

-- Brakes on the wakes of a thread (wake.md 6): of two parts that answer each other too fast (`low` < `high`), or, with 0 for both, of
-- too long a chain of messages. The row stays for the hour in which a further trip doubles the hold.
CREATE TABLE brake (
  thread     INTEGER NOT NULL REFERENCES thread (seq),
  low        INTEGER NOT NULL,
  high       INTEGER NOT NULL,
  -- Ordinal of the message it tripped on: a person's later message in the thread lets it go.
  ordinal    INTEGER NOT NULL,
  tripped_at INTEGER NOT NULL,
  until      INTEGER NOT NULL,
  -- Trips before this one, each within an hour of the one before it.
  step       INTEGER NOT NULL,
  PRIMARY KEY (thread, low, high)
) STRICT, WITHOUT ROWID;

-- A pager's reports by the event id it invented, so that a repeated one is answered and not applied.
CREATE TABLE report (
  event  TEXT    PRIMARY KEY,
  wake   INTEGER NOT NULL REFERENCES wake (seq),
  result TEXT    NOT NULL,
  at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX report_by_age ON report (at);

-- 5. What parts are doing (src/activity) -----------------------------------------------------------------------------------------

-- What the pager that serves a part last said of its pane.
CREATE TABLE pane (
  part        INTEGER PRIMARY KEY REFERENCES part (seq),
  pager       TEXT    NOT NULL,
  machine     TEXT    NOT NULL,
  version     TEXT    NOT NULL,
  tmux        TEXT    NOT NULL,
  heard_at    INTEGER NOT NULL,
  -- Last time it saw the agent's process.
  agent_at    INTEGER,
  cli         TEXT,
  cli_version TEXT,
  socket      TEXT    NOT NULL DEFAULT '',
  pane        TEXT,
  state       TEXT    NOT NULL,
  detail      TEXT,
  since       INTEGER,
  evidence    TEXT,
  -- What the screen alone says, and since when: it may let go of what a hook reported (usage.md 7).
  screen       TEXT,
  screen_since INTEGER
) STRICT;

CREATE TABLE event (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE,
  project      INTEGER NOT NULL REFERENCES project (seq),
  part         INTEGER NOT NULL REFERENCES part (seq),
  type         TEXT    NOT NULL,
  detail       TEXT,
  parent       INTEGER REFERENCES event (seq),
  spawned      TEXT,
  started_at   INTEGER,
  ended_at     INTEGER,
  at           INTEGER NOT NULL,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cache_tokens INTEGER,
  cost_usd     REAL,
  model        TEXT
) STRICT;
CREATE INDEX event_by_project ON event (project, seq);
CREATE INDEX event_by_part ON event (part, seq);

-- 6. Turns and what they cost (src/activity) -------------------------------------------------------------------------------------

-- A session of an agent CLI, as its hooks reported it. What a part is doing is read from its sessions: `blocked` while one is, else
-- `busy` while one has an `open_turn`, else `idle`.
CREATE TABLE session (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  part         INTEGER NOT NULL REFERENCES part (seq),
  provider     TEXT    NOT NULL,
  session      TEXT    NOT NULL,
  -- Where its hook ran, as last named.
  tmux         TEXT,
  pane         TEXT,
  version      TEXT,
  -- When a report of it last arrived, and the latest time one that counts for the state told of.
  heard_at     INTEGER NOT NULL,
  told_at      INTEGER,
  -- Its turn that counts for the state and has not ended; since when a dialog is up; since when it is idle.
  open_turn    INTEGER REFERENCES turn (seq),
  blocked_at   INTEGER,
  idle_at      INTEGER,
  -- A prompt sent into the open turn: the turn it may become has its cause.
  queued_at    INTEGER,
  queued_cause TEXT CHECK (queued_cause IN ('wake', 'human', 'self')),
  queued_wake  INTEGER REFERENCES wake (seq),
  UNIQUE (part, provider, session)
) STRICT;
CREATE INDEX session_active ON session (part) WHERE open_turn IS NOT NULL OR blocked_at IS NOT NULL;
CREATE INDEX session_idle ON session (part, idle_at) WHERE idle_at IS NOT NULL;
CREATE INDEX session_heard ON session (part, heard_at);
CREATE INDEX session_told ON session (part, told_at) WHERE told_at IS NOT NULL;

CREATE TABLE turn (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  part       INTEGER NOT NULL REFERENCES part (seq),
  provider   TEXT    NOT NULL,
  session    TEXT    NOT NULL,
  -- The CLI's name for it, or the hook's, or ours.
  turn       TEXT    NOT NULL,
  cause      TEXT    NOT NULL CHECK (cause IN ('wake', 'human', 'self')),
  wake       INTEGER REFERENCES wake (seq),
  -- NULL: nobody saw it begin.
  started_at INTEGER,
  ended_at   INTEGER,
  ending     TEXT CHECK (ending IN ('stop', 'error', 'interrupted', 'limited', 'session_end', 'superseded', 'lost')),
  -- Its times were moved from the sender's clock to ours.
  shifted    INTEGER NOT NULL DEFAULT 0 CHECK (shifted IN (0, 1)),
  -- Its one `complete`, written once it has ended and has a row.
  event      INTEGER REFERENCES event (seq),
  -- Only where the person switched excerpts on (usage.md 10).
  title      TEXT,
  summary    TEXT,
  UNIQUE (part, provider, session, turn),
  CHECK ((cause = 'wake') = (wake IS NOT NULL)),
  CHECK ((ended_at IS NULL) = (ending IS NULL))
) STRICT;
CREATE INDEX turn_open ON turn (part, provider, session, started_at) WHERE ended_at IS NULL;
CREATE INDEX turn_begun ON turn (part, provider, session, started_at) WHERE started_at IS NOT NULL;
CREATE INDEX turn_by_wake ON turn (wake, started_at) WHERE wake IS NOT NULL;
CREATE INDEX turn_by_time ON turn (part, coalesce(started_at, ended_at));

-- One model reply. A number in it only rises. `turn` is NULL for an agent's own word (the `event` tool), which no hook stands behind.
CREATE TABLE usage_row (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT,
  part           INTEGER NOT NULL REFERENCES part (seq),
  provider       TEXT    NOT NULL,
  key            TEXT    NOT NULL,
  turn           INTEGER REFERENCES turn (seq),
  at             INTEGER NOT NULL,
  shifted        INTEGER NOT NULL DEFAULT 0 CHECK (shifted IN (0, 1)),
  model          TEXT    NOT NULL,
  input          INTEGER NOT NULL,
  output         INTEGER NOT NULL,
  cache_read     INTEGER NOT NULL,
  cache_write    INTEGER NOT NULL,
  -- Of `cache_write` kept for an hour; of `output` reasoning.
  cache_write_1h INTEGER NOT NULL,
  reasoning      INTEGER NOT NULL,
  -- What the provider itself said it cost, in millionths of a dollar.
  cost           INTEGER,
  sidechain      INTEGER NOT NULL DEFAULT 0 CHECK (sidechain IN (0, 1)),
  UNIQUE (part, provider, key)
) STRICT;
CREATE INDEX usage_row_by_turn ON usage_row (turn) WHERE turn IS NOT NULL;

-- The same numbers, summed: every change of a row moves its sum in the same transaction. `quarter` is a quarter hour, counted from 1970
-- UTC; `wake` is 0 for none; rows whose provider said what they cost are summed apart, for no price is applied to them.
CREATE TABLE usage_sum (
  part           INTEGER NOT NULL REFERENCES part (seq),
  quarter        INTEGER NOT NULL,
  provider       TEXT    NOT NULL,
  model          TEXT    NOT NULL,
  cause          TEXT    NOT NULL CHECK (cause IN ('wake', 'human', 'self')),
  wake           INTEGER NOT NULL,
  told           INTEGER NOT NULL CHECK (told IN (0, 1)),
  replies        INTEGER NOT NULL,
  input          INTEGER NOT NULL,
  output         INTEGER NOT NULL,
  cache_read     INTEGER NOT NULL,
  cache_write    INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL,
  reasoning      INTEGER NOT NULL,
  cost           INTEGER NOT NULL,
  PRIMARY KEY (part, quarter, provider, model, cause, wake, told)
) STRICT, WITHOUT ROWID;

-- What was not counted, per quarter hour: transcript lines passed over (`skipped`), reports a hook had to drop (`dropped`), prompts
-- with a tag of no wake of the part (`foreign_tag`).
CREATE TABLE usage_lost (
  part    INTEGER NOT NULL REFERENCES part (seq),
  quarter INTEGER NOT NULL,
  what    TEXT    NOT NULL CHECK (what IN ('skipped', 'dropped', 'foreign_tag')),
  why     TEXT    NOT NULL,
  count   INTEGER NOT NULL,
  PRIMARY KEY (part, quarter, what, why)
) STRICT, WITHOUT ROWID;

-- 7. What a project has learned (src/knowledge) ----------------------------------------------------------------------------------

CREATE TABLE knowledge (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE,
  project      INTEGER NOT NULL REFERENCES project (seq),
  kind         TEXT    NOT NULL CHECK (kind IN ('fact', 'convention', 'pitfall', 'decision')),
  title        TEXT    NOT NULL,
  body         TEXT    NOT NULL,
  state        TEXT    NOT NULL CHECK (state IN ('candidate', 'trusted', 'contradicted', 'retired')),
  source       TEXT    NOT NULL CHECK (source IN ('learn', 'lesson', 'person')),
  author_part  INTEGER REFERENCES part (seq),
  author_user  INTEGER NOT NULL REFERENCES user (seq),
  created_at   INTEGER NOT NULL,
  promoted_at  INTEGER,
  expires_at   INTEGER,
  used         INTEGER NOT NULL DEFAULT 0,
  unused       INTEGER NOT NULL DEFAULT 0,
  voices       INTEGER NOT NULL DEFAULT 0,
  contradictions INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX knowledge_by_state ON knowledge (project, state, seq);
CREATE INDEX knowledge_by_author ON knowledge (author_part, source, created_at);

-- Threads an entry cites. A lesson's thread has exactly one lesson, ever.
CREATE TABLE knowledge_thread (
  knowledge INTEGER NOT NULL REFERENCES knowledge (seq),
  thread    INTEGER NOT NULL REFERENCES thread (seq),
  lesson    INTEGER NOT NULL DEFAULT 0 CHECK (lesson IN (0, 1)),
  PRIMARY KEY (knowledge, thread)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX knowledge_lesson ON knowledge_thread (thread) WHERE lesson = 1;

CREATE TABLE knowledge_audit (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  knowledge  TEXT    NOT NULL,
  by_part    INTEGER REFERENCES part (seq),
  by_user    INTEGER REFERENCES user (seq),
  from_state TEXT,
  to_state   TEXT    NOT NULL,
  why        TEXT    NOT NULL,
  at         INTEGER NOT NULL
) STRICT;
CREATE INDEX knowledge_audit_by_entry ON knowledge_audit (knowledge, seq);
CREATE INDEX knowledge_audit_by_part ON knowledge_audit (by_part, at) WHERE by_part IS NOT NULL;

CREATE VIRTUAL TABLE knowledge_text USING fts5 (title, body, tokenize = 'trigram');

-- Who asked and what came back; never the query's words.
CREATE TABLE recall (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT    NOT NULL UNIQUE,
  part       INTEGER NOT NULL REFERENCES part (seq),
  query_hash BLOB    NOT NULL,
  kind       TEXT,
  at         INTEGER NOT NULL
) STRICT;
CREATE INDEX recall_by_age ON recall (at);

CREATE TABLE recall_entry (
  recall    INTEGER NOT NULL REFERENCES recall (seq),
  knowledge INTEGER NOT NULL REFERENCES knowledge (seq),
  used_at   INTEGER,
  PRIMARY KEY (recall, knowledge)
) STRICT, WITHOUT ROWID;

-- What a project's agents are told about working together: every text that was saved. An empty one is the text built in.
CREATE TABLE playbook (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT,
  project INTEGER NOT NULL REFERENCES project (seq),
  version INTEGER NOT NULL,
  text    TEXT    NOT NULL,
  sha256  TEXT    NOT NULL,
  author  INTEGER NOT NULL REFERENCES user (seq),
  made_at INTEGER NOT NULL,
  UNIQUE (project, version)
) STRICT;
