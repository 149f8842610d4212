//! A progress bar for work that takes longer than a second, on a terminal only.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Work that ends sooner shows no bar: it would only flash.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

/// Shows on a terminal that work goes on whose amount is not known.
pub(in crate::app) async fn while_working<T>(what: &'static str, work: impl Future<Output = T>) -> T {
    let mut progress = ProgressLine::unbounded(what);
    let mut tick = tokio::time::interval(Duration::from_millis(100));
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            _ = tick.tick() => progress.advance(0),
        }
    }
}

/// Counts work done; draws on standard error once it is worth it.
pub(in crate::app) struct ProgressLine {
    /// `None` if it is not known how much there is.
    total: Option<u64>,
    done: u64,
    unit: &'static str,
    began: Instant,
    bar: Option<ProgressBar>,
}

impl ProgressLine {
    pub(in crate::app) fn new(total: u64, unit: &'static str) -> Self {
        Self::start(Some(total), unit)
    }

    /// For work whose amount is not known.
    pub(in crate::app) fn unbounded(unit: &'static str) -> Self {
        Self::start(None, unit)
    }

    fn start(total: Option<u64>, unit: &'static str) -> Self {
        Self { total, done: 0, unit, began: Instant::now(), bar: None }
    }

    pub(in crate::app) fn advance(&mut self, by: u64) {
        self.done += by;
        if self.bar.is_none() && self.began.elapsed() >= SHOWN_AFTER && std::io::stderr().is_terminal() {
            self.bar = Some(self.new_bar());
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        }
    }

    /// Writes a line to standard error without disturbing the bar.
    pub(in crate::app) fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => {
                let _ = writeln!(io::stderr(), "{line}"); // without standard error there is nobody to tell
            }
        }
    }

    fn new_bar(&self) -> ProgressBar {
        let (bar, template) = match self.total {
            Some(total) => {
                (ProgressBar::new(total), format!("{{wide_bar}} {{pos}}/{{len}} {} {{eta}}", self.unit))
            }
            None => (ProgressBar::new_spinner(), format!("{{spinner}} {{pos}} {}", self.unit)),
        };
        let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.with_style(style).with_elapsed(self.began.elapsed())
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
