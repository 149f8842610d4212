//! One running program: its streams, its limits, its end.
//!
//! All streams are without blocking and are waited for together, so that a program that does not read, writes too much
//! or floods its standard error harms nobody but itself.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use super::limits::{
    ERROR_BYTES_MAX, Environment, LINE_BYTES_MAX, OUTPUT_BYTES_MAX, ProcessLimits, Sandbox, limit, renew,
};
use super::sandbox;
use crate::entrant::EntrantFault;
use crate::stop::Stop;

/// How long a wish to stop may stay unnoticed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long a program may take to end once it was told to, before it is killed.
const FAREWELL_WAIT: Duration = Duration::from_millis(200);

/// Bytes read at once.
const CHUNK: usize = 16 * 1024;

/// How much of the end of standard error is kept, in bytes.
const LAST_WORDS_MAX: usize = 2 * 1024;

/// How much of standard error is kept for the transcript, in bytes a question: a thousand lines of a search.
const COMPLAINTS_MAX: usize = 64 * 1024;

/// How much of its last line is shown, in characters.
const SHOWN_CHARS_MAX: usize = 120;

/// Variables that are ours and may be secret.
const OUR_VARIABLES: &str = "FOURFOLD_";

/// Why no line came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Trouble {
    /// The time is over.
    Silent,
    /// The run is.
    Stopped,
    /// The program is gone; how, in words.
    Ended(String),
    /// It wrote a line without end.
    LongLine,
    /// It wrote too much for one move.
    Flood,
    /// The system failed us.
    System(String),
}

impl From<Trouble> for EntrantFault {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Silent | Trouble::Stopped => Self::Late,
            Trouble::Ended(how) => Self::Gone(how),
            Trouble::LongLine => Self::Illegal(format!("a line of more than {LINE_BYTES_MAX} bytes")),
            Trouble::Flood => Self::Illegal(format!("more than {OUTPUT_BYTES_MAX} bytes for one move")),
            Trouble::System(why) => Self::Broken(why),
        }
    }
}

/// How long something is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience<'a> {
    pub(super) until: Instant,
    pub(super) stop: Option<&'a Stop>,
}

impl Patience<'_> {
    fn check(&self) -> Result<Duration, Trouble> {
        if self.stop.is_some_and(Stop::is_set) {
            return Err(Trouble::Stopped);
        }
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(Trouble::Silent) } else { Ok(left.min(LOOK_EVERY)) }
    }
}

/// A program that runs. It ends, with all processes of its group, when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    group: Pid,
    /// `None` once it cannot be written to.
    input: Option<ChildStdin>,
    output: ChildStdout,
    /// `None` once it was closed.
    errors: Option<ChildStderr>,
    /// What was read of the line that comes next.
    unread: Vec<u8>,
    /// Bytes of both streams since the last question.
    written: usize,
    complained: usize,
    last_words: Vec<u8>,
    /// What it wrote to its standard error since somebody asked for that, the beginning.
    complaints: Vec<u8>,
    farewell: &'static str,
    /// It is gone and its group was ended, so that their numbers may belong to others.
    is_over: bool,
}

/// Hides what a program is not to know.
fn hide_variables(command: &mut Command, environment: Environment) {
    match environment {
        Environment::Inherited => {
            for (variable, _) in std::env::vars_os() {
                if variable.to_string_lossy().starts_with(OUR_VARIABLES) {
                    command.env_remove(variable);
                }
            }
        }
        Environment::Bare => {
            command.env_clear();
            if let Some(path) = std::env::var_os("PATH") {
                command.env("PATH", path);
            }
        }
    }
}

