//! Watching a contest: a few lines on a terminal that are drawn again and again, or a stream of events.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use console::Term;
use fourfold_arena::course::Course;
use fourfold_arena::log::Event;
use fourfold_arena::runner::Observer;

use super::Output;

/// Work that ends sooner shows nothing: it would only flash.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

/// From one drawing to the next: faster than anybody reads.
const DRAW_EVERY: Duration = Duration::from_millis(250);

/// Shows a contest as it goes.
pub(in crate::app) struct Live {
    output: Output,
    terminal: Term,
    lines: fn(&Course) -> Vec<String>,
    began: Instant,
    drawn: Option<Instant>,
    /// Lines on the screen.
    height: usize,
}

impl Live {
    /// `lines` are what stands on the screen, each shorter than the screen is wide or cut off.
    pub(in crate::app) fn new(output: Output, lines: fn(&Course) -> Vec<String>) -> Self {
        Self { output, terminal: Term::stderr(), lines, began: Instant::now(), drawn: None, height: 0 }
    }

    fn draw(&mut self, course: &Course) -> io::Result<()> {
        let width = usize::from(self.terminal.size().1).max(20) - 1;
        let lines = (self.lines)(course);
        let height = usize::from(self.terminal.size().0).max(2) - 1;
        self.terminal.clear_last_lines(self.height)?;
        for line in lines.iter().take(height) {
            self.terminal.write_line(&console::truncate_str(line, width, "…"))?;
        }
        self.height = lines.len().min(height);
        Ok(())
    }

    /// Takes the lines off the screen: the result follows.
    pub(in crate::app) fn clear(&mut self) {
        // What cannot be drawn on need not be cleared.
        let _ = self.terminal.clear_last_lines(std::mem::take(&mut self.height));
    }
}

impl Observer for Live {
    fn wants_games(&self) -> bool {
        self.output == Output::Events
    }

    fn game(&mut self, record: &[u8]) {
        if self.output == Output::Events {
            // A reader that went away is noticed when the result is printed.
            let _ = print_event(br#"{"event":"game","game":"#, record);
        }
    }

    fn event(&mut self, event: &Event) {
        if self.output == Output::Events {
            let json = serde_json::to_vec(event).expect("all keys of an event are text");
            let _ = print_event(b"", &json);
        }
    }

    fn look(&mut self, course: &Course) {
        let is_due = self.began.elapsed() >= SHOWN_AFTER
            && self.drawn.is_none_or(|drawn| drawn.elapsed() >= DRAW_EVERY);
        if is_due && self.terminal.is_term() {
            self.drawn = Some(Instant::now());
            // A screen that cannot be drawn on is no reason to stop playing.
            let _ = self.draw(course);
        }
    }
}

fn print_event(head: &[u8], json: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(head)?;
    out.write_all(json)?;
    if !head.is_empty() {
        out.write_all(b"}")?;
    }
    out.write_all(b"\n")
}
