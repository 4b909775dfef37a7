//! What can happen, one transaction or one fault at a time, and the day a seed makes of it.

use crate::agent::Character;
use crate::pager::Fate;
use crate::random::Random;

/// The parts of a day: name, project, owner.
pub const PARTS: &[(&str, usize, usize)] = &[
    ("api", 0, 0),
    ("db", 0, 1),
    ("web", 0, 0),
    ("ops", 0, 0),
    ("lab", 1, 0),
    ("rig", 1, 1),
];

/// Cap on a broadcast: less than the parties a thread can have.
pub const CAP: u32 = 2;

/// One step. Names a part by its place in [`PARTS`], threads by how far back they are among those the actor may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Pass {
        seconds: u64,
    },
    Sweep,
    Send {
        from: usize,
        to: usize,
        also: usize,
        urgent: bool,
        fyi: bool,
    },
    Reply {
        from: usize,
        thread: usize,
        /// Of the whole project's threads, not of its own first.
        any: bool,
        urgent: bool,
        fyi: bool,
    },
    PersonSends {
        to: usize,
        also: usize,
    },
    PersonReplies {
        project: usize,
        thread: usize,
    },
    PersonCloses {
        project: usize,
        thread: usize,
    },
    Reopens {
        project: usize,
        thread: usize,
    },
    Close {
        part: usize,
        thread: usize,
    },
    Ack {
        part: usize,
        message: usize,
    },
    Show {
        part: usize,
        thread: usize,
    },
    /// The agent begins a turn by itself.
    Rise {
        part: usize,
    },
    /// The agent's next call; the marks of what it was shown are late by one step, or not.
    Act {
        part: usize,
        late: bool,
    },
    /// Parks for so many minutes; 0 ends the park.
    Limited {
        part: usize,
        minutes: i64,
    },
    Pause {
        part: usize,
        on: bool,
    },
    Delete {
        part: usize,
        on: bool,
    },
    Again {
        part: usize,
    },
    Budget {
        owner: usize,
        normal: u32,
        urgent: u32,
    },
    Archive {
        project: usize,
        on: bool,
    },
    Ban {
        project: usize,
        on: bool,
    },
    /// A pager polls for the parts whose bits are set.
    Poll {
        pager: usize,
        parts: usize,
    },
    /// A pager goes on with a delivery.
    Deliver {
        pager: usize,
        part: usize,
        fate: Fate,
        unsure: bool,
    },
    GivesWay {
        pager: usize,
        part: usize,
        released: bool,
    },
    Repeat {
        pager: usize,
    },
    Dies {
        pager: usize,
    },
    Restart,
    /// The machine's wall clock is set.
    Clock {
        minutes: i64,
    },
}

/// A day: who the agents are, and what happens.
#[derive(Debug, Clone)]
pub struct Day {
    pub characters: Vec<Character>,
    /// Normal and urgent lines an hour, per owner.
    pub limits: [(u32, u32); 2],
    pub steps: Vec<Step>,
}

impl Day {
    /// The day of a seed, of about so many steps.
    pub fn of(seed: u64, steps: usize) -> Self {
        let mut random = Random::new(seed);
        let characters = PARTS.iter().map(|_| random.one(&Character::ALL)).collect();
        let limits = [0, 1].map(|_| (random.one(&[0, 1, 2, 3, 5, 30]), random.one(&[0, 1, 2, 5])));
        let mut maker = Maker {
            pace: random.one(&[5, 40, 200]),
            faults: random.one(&[0, 3, 10]),
            random,
            steps: Vec::new(),
        };
        while maker.steps.len() < steps {
            maker.more();
        }
        Self {
            characters,
            limits,
            steps: maker.steps,
        }
    }
}

struct Maker {
    random: Random,
    /// Seconds that pass at a time, about.
    pace: usize,
    /// Faults between two steps of a delivery or a turn, in percent.
    faults: usize,
    steps: Vec<Step>,
}

