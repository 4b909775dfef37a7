//! What is exported of each table. Names are those of tools.md where it has one; a part stands under its name, the person as `human`.
//!
//! Each statement takes: after which row, up to which, of which project (NULL: all), how many. Its first column is the row's number.

/// One kind of line.
pub(super) struct Kind {
    /// What a line says it is.
    pub(super) name: &'static str,
    /// Whose rows are counted.
    pub(super) table: &'static str,
    pub(super) sql: &'static str,
}

/// All kinds, each after those it refers to.
pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "project",
        table: "project",
        sql: "SELECT p.seq, p.id, p.slug AS project, p.name, main.slug AS main, p.max_broadcast AS maxBroadcastRecipients,
                p.distill_on_close AS \"distillOnClose?\", p.created_at AS createdAt, p.archived_at AS archivedAt
            FROM project p LEFT JOIN part main ON main.seq = p.main_part
            WHERE p.seq > ?1 AND p.seq <= ?2 AND (?3 IS NULL OR p.seq = ?3) ORDER BY p.seq LIMIT ?4",
    },
    Kind {
        name: "part",
        table: "part",
        sql: "SELECT p.seq, p.id, project.slug AS project, p.slug AS part, owner.name AS owner, p.nickname, p.colour,
                p.created_at AS createdAt, p.deleted_at AS deletedAt, p.paused_at AS pausedAt, p.limited_until AS limitedUntil,
                p.heard_at AS lastSeenAt
            FROM part p JOIN project ON project.seq = p.project JOIN user owner ON owner.seq = p.owner
            WHERE p.seq > ?1 AND p.seq <= ?2 AND (?3 IS NULL OR p.project = ?3) ORDER BY p.seq LIMIT ?4",
    },
    Kind {
        name: "thread",
        table: "thread",
        sql: "SELECT t.seq, t.id, project.slug AS project, t.subject, t.status, coalesce(opener.slug, 'human') AS \"from\",
                (SELECT json_group_array(tag) FROM (SELECT tag FROM thread_tag WHERE thread = t.seq ORDER BY tag)) AS \"tags{}\",
                t.created_at AS createdAt, t.flagged_at AS needsHumanAt, t.ended_at AS endedAt
            FROM thread t JOIN project ON project.seq = t.project LEFT JOIN part opener ON opener.seq = t.opener
            WHERE t.seq > ?1 AND t.seq <= ?2 AND (?3 IS NULL OR t.project = ?3) ORDER BY t.seq LIMIT ?4",
    },
    Kind {
        name: "message",
        table: "message",
        sql: "SELECT m.seq, m.id, t.id AS threadId, m.ordinal, coalesce(sender.slug, 'human') AS \"from\", author.name AS author,
                m.body, m.urgent AS \"urgent?\", m.fyi AS \"fyi?\", m.at
            FROM message m JOIN thread t ON t.seq = m.thread JOIN user author ON author.seq = m.author
                LEFT JOIN part sender ON sender.seq = m.sender
            WHERE m.seq > ?1 AND m.seq <= ?2 AND (?3 IS NULL OR t.project = ?3) ORDER BY m.seq LIMIT ?4",
    },
    Kind {
        name: "receipt",
        table: "recipient",
        sql: "SELECT r.rowid, m.id AS messageId, t.id AS threadId, coalesce(part.slug, 'human') AS part, r.fyi AS \"fyi?\",
                r.presented_at AS presentedAt, r.seen_at AS shownAt, r.read_at AS readAt, r.reminders
            FROM recipient r JOIN thread t ON t.seq = r.thread JOIN message m ON m.seq = r.message
                LEFT JOIN part ON part.seq = r.part
            WHERE r.rowid > ?1 AND r.rowid <= ?2 AND (?3 IS NULL OR t.project = ?3) ORDER BY r.rowid LIMIT ?4",
    },
    Kind {
        name: "event",
        table: "event",
        sql: "SELECT e.seq, e.id, project.slug AS project, part.slug AS part, e.type AS event, e.detail, parent.id AS parentId,
                e.spawned, e.started_at AS startedAt, e.ended_at AS endedAt, e.at, e.input_tokens AS inputTokens,
                e.output_tokens AS outputTokens, e.cache_tokens AS cacheTokens, e.cost_usd AS costUsd, e.model
            FROM event e JOIN project ON project.seq = e.project JOIN part ON part.seq = e.part
                LEFT JOIN event parent ON parent.seq = e.parent
            WHERE e.seq > ?1 AND e.seq <= ?2 AND (?3 IS NULL OR e.project = ?3) ORDER BY e.seq LIMIT ?4",
    },
    Kind {
        name: "wake",
        table: "wake",
        sql: "SELECT w.seq, w.id, project.slug AS project, part.slug AS part, owner.name AS owner, w.tag, w.lane, w.kind, w.state,
                coalesce(cause.slug, CASE WHEN w.cause_thread IS NULL THEN NULL ELSE 'human' END) AS causeFrom,
                t.id AS causeThreadId, m.id AS causeMessageId, w.stored_at AS storedAt, w.issued_at AS issuedAt,
                w.presented_at AS presentedAt, w.consumed_at AS consumedAt, w.ended_at AS endedAt, w.outcome,
                w.hold_reason AS holdReason, w.machine
            FROM wake w JOIN part ON part.seq = w.part JOIN project ON project.seq = part.project
                JOIN user owner ON owner.seq = w.owner LEFT JOIN part cause ON cause.seq = w.cause_part
                LEFT JOIN thread t ON t.seq = w.cause_thread LEFT JOIN message m ON m.seq = w.cause_message
            WHERE w.seq > ?1 AND w.seq <= ?2 AND (?3 IS NULL OR part.project = ?3) ORDER BY w.seq LIMIT ?4",
    },
    Kind {
        name: "nudge",
        table: "nudge",
        sql: "SELECT n.seq, w.id AS wakeId, part.slug AS part, n.lane, n.rung AS nudge, n.at, n.outcome, n.outcome_at AS outcomeAt,
                n.evidence, n.enters, n.cli, n.cli_version AS cliVersion, n.tmux
            FROM nudge n JOIN wake w ON w.seq = n.wake JOIN part ON part.seq = n.part
            WHERE n.seq > ?1 AND n.seq <= ?2 AND (?3 IS NULL OR part.project = ?3) ORDER BY n.seq LIMIT ?4",
    },
    Kind {
        name: "hold",
        table: "hold",
        sql: "SELECT h.seq, project.slug AS project, part.slug AS part, owner.name AS owner, h.reason, h.since AS sinceAt,
                h.until AS holdsUntil, h.count AS messages, h.ended_at AS endedAt
            FROM hold h JOIN part ON part.seq = h.part JOIN project ON project.seq = part.project JOIN user owner ON owner.seq = h.owner
            WHERE h.seq > ?1 AND h.seq <= ?2 AND (?3 IS NULL OR part.project = ?3) ORDER BY h.seq LIMIT ?4",
    },
    Kind {
        name: "turn",
        table: "turn",
        sql: "SELECT u.seq, project.slug AS project, part.slug AS part, u.provider, u.session, u.turn, u.cause, w.id AS wakeId,
                u.started_at AS startedAt, u.ended_at AS endedAt, u.ending AS \"end\", u.shifted AS \"shifted?\", e.id AS eventId
            FROM turn u JOIN part ON part.seq = u.part JOIN project ON project.seq = part.project
                LEFT JOIN wake w ON w.seq = u.wake LEFT JOIN event e ON e.seq = u.event
            WHERE u.seq > ?1 AND u.seq <= ?2 AND (?3 IS NULL OR part.project = ?3) ORDER BY u.seq LIMIT ?4",
    },
    Kind {
        name: "usage",
        table: "usage_row",
        sql: "SELECT r.seq, project.slug AS project, part.slug AS part, r.provider, u.session, u.turn, r.key, r.at, r.model,
                r.input AS input_tokens, r.output AS output_tokens, r.cache_read AS cache_read_tokens,
                r.cache_write AS cache_write_tokens, r.cache_write_1h AS cache_write_1h_tokens, r.reasoning AS reasoning_tokens,
                r.cost / 1e6 AS cost_usd, r.sidechain AS \"sidechain?\", r.shifted AS \"shifted?\"
            FROM usage_row r JOIN part ON part.seq = r.part JOIN project ON project.seq = part.project
                LEFT JOIN turn u ON u.seq = r.turn
            WHERE r.seq > ?1 AND r.seq <= ?2 AND (?3 IS NULL OR part.project = ?3) ORDER BY r.seq LIMIT ?4",
    },
    Kind {
        name: "knowledge",
        table: "knowledge",
        sql: "SELECT k.seq, k.id, project.slug AS project, k.kind, k.title, k.body, k.state, k.source,
                coalesce(part.slug, 'human') AS \"from\", author.name AS author, k.created_at AS createdAt,
                k.promoted_at AS promotedAt, k.expires_at AS expiresAt, k.used, k.unused, k.voices, k.contradictions,
                (SELECT json_group_array(id) FROM (SELECT t.id FROM knowledge_thread kt JOIN thread t ON t.seq = kt.thread
                    WHERE kt.knowledge = k.seq ORDER BY kt.thread)) AS \"threadIds{}\"
            FROM knowledge k JOIN project ON project.seq = k.project JOIN user author ON author.seq = k.author_user
                LEFT JOIN part ON part.seq = k.author_part
            WHERE k.seq > ?1 AND k.seq <= ?2 AND (?3 IS NULL OR k.project = ?3) ORDER BY k.seq LIMIT ?4",
    },
];
