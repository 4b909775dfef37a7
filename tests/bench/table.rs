//! The table a benchmark prints for README.md; a broken promise ends it with exit code 1.

/// What was measured, beside what was promised.
#[derive(Default)]
pub struct Table {
    rows: Vec<String>,
    broken: bool,
}

impl Table {
    /// One figure.
    pub fn row(&mut self, what: &str, measured: &str, promise: &str, kept: bool) {
        let mark = if kept { "" } else { " **broken**" };
        self.rows
            .push(format!("| {what} | {measured} | {promise}{mark} |"));
        self.broken |= !kept;
    }

    /// Prints all, and ends the program if a promise was broken.
    pub fn end(self) {
        println!("| what | measured | promised |");
        println!("|---|---|---|");
        for row in &self.rows {
            println!("{row}");
        }
        if self.broken {
            std::process::exit(1);
        }
    }
}