impl Maker {
    fn more(&mut self) {
        match self
            .random
            .weighted(&[14, 6, 20, 10, 16, 10, 9, 4, 4, 2, 1, 1, 1])
        {
            0 => self.pass(),
            1 => self.steps.push(Step::Sweep),
            2 => self.mail(),
            3 => self.turn(),
            4 => self.delivery(),
            5 => self.talk(),
            6 => self.person(),
            7 => self.pager(),
            8 => self.fault(),
            9 => self.duel(),
            10 => self.round(),
            11 => self.crowd(),
            _ => self.rivals(),
        }
    }

    fn part(&mut self) -> usize {
        self.random.below(PARTS.len())
    }

    /// Another part of its project.
    fn mate(&mut self, part: usize) -> usize {
        loop {
            let other = self.part();
            if other != part && PARTS[other].1 == PARTS[part].1 {
                return other;
            }
        }
    }

    fn pass(&mut self) {
        let seconds = match self.random.below(14) {
            0 => 0,
            1 => 20 * 60,
            2 => 35 * 60,
            3 => 61 * 60,
            _ => self.random.below(2 * self.pace + 1),
        };
        self.steps.push(Step::Pass {
            seconds: seconds as u64,
        });
    }

    fn mail(&mut self) {
        let from = self.part();
        let to = self.mate(from);
        let also = if self.random.percent(75) {
            to
        } else {
            self.mate(from)
        };
        let urgent = self.random.percent(20);
        let fyi = !urgent && self.random.percent(10);
        self.steps.push(Step::Send {
            from,
            to,
            also,
            urgent,
            fyi,
        });
    }

    /// An agent that begins by itself, or goes on.
    fn turn(&mut self) {
        let part = self.part();
        if self.random.percent(40) {
            self.steps.push(Step::Rise { part });
        }
        self.acts(part);
    }

    fn acts(&mut self, part: usize) {
        for _ in 0..1 + self.random.below(3) {
            let late = self.random.percent(15);
            self.steps.push(Step::Act { part, late });
            self.perhaps_fault();
        }
    }

    /// A poll, and what follows for one part.
    fn delivery(&mut self) {
        let pager = self.random.weighted(&[4, 1]);
        let part = self.part();
        let parts = if self.random.percent(50) {
            (1 << PARTS.len()) - 1
        } else {
            1 << part
        };
        self.steps.push(Step::Poll { pager, parts });
        let unsure = self.random.percent(20);
        for _ in 0..4 {
            self.perhaps_fault();
            let fate = match self.random.below(100) {
                0..5 => Fate::Lost,
                5..10 => Fate::Unanswered,
                _ => Fate::Arrives,
            };
            self.steps.push(Step::Deliver {
                pager,
                part,
                fate,
                unsure,
            });
        }
        if self.random.percent(60) {
            self.acts(part);
        }
    }

    fn talk(&mut self) {
        let (part, thread) = (self.part(), self.random.below(3));
        let step = match self.random.below(10) {
            0..5 => Step::Reply {
                from: part,
                thread,
                any: self.random.percent(30),
                urgent: self.random.percent(10),
                fyi: self.random.percent(10),
            },
            5..7 => Step::Ack {
                part,
                message: thread,
            },
            7 => Step::Show { part, thread },
            _ => Step::Close { part, thread },
        };
        self.steps.push(step);
    }

    fn person(&mut self) {
        let part = self.part();
        let also = self.mate(part);
        let (owner, project) = (self.random.below(2), self.random.below(2));
        let thread = self.random.below(3);
        let on = self.random.percent(50);
        let step = match self.random.below(14) {
            0 | 1 => Step::PersonSends { to: part, also },
            2 => Step::PersonReplies { project, thread },
            3 => Step::PersonCloses { project, thread },
            4 => Step::Reopens { project, thread },
            5 | 6 => Step::Pause { part, on },
            7 => Step::Delete {
                part,
                on: self.random.percent(10),
            },
            8 => Step::Again { part },
            9 | 10 => Step::Budget {
                owner,
                normal: self.random.one(&[0, 1, 2, 4, 30]),
                urgent: self.random.one(&[0, 1, 3]),
            },
            11 => Step::Archive {
                project,
                on: self.random.percent(15),
            },
            12 => Step::Ban {
                project,
                on: self.random.percent(20),
            },
            _ => Step::Limited {
                part,
                minutes: self.random.one(&[0, 1, 10, 90, 48 * 60]),
            },
        };
        self.steps.push(step);
    }

