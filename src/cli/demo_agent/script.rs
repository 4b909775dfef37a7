//! The story of the demo (cli.md 8): web asks api, api answers and runs into its limit, web asks for one more thing meanwhile and puts a
//! question to the person, api is woken when its limit is over, and web closes with a lesson.

use std::time::Duration;

use clap::ValueEnum;
use serde_json::Value;
use serde_json::json;

use super::Say;
use super::tools::Tools;
use crate::cli::field;
use crate::store::system_clock;

/// Subjects by which the agents know their threads.
const ENDPOINT: &str = "Orders endpoint";
const INDEX: &str = "Index on orders";
const ORDER: &str = "Order of the list";

/// How long a prompt is read, at the least. A model needs that long too; an agent that fetched its mail at once would be there before the
/// pager has looked whether its line was sent.
const READING: Duration = Duration::from_secs(1);

/// A part of the story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Role {
    /// Builds a page.
    Web,
    /// Knows the data.
    Api,
}

impl Role {
    /// Its part's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::Api => "api",
        }
    }

    /// What its person told it at the start.
    pub(super) fn first_prompt(self) -> Option<String> {
        match self {
            Self::Web => Some("build the orders page, ask api for the data".to_owned()),
            Self::Api => None,
        }
    }
}

/// A scripted agent between its turns.
pub(super) struct Agent {
    role: Role,
    tools: Tools,
    think: Duration,
    park: Duration,
    /// The thread of the first question, until it is closed.
    question: Option<String>,
}

impl Agent {
    /// An agent at the beginning of the story.
    pub(super) fn new(role: Role, tools: Tools, think: Duration, park: Duration) -> Self {
        Self {
            role,
            tools,
            think,
            park,
            question: None,
        }
    }

    /// The turn its person began: web asks.
    pub(super) async fn begin(&mut self, say: &Say) -> Result<(), String> {
        self.think().await;
        let sent = self
            .tools
            .call(
                "send",
                json!({"to": ["api"], "subject": ENDPOINT,
                       "body": "Which endpoint lists orders, and how many at once?"}),
            )
            .await?;
        self.question = Some(field::word(&sent, "threadId").to_owned());
        say.line("- asked api which endpoint lists orders");
        Ok(())
    }

    /// The turn a wake began: fetch the mail, act on each message, oldest first.
    pub(super) async fn read_mail(&mut self, say: &Say) -> Result<(), String> {
        tokio::time::sleep(READING.max(self.think)).await;
        let mail = self
            .tools
            .call("inbox", json!({"unreadOnly": true}))
            .await?;
        let mut messages: Vec<Value> = mail
            .as_array()
            .into_iter()
            .flatten()
            .filter(|item| item["messageId"].is_string())
            .cloned()
            .collect();
        messages.reverse();
        for message in messages {
            self.think().await;
            say.line(format!(
                "< {}: {}",
                field::word(&message, "from"),
                field::word(&message, "preview")
            ));
            self.act_on(&message, say).await?;
        }
        Ok(())
    }

    async fn act_on(&mut self, message: &Value, say: &Say) -> Result<(), String> {
        let thread = field::word(message, "threadId");
        match (self.role, field::word(message, "subject")) {
            (Role::Api, ENDPOINT) => self.answer(thread, say).await,
            (Role::Api, INDEX) => self.make_index(thread, say).await,
            (Role::Web, ENDPOINT) => self.ask_for_more(message, say).await,
            (Role::Web, ORDER) => self.finish(thread, say).await,
            _ => {
                let id = json!({"messageId": message["messageId"]});
                self.tools.call("ack", id).await.map(drop)
            }
        }
    }

    /// api answers, and is limited from then on.
    async fn answer(&mut self, thread: &str, say: &Say) -> Result<(), String> {
        self.tools
            .call(
                "reply",
                json!({"threadId": thread, "body": "GET /orders, fifty at once, newest first or by customer."}),
            )
            .await?;
        say.line("- answered web");
        let reset = (system_clock().0 + self.park).rfc3339();
        self.tools
            .call(
                "event",
                json!({"type": "limited", "detail": {"resetAt": reset}}),
            )
            .await?;
        say.line("- limited now, mail waits until that is over");
        Ok(())
    }

    /// web needs one more thing of api, and a decision of the person.
    async fn ask_for_more(&mut self, message: &Value, say: &Say) -> Result<(), String> {
        let id = json!({"messageId": message["messageId"]});
        self.tools.call("ack", id).await?;
        let sent = self
            .tools
            .call(
                "send",
                json!({"to": ["api"], "subject": INDEX, "urgent": true,
                       "body": "Please index orders by date before the page goes live."}),
            )
            .await?;
        let outcome = &sent["recipients"][0];
        say.line(format!(
            "- asked api for an index: {} {}",
            field::word(outcome, "wake"),
            field::word(outcome, "reason")
        ));
        self.tools
            .call(
                "send",
                json!({"to": ["human"], "subject": ORDER, "needsHuman": true,
                       "body": "Shall the page show orders newest first, or by customer?"}),
            )
            .await?;
        say.line("- asked the person about the order");
        Ok(())
    }

    /// api, awake again, does what waited and closes it.
    async fn make_index(&mut self, thread: &str, say: &Say) -> Result<(), String> {
        self.tools
            .call(
                "reply",
                json!({"threadId": thread, "body": "The index is in.", "fyi": true}),
            )
            .await?;
        self.tools
            .call("close", json!({"threadId": thread}))
            .await?;
        say.line("- made the index, closed the thread");
        Ok(())
    }

    /// web has all it needs: it closes what is open, with a lesson.
    async fn finish(&mut self, thread: &str, say: &Say) -> Result<(), String> {
        let lesson = json!({
            "kind": "decision",
            "title": "Lists of orders show the newest first",
            "body": "The person decided it for the orders page; take it as the rule for new lists.",
        });
        self.tools
            .call("close", json!({"threadId": thread, "lesson": lesson}))
            .await?;
        if let Some(question) = self.question.take() {
            self.tools
                .call("close", json!({"threadId": question}))
                .await?;
        }
        say.line("- closed with a lesson, the page is done");
        Ok(())
    }

    async fn think(&self) {
        tokio::time::sleep(self.think).await;
    }
}