impl Process {
    /// Starts a program in a group of its own.
    ///
    /// # Errors
    ///
    /// It cannot be started, or the system refuses its limits.
    pub(super) fn start(mut command: Command, limits: &ProcessLimits) -> Result<Self, EntrantFault> {
        let name = command.get_program().to_string_lossy().into_owned();
        let failed = |error: io::Error| EntrantFault::Broken(format!("{name} cannot be started: {error}"));
        hide_variables(&mut command, limits.environment);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(failed)?;
        let group = Pid::from_child(&child);
        let input = child.stdin.take();
        let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
            unreachable!("all streams are pipes")
        };
        let process = Self {
            child,
            group,
            input,
            output,
            errors: Some(errors),
            unread: Vec::new(),
            written: 0,
            complained: 0,
            last_words: Vec::new(),
            complaints: Vec::new(),
            farewell: "",
            is_over: false,
        };
        process.do_not_block().map_err(failed)?;
        limit(group, limits).map_err(failed)?;
        Ok(process)
    }

    /// The command of a program with its sandbox.
    pub(super) fn command(words: &[String], limits: &ProcessLimits) -> Command {
        let words = match limits.sandbox {
            Sandbox::None => words.to_vec(),
            Sandbox::Bubblewrap => sandbox::wrapped(words),
        };
        let mut words = words.into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        command
    }

    fn do_not_block(&self) -> io::Result<()> {
        if let Some(input) = &self.input {
            rustix::io::ioctl_fionbio(input, true)?;
        }
        rustix::io::ioctl_fionbio(&self.output, true)?;
        if let Some(errors) = &self.errors {
            rustix::io::ioctl_fionbio(errors, true)?;
        }
        Ok(())
    }

    /// What the program is told when it is dropped without a fault.
    pub(super) fn set_farewell(&mut self, text: &'static str) {
        self.farewell = text;
    }

    /// Allows the processor time of one more game.
    pub(super) fn renew(&self, limits: &ProcessLimits) {
        // A process that is gone has no limits; the next question finds that out.
        let _ = renew(self.group, limits);
    }

    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Closes the standard input.
    pub(super) fn close_input(&mut self) {
        self.input = None;
    }

    /// Sends a question, wholly, and tells when its end was sent. What the program wrote before is thrown away: it
    /// answers no question of ours.
    ///
    /// # Errors
    ///
    /// The program does not read, is gone, or has written too much unasked.
    pub(super) fn ask(&mut self, text: &str, patience: Patience<'_>) -> Result<Instant, Trouble> {
        (self.written, self.complained) = (0, 0);
        while self.read_output()? {}
        self.unread.clear();
        let mut rest = text.as_bytes();
        let mut sent = Instant::now();
        while !rest.is_empty() {
            let Some(input) = &mut self.input else { return Err(self.ended()) };
            // Before the write: a program may run, and answer, before this thread runs again.
            sent = Instant::now();
            match input.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    patience.check()?;
                    self.wait(patience, PollFlags::OUT)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(self.ended()),
            }
        }
        Ok(sent)
    }

    /// The next line, without its end, and when it was there.
    ///
    /// # Errors
    ///
    /// None came in time, or none will.
    pub(super) fn line(&mut self, patience: Patience<'_>) -> Result<(String, Instant), Trouble> {
        let mut searched = 0;
        loop {
            if let Some(end) = self.unread[searched..].iter().position(|&byte| byte == b'\n') {
                let received = Instant::now();
                let end = searched + end;
                if end > LINE_BYTES_MAX {
                    return Err(Trouble::LongLine);
                }
                let line = String::from_utf8_lossy(&self.unread[..end]).into_owned();
                self.unread.drain(..=end);
                return Ok((line, received));
            }
            searched = self.unread.len();
            if searched > LINE_BYTES_MAX {
                return Err(Trouble::LongLine);
            }
            // What is there already counts even if the time is over by now.
            if !self.read_output()? {
                patience.check()?;
                self.wait(patience, PollFlags::empty())?;
            }
        }
    }

    /// Waits until a stream has something for us, or until it is time to look at the clock.
    fn wait(&mut self, patience: Patience<'_>, input_wanted: PollFlags) -> Result<(), Trouble> {
        let timeout = patience.check()?;
        let timeout = Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        let mut waited_for = Vec::with_capacity(3);
        let errors_wanted = self.errors.as_ref().filter(|_| self.complained < ERROR_BYTES_MAX);
        waited_for
            .extend(errors_wanted.map(|errors| PollFd::from_borrowed_fd(errors.as_fd(), PollFlags::IN)));
        let has_errors = !waited_for.is_empty();
        waited_for.push(PollFd::from_borrowed_fd(self.output.as_fd(), PollFlags::IN));
        if let (Some(input), false) = (&self.input, input_wanted.is_empty()) {
            waited_for.push(PollFd::from_borrowed_fd(input.as_fd(), input_wanted));
        }
        match poll(&mut waited_for, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Trouble::System(error.to_string())),
        }
        let complains = has_errors && !waited_for[0].revents().is_empty();
        // A program that writes instead of reading could wait for us for ever.
        if !input_wanted.is_empty() && !waited_for[usize::from(has_errors)].revents().is_empty() {
            self.read_output()?;
        }
        if complains {
            self.read_errors();
        }
        Ok(())
    }

    /// Reads what is there; whether that was anything.
    fn read_output(&mut self) -> Result<bool, Trouble> {
        let mut chunk = [0; CHUNK];
        match self.output.read(&mut chunk) {
            Ok(0) => Err(self.ended()),
            Ok(count) => {
                self.written += count;
                if self.written > OUTPUT_BYTES_MAX {
                    return Err(Trouble::Flood);
                }
                self.unread.extend_from_slice(&chunk[..count]);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(Trouble::System(error.to_string())),
        }
    }

    /// Reads one chunk of standard error and keeps its end.
    fn read_errors(&mut self) -> bool {
        let Some(errors) = &mut self.errors else { return false };
        let mut chunk = [0; CHUNK];
        match errors.read(&mut chunk) {
            Ok(count) if count > 0 => {
                self.complained += count;
                let room = COMPLAINTS_MAX.saturating_sub(self.complaints.len()).min(count);
                self.complaints.extend_from_slice(&chunk[..room]);
                self.last_words.extend_from_slice(&chunk[..count]);
                let surplus = self.last_words.len().saturating_sub(LAST_WORDS_MAX);
                self.last_words.drain(..surplus);
                true
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => false,
            Ok(_) | Err(_) => {
                self.errors = None;
                false
            }
        }
    }

    /// What it wrote to its standard error since this was asked last, as far as it is kept.
    pub(super) fn take_complaints(&mut self) -> String {
        while self.complained < ERROR_BYTES_MAX && self.read_errors() {}
        String::from_utf8_lossy(&std::mem::take(&mut self.complaints)).into_owned()
    }

    /// As the system numbers it.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The program has closed a stream: ends what is left of it and tells how it went.
    fn ended(&mut self) -> Trouble {
        self.complained = 0;
        while self.complained < ERROR_BYTES_MAX && self.read_errors() {}
        // A program that exits has its status before its streams close, so this signal does not change it.
        self.kill();
        self.is_over = true;
        let how = self.child.wait().map_or_else(|error| error.to_string(), describe);
        let last_words = String::from_utf8_lossy(&self.last_words);
        let last_line = last_words.lines().rev().map(str::trim).find(|line| !line.is_empty());
        Trouble::Ended(match last_line {
            Some(line) => format!("{how}: {}", line.chars().take(SHOWN_CHARS_MAX).collect::<String>()),
            None => how,
        })
    }

    fn kill(&self) {
        // It may be gone already.
        let _ = kill_process_group(self.group, Signal::KILL);
    }

    /// Says goodbye and waits a little for the end.
    fn say_farewell(&mut self) {
        let patience = Patience { until: Instant::now() + FAREWELL_WAIT, stop: None };
        if self.farewell.is_empty() || self.ask(self.farewell, patience).is_err() {
            return;
        }
        self.input = None;
        // Until it closes its output; what it still says matters to nobody.
        while self.line(patience).is_ok() {}
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_over {
            self.say_farewell();
        }
        if !self.is_over {
            self.kill();
            // Nothing can be done about a process that cannot be waited for.
            let _ = self.child.wait();
        }
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it exited with code {code}"),
        // Ours too: a program that closed its output and went on was killed for it.
        (None, Some(9)) => "it closed its output or was killed".to_owned(),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it ended".to_owned(),
    }
}
