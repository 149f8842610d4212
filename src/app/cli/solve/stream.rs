//! Many lines on many threads, the answers in the order of the questions.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Lines that a thread takes at a time: enough that the queue costs little beside a look into the book, few enough
/// that hard positions are shared out evenly.
const BATCH_LINES: usize = 16;

/// Batches read ahead for each thread. When so many wait, reading waits.
const BATCHES_PER_THREAD: usize = 64;

/// The longest line that is read, in bytes; no game is longer. What is beyond it is left out.
const LINE_MAX: u64 = 1024;

/// Lines without their ends.
type LineBatch = Vec<Vec<u8>>;

/// Lines to answer, and where the answers go.
struct Batch {
    lines: LineBatch,
    answers: Sender<Vec<u8>>,
}

/// Answers every line of `input` with a line of `output`. Each thread answers with a function of its own, which
/// `answerer` makes. What was answered is written before more is read from a terminal or a slow program.
pub(super) fn answer_all<A: FnMut(&[u8]) -> String>(
    input: impl Read + Send,
    mut output: impl Write,
    threads: usize,
    answerer: impl Fn() -> A + Sync,
) -> io::Result<()> {
    let ahead = threads * BATCHES_PER_THREAD;
    let (give, take) = mpsc::sync_channel(ahead);
    // The answers to each batch come through a channel of their own; these are in the order of the batches.
    let (queue, queued) = mpsc::sync_channel::<Receiver<Vec<u8>>>(ahead);
    let take = Mutex::new(take);
    thread::scope(|scope| {
        for _ in 0..threads {
            let (take, answerer) = (&take, &answerer);
            scope.spawn(move || answer_batches(take, answerer()));
        }
        let reader = scope.spawn(move || read_batches(input, &give, &queue));
        for answers in queued {
            // Without answers a thread has panicked, which the scope reports.
            let Ok(answers) = answers.recv() else { break };
            output.write_all(&answers)?;
            output.flush()?;
        }
        reader.join().map_err(|_| io::Error::other("the reader panicked"))?
    })
}

/// Reads until the input ends or nobody wants more of it.
fn read_batches(
    input: impl Read,
    give: &SyncSender<Batch>,
    queue: &SyncSender<Receiver<Vec<u8>>>,
) -> io::Result<()> {
    let mut input = BufReader::new(input);
    while let Some(lines) = read_batch(&mut input)? {
        let (answers, receiver) = mpsc::channel();
        if queue.send(receiver).is_err() || give.send(Batch { lines, answers }).is_err() {
            break;
        }
    }
    Ok(())
}

/// The next lines: as many as are there already, and one at least; `None` at the end of the input.
fn read_batch(input: &mut BufReader<impl Read>) -> io::Result<Option<LineBatch>> {
    let mut lines = LineBatch::new();
    while lines.is_empty() || (lines.len() < BATCH_LINES && input.buffer().contains(&b'\n')) {
        match read_line(input)? {
            Some(line) => lines.push(line),
            None => break,
        }
    }
    Ok((!lines.is_empty()).then_some(lines))
}

/// A line without its end, cut to [`LINE_MAX`] bytes; `None` at the end of the input.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if input.take(LINE_MAX).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else {
        input.skip_until(b'\n')?;
    }
    Ok(Some(line))
}

/// Answers batches until there are no more.
fn answer_batches(take: &Mutex<Receiver<Batch>>, mut answer: impl FnMut(&[u8]) -> String) {
    let next = || take.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(Batch { lines, answers }) = next() {
        let mut text = Vec::new();
        for line in lines {
            text.extend(answer(&line).as_bytes());
            text.push(b'\n');
        }
        // Nobody listens when the output is closed; the reader will end too.
        if answers.send(text).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn echo(line: &[u8]) -> String {
        format!("{} bytes: {}", line.len(), String::from_utf8_lossy(&line[..line.len().min(8)]))
    }

    #[track_caller]
    fn check(input: &str, expected: &str) {
        let mut output = Vec::new();
        answer_all(input.as_bytes(), &mut output, 3, || echo).unwrap();
        assert_eq!(String::from_utf8(output).unwrap(), expected);
    }

    #[test]
    fn answers_are_in_the_order_of_the_questions() {
        let (mut input, mut expected) = (String::new(), String::new());
        for number in 100_000..110_000 {
            writeln!(input, "{number}").unwrap();
            writeln!(expected, "6 bytes: {number}").unwrap();
        }
        check(&input, &expected);
    }

    #[test]
    fn odd_ends_are_read_too() {
        check("", "");
        check("\n\n1", "0 bytes: \n0 bytes: \n1 bytes: 1\n");
        check(&format!("{}\n2\n", "1".repeat(5000)), "1024 bytes: 11111111\n1 bytes: 2\n");
    }

    /// Gives a line at a time and counts how often it was asked.
    struct Slow<'a> {
        lines: Vec<&'a str>,
    }

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.lines.is_empty() {
                return Ok(0);
            }
            let line = self.lines.remove(0);
            buffer[..line.len()].copy_from_slice(line.as_bytes());
            Ok(line.len())
        }
    }

    #[test]
    fn lines_that_come_one_by_one_are_not_held_back() {
        let mut input = BufReader::new(Slow { lines: vec!["1\n", "2\n3\n", "4"] });
        let mut batches = Vec::new();
        while let Some(lines) = read_batch(&mut input).unwrap() {
            batches.push(lines.len());
        }
        assert_eq!(batches, [1, 2, 1]);
    }

    #[test]
    fn a_closed_output_ends_it() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = answer_all(io::repeat(b'\n'), Closed, 2, || echo).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