    fn pager(&mut self) {
        let (pager, part) = (self.random.below(2), self.part());
        let step = match self.random.below(5) {
            0 => Step::Repeat { pager },
            1 => Step::GivesWay {
                pager,
                part,
                released: self.random.percent(50),
            },
            _ => Step::Poll {
                pager,
                parts: self.random.below(1 << PARTS.len()),
            },
        };
        self.steps.push(step);
    }

    fn perhaps_fault(&mut self) {
        if self.random.percent(self.faults) {
            self.fault();
        }
    }

    fn fault(&mut self) {
        let step = match self.random.below(10) {
            0..3 => Step::Dies {
                pager: self.random.below(2),
            },
            3..5 => Step::Restart,
            5 => Step::Clock {
                minutes: self.random.one(&[-120, -20, -1, 1, 30]),
            },
            6 => Step::Pass { seconds: 46 },
            7 => return self.setback(),
            _ => return self.person(),
        };
        self.steps.push(step);
    }

    /// The wall clock runs ahead for a while, then is set right while the relay is down.
    fn setback(&mut self) {
        let ahead = self.random.one(&[5, 40, 90]);
        let (pager, part) = (self.random.below(2), self.part());
        self.steps.extend([
            Step::Clock { minutes: ahead },
            Step::Poll {
                pager,
                parts: 1 << part,
            },
            Step::Clock { minutes: -ahead },
            Step::Restart,
        ]);
    }

    /// Two parts answer each other faster than they should.
    fn duel(&mut self) {
        let one = self.part();
        let other = self.mate(one);
        self.steps.push(Step::Send {
            from: one,
            to: other,
            also: other,
            urgent: false,
            fyi: false,
        });
        for round in 0..5 + self.random.below(4) {
            let seconds = self.random.below(20) as u64;
            self.steps.push(Step::Pass { seconds });
            let from = if round % 2 == 0 { other } else { one };
            if self.random.percent(50) {
                self.steps.push(Step::Rise { part: from });
                self.steps.push(Step::Act {
                    part: from,
                    late: false,
                });
            }
            self.steps.push(Step::Reply {
                from,
                thread: 0,
                any: false,
                urgent: self.random.percent(10),
                fyi: false,
            });
        }
    }

    /// Three parts pass a thought on, each in a thread of its own.
    fn round(&mut self) {
        let first = self.random.below(4);
        for turn in 0..14 {
            let (from, to) = ((first + turn) % 3, (first + turn + 1) % 3);
            let seconds = 4 + self.random.below(20) as u64;
            self.steps.push(Step::Send {
                from,
                to,
                also: to,
                urgent: false,
                fyi: false,
            });
            self.steps.push(Step::Pass { seconds });
            self.steps.push(Step::Show {
                part: to,
                thread: 0,
            });
            self.perhaps_fault();
        }
    }

    /// A fourth part joins a thread of three, and reaches more than the cap.
    fn crowd(&mut self) {
        let first = self.random.below(4);
        let [to, also, from] = [1, 2, 3].map(|other| (first + other) % 4);
        let loud = |from, to, also| Step::Send {
            from,
            to,
            also,
            urgent: false,
            fyi: false,
        };
        self.steps.push(loud(first, to, also));
        for part in [to, also] {
            self.steps.push(Step::Rise { part });
            self.steps.push(Step::Act { part, late: false });
        }
        self.steps.push(Step::Reply {
            from,
            thread: 0,
            any: true,
            urgent: false,
            fyi: false,
        });
    }

    /// Two pagers want the same part's wake.
    fn rivals(&mut self) {
        let part = self.part();
        let from = self.mate(part);
        self.steps.push(Step::Send {
            from,
            to: part,
            also: part,
            urgent: true,
            fyi: false,
        });
        for pager in [0, 1] {
            self.steps.push(Step::Poll {
                pager,
                parts: 1 << part,
            });
        }
        for _ in 0..4 {
            for pager in [0, 1] {
                self.steps.push(Step::Deliver {
                    pager,
                    part,
                    fate: Fate::Arrives,
                    unsure: false,
                });
            }
            self.perhaps_fault();
        }
    }
}
