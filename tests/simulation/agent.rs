//! A model agent: what it does with the turns it is given.

use std::collections::VecDeque;

/// How an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Character {
    /// Never comes for its mail.
    Silent,
    /// Reads and does no more.
    Reads,
    /// Acknowledges each message.
    Acknowledges,
    /// Answers each message, thanks too.
    Answers,
    /// Closes what it is asked.
    Closes,
}

impl Character {
    /// Every one.
    pub const ALL: [Self; 5] = [
        Self::Silent,
        Self::Reads,
        Self::Acknowledges,
        Self::Answers,
        Self::Closes,
    ];
}

/// A call an agent means to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
    Inbox,
    Ack { message: String },
    Reply { thread: String },
    Close { thread: String },
}

/// An agent and the calls of its turn that are still to come.
#[derive(Debug)]
pub struct Agent {
    pub character: Character,
    tasks: VecDeque<Task>,
}

impl Agent {
    /// An idle one.
    pub fn new(character: Character) -> Self {
        Self {
            character,
            tasks: VecDeque::new(),
        }
    }

    /// Begins a turn: a line was typed for it, or a person spoke to it.
    pub fn rise(&mut self) {
        if self.character != Character::Silent && self.tasks.is_empty() {
            self.tasks.push_back(Task::Inbox);
        }
    }

    /// Whether its turn goes on.
    pub fn is_up(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// Its next call.
    pub fn next(&mut self) -> Option<Task> {
        self.tasks.pop_front()
    }

    /// It was shown an unread message.
    pub fn was_shown(&mut self, message: &str, thread: &str) {
        let (message, thread) = (message.to_owned(), thread.to_owned());
        match self.character {
            Character::Silent | Character::Reads => {}
            Character::Acknowledges => self.tasks.push_back(Task::Ack { message }),
            Character::Answers => self.tasks.push_back(Task::Reply { thread }),
            Character::Closes => self.tasks.push_back(Task::Close { thread }),
        }
    }
}
