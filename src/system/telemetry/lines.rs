//! A queue of log lines and the thread that writes them.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// Most lines that wait to be written. When it is full, because nobody reads our standard error or the disk behind it
/// is full, new lines are dropped and counted.
const QUEUE_MAX: usize = 4_096;

/// How long the end of the process waits for queued lines.
const FLUSH_WAIT: Duration = Duration::from_millis(500);

enum LogItem {
    Line(Vec<u8>),
    /// All lines before it are written.
    Flushed(SyncSender<()>),
}

/// Queues each line that the logger makes.
#[derive(Clone, Debug)]
pub(super) struct LogLineWriter {
    items: SyncSender<LogItem>,
    dropped: Arc<AtomicU64>,
}

/// Writes what is queued when it is dropped, within [`FLUSH_WAIT`].
#[derive(Debug)]
pub(super) struct Flush {
    items: SyncSender<LogItem>,
}

impl LogLineWriter {
    /// Starts the thread that writes to `output`; it lives as long as the process.
    pub(super) fn start(output: impl Write + Send + 'static) -> (Self, Flush) {
        let (items, queue) = sync_channel(QUEUE_MAX);
        let dropped = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&dropped);
        let thread = std::thread::Builder::new().name("log".to_owned());
        // Without the thread (no memory for it) lines are dropped and counted, which is what a full queue does too.
        let _: io::Result<JoinHandle<()>> = thread.spawn(move || write_lines(&queue, output, &counter));
        (Self { items: items.clone(), dropped }, Flush { items })
    }
}

fn write_lines(queue: &Receiver<LogItem>, mut output: impl Write, dropped: &AtomicU64) {
    while let Ok(item) = queue.recv() {
        match item {
            LogItem::Line(line) => {
                let lost = dropped.swap(0, Ordering::Relaxed);
                if lost > 0 {
                    // If this cannot be written either, there is nowhere left to say so.
                    let _ = writeln!(
                        output,
                        "WARN {lost} log lines were dropped: they came faster than they could be written"
                    );
                }
                if output.write_all(&line).is_err() {
                    dropped.fetch_add(1, Ordering::Relaxed);
                }
            }
            LogItem::Flushed(reply) => {
                let _ = output.flush(); // as above
                let _ = reply.try_send(()); // the asker may have given up
            }
        }
    }
}

impl Drop for Flush {
    fn drop(&mut self) {
        let (reply, flushed) = sync_channel(1);
        if self.items.try_send(LogItem::Flushed(reply)).is_ok() {
            let _ = flushed.recv_timeout(FLUSH_WAIT); // late lines are lost: the process must end
        }
    }
}

/// Collects one line and queues it when dropped. The logger makes one for each event.
#[derive(Debug)]
pub(super) struct LogLine<'a> {
    text: Vec<u8>,
    to: &'a LogLineWriter,
}

impl Write for LogLine<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogLine<'_> {
    fn drop(&mut self) {
        if !self.text.is_empty()
            && self.to.items.try_send(LogItem::Line(std::mem::take(&mut self.text))).is_err()
        {
            self.to.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl<'a> MakeWriter<'a> for LogLineWriter {
    type Writer = LogLine<'a>;

    fn make_writer(&'a self) -> LogLine<'a> {
        LogLine { text: Vec::new(), to: self }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc;

    use super::*;

    #[derive(Clone, Default)]
    struct Output(Arc<Mutex<Vec<u8>>>);

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_are_written_before_the_end() {
        let output = Output::default();
        let (writer, flush) = LogLineWriter::start(output.clone());
        writeln!(writer.make_writer(), "one").unwrap();
        writeln!(writer.make_writer(), "two").unwrap();
        drop(flush);
        assert_eq!(*output.0.lock().unwrap(), b"one\ntwo\n");
    }

    /// Stands still until it is told to go on.
    struct Stuck {
        go_on: mpsc::Receiver<()>,
        output: Output,
    }

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.go_on.recv();
            self.output.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_output_that_stands_still_costs_lines_and_not_time() {
        let (go_on, gate) = mpsc::channel();
        let output = Output::default();
        let (writer, flush) = LogLineWriter::start(Stuck { go_on: gate, output: output.clone() });
        for _ in 0..QUEUE_MAX + 10 {
            writeln!(writer.make_writer(), "x").unwrap();
        }
        assert!(writer.dropped.load(Ordering::Relaxed) >= 9, "all but the queue and the line in hand");
        drop(go_on); // from here on every write succeeds at once
        drop(flush);
        let waited = std::time::Instant::now();
        while !String::from_utf8_lossy(&output.0.lock().unwrap()).contains("were dropped") {
            assert!(waited.elapsed() < Duration::from_secs(10), "the loss is never mentioned");
            std::thread::yield_now();
        }
    }
}
