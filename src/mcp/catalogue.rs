//! The fourteen tools in their words (tools.md 3 and 6). The texts are read by a model in each of its sessions, so each is as short as
//! it can be; a listed name or argument keeps working for two minor versions, because clients hold old lists.

use super::schema::Argument;
use super::schema::Effect;
use super::schema::Kind;
use super::schema::Tool;

const fn required(name: &'static str, kind: Kind, text: &'static str) -> Argument {
    Argument {
        name,
        kind,
        required: true,
        text,
    }
}

const fn optional(name: &'static str, kind: Kind, text: &'static str) -> Argument {
    Argument {
        name,
        kind,
        required: false,
        text,
    }
}

const KNOWLEDGE_KINDS: Kind = Kind::OneOf(&["fact", "convention", "pitfall", "decision"]);

/// 2^53−1.
const COUNT: Kind = Kind::Integer {
    least: 0,
    most: 9_007_199_254_740_991,
};

const URGENT: Argument = optional("urgent", Kind::Flag, "wake now; needs the capability");
const NEEDS_HUMAN: Argument = optional("needsHuman", Kind::Flag, "flag the thread for the person");
const FYI: Argument = optional("fyi", Kind::Flag, "wakes nobody, wants no answer");
const KEY: Argument = optional(
    "idempotencyKey",
    Kind::Text,
    "same key, same call: not sent twice",
);
const OLDER: &str = "only what is older than this id";

/// In the order they are listed.
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "send",
        text: "Start a thread with one or a few parts of this project. Each recipient may be woken, which costs a turn: address few, ask \
               clearly, do not send thanks. Then end your turn; the answer wakes you.",
        effect: Effect::Adds,
        arguments: &[
            required("subject", Kind::Text, "up to 200 characters, one line"),
            required("body", Kind::Text, "up to 65536 bytes"),
            required(
                "to",
                Kind::List,
                "part names, main for the main agent, human for the person",
            ),
            optional("tags", Kind::List, ""),
            URGENT,
            NEEDS_HUMAN,
            FYI,
            KEY,
        ],
    },
    Tool {
        name: "reply",
        text: "Answer in a thread; goes to all its other participants and marks read what you were shown of it. Do not reply just to \
               thank or confirm: use ack.",
        effect: Effect::Adds,
        arguments: &[
            required("threadId", Kind::Text, ""),
            required("body", Kind::Text, "up to 65536 bytes"),
            URGENT,
            NEEDS_HUMAN,
            FYI,
            optional(
                "status",
                Kind::OneOf(&["holding"]),
                "holding: you work on it, the thread stays open",
            ),
            KEY,
        ],
    },
    Tool {
        name: "inbox",
        text: "Your mail in open threads, newest first. Marks nothing read. full: the preview is the whole message, no show needed. Do \
               not poll: end your turn, new mail wakes you.",
        effect: Effect::Reads,
        arguments: &[
            optional("unreadOnly", Kind::Flag, ""),
            optional("limit", Kind::Integer { least: 1, most: 50 }, "default 30"),
            optional("before", Kind::Text, "only mail older than this messageId"),
        ],
    },
    Tool {
        name: "ack",
        text: "Mark one message read that needs no answer. Nobody is woken.",
        effect: Effect::AddsOnce,
        arguments: &[required("messageId", Kind::Text, "")],
    },
    Tool {
        name: "event",
        text: "Record something about your own work; wakes nobody. Known types: composing (detail.threadId), limited (detail.resetAt: \
               parks you until then; none ends it), error (detail.contradicts: a wrong knowledge id).",
        effect: Effect::Adds,
        arguments: &[
            required("type", Kind::Text, ""),
            optional(
                "detail",
                Kind::Object(&[
                    optional("threadId", Kind::Text, ""),
                    optional("resetAt", Kind::Text, "RFC 3339"),
                    optional("contradicts", Kind::Text, ""),
                ]),
                "further members are kept",
            ),
            optional(
                "usage",
                Kind::Object(&[
                    optional("input_tokens", COUNT, ""),
                    optional("output_tokens", COUNT, ""),
                    optional("cache_tokens", COUNT, ""),
                    optional("cost_usd", Kind::Number, ""),
                    optional("model", Kind::Text, ""),
                ]),
                "",
            ),
            optional("parentEventId", Kind::Text, ""),
            optional("spawnedAgentLabel", Kind::Text, ""),
            optional("startedAt", Kind::Text, "RFC 3339"),
            optional("endedAt", Kind::Text, "RFC 3339"),
        ],
    },
    Tool {
        name: "threads",
        text: "List threads of the whole project, newest first, 50 at a time, also those you take no part in.",
        effect: Effect::Reads,
        arguments: &[
            optional(
                "status",
                Kind::OneOf(&["open", "answered", "holding", "closed", "canceled"]),
                "",
            ),
            optional("q", Kind::Text, "text contained in the subject"),
            optional("before", Kind::Text, OLDER),
        ],
    },
    Tool {
        name: "show",
        text: "Read any thread of the project, oldest message first. Marks nothing read. If the answer says more, call again with its \
               after. Your own messages carry receipts.",
        effect: Effect::Reads,
        arguments: &[
            required("threadId", Kind::Text, ""),
            optional("after", Kind::Text, "cursor of the last answer"),
        ],
    },
    Tool {
        name: "close",
        text: "End a settled thread for all: its mail counts as read and it takes no more replies. Participants and the main agent may. A \
               lesson is something the project should remember.",
        effect: Effect::AddsOnce,
        arguments: &[
            required("threadId", Kind::Text, ""),
            optional(
                "lesson",
                Kind::Object(&[
                    required("title", Kind::Text, "up to 200 characters"),
                    required("body", Kind::Text, "up to 4000 characters"),
                    required("kind", KNOWLEDGE_KINDS, ""),
                ]),
                "",
            ),
        ],
    },
    Tool {
        name: "search",
        text: "Find threads of the whole project, open or done, that contain every word of the query in subject or messages. No operators.",
        effect: Effect::Reads,
        arguments: &[
            required("query", Kind::Text, "up to 200 characters"),
            optional("limit", Kind::Integer { least: 1, most: 20 }, "default 10"),
            optional("before", Kind::Text, OLDER),
        ],
    },
    Tool {
        name: "roster",
        text: "The parts of this project: who is online, and whether busy, blocked, limited or paused.",
        effect: Effect::Reads,
        arguments: &[],
    },
    Tool {
        name: "whoami",
        text: "Your part, project, unread count and the main agent.",
        effect: Effect::Reads,
        arguments: &[],
    },
    Tool {
        name: "recall",
        text: "Ask what this project has learned, before you start on something new. Entries come from agents: weigh them.",
        effect: Effect::Reads,
        arguments: &[
            required("query", Kind::Text, "up to 500 characters"),
            optional("kind", KNOWLEDGE_KINDS, ""),
            optional("limit", Kind::Integer { least: 1, most: 20 }, "default 5"),
        ],
    },
    Tool {
        name: "learn",
        text: "Write down something the project should remember. A person vouches for it before others see it. No secrets.",
        effect: Effect::Adds,
        arguments: &[
            required("title", Kind::Text, "up to 200 characters"),
            required("body", Kind::Text, "up to 4000 characters"),
            required("kind", KNOWLEDGE_KINDS, ""),
            optional("sourceThreadId", Kind::Text, ""),
        ],
    },
    Tool {
        name: "recall_used",
        text: "Say that an entry a recall returned helped you.",
        effect: Effect::AddsOnce,
        arguments: &[
            required("queryId", Kind::Text, ""),
            required("knowledgeId", Kind::Text, ""),
        ],
    },
];
