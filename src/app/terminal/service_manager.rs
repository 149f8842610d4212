//! What the daemon and whoever supervises it say to each other, as systemd has it: that it is ready, lives, and stops,
//! and the socket on which it listens, which outlives it, so that a restart refuses nobody.
//!
//! Without such a supervisor none of the variables are set, and nothing is said.

use std::ffi::OsStr;
use std::io;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use thiserror::Error;
use tokio::time::{MissedTickBehavior, interval};

/// The first descriptor that is handed on (`sd_listen_fds(3)`).
const FIRST_DESCRIPTOR: i32 = 3;

/// How long one word may wait for a supervisor that does not listen: the runtime waits with it.
const PATIENCE: Duration = Duration::from_secs(1);

/// Why a socket that was handed on cannot be used.
#[derive(Debug, Error)]
pub(in crate::app) enum HandedOnError {
    /// We listen on one address.
    #[error("LISTEN_FDS: {0} sockets were handed on, and one is used: name one address in the socket's unit")]
    Count(String),
    /// The descriptor is no socket of TCP, or cannot be had.
    #[error("LISTEN_FDS: what was handed on is no TCP socket that listens: {0}")]
    Useless(io::Error),
}

/// Who started the daemon and wants to hear of it.
#[derive(Debug)]
pub(in crate::app) struct ServiceManager {
    ear: Option<Ear>,
    /// How often it must hear that the daemon lives.
    watchdog: Option<Duration>,
    /// Whether it has heard that the daemon is ready; before that it waits for nothing else.
    is_ready: AtomicBool,
    /// Whether it has heard that the daemon stops.
    is_leaving: AtomicBool,
}

/// Where a supervisor listens.
#[derive(Debug)]
struct Ear {
    address: SocketAddr,
    /// For what must be heard: waits for room.
    patient: UnixDatagram,
    /// For what is said again and again: does not wait.
    hasty: UnixDatagram,
}

impl Ear {
    fn at(name: &OsStr) -> io::Result<Self> {
        let (patient, hasty) = (UnixDatagram::unbound()?, UnixDatagram::unbound()?);
        patient.set_write_timeout(Some(PATIENCE))?;
        hasty.set_nonblocking(true)?;
        Ok(Self { address: address(name)?, patient, hasty })
    }
}

impl ServiceManager {
    /// As the variables say that it set.
    pub(in crate::app) fn of_the_environment() -> Self {
        let watchdog = is_for_us(std::env::var("WATCHDOG_PID").ok().as_deref(), IfUnsaid::Ours)
            .then(|| std::env::var("WATCHDOG_USEC").ok()?.parse().ok().filter(|&usec: &u64| usec > 0))
            .flatten();
        Self {
            ear: std::env::var_os("NOTIFY_SOCKET").and_then(|name| Ear::at(&name).ok()),
            watchdog: watchdog.map(Duration::from_micros),
            is_ready: AtomicBool::new(false),
            is_leaving: AtomicBool::new(false),
        }
    }

    /// Says that the daemon is ready, in these words; from now on also that it lives.
    pub(in crate::app) fn tell_ready(&self, words: &str) {
        self.tell(&format!("READY=1\n{words}"));
        self.is_ready.store(true, Ordering::Relaxed);
    }

    /// Says once that the daemon stops.
    pub(in crate::app) fn tell_stopping(&self) {
        if !self.is_leaving.swap(true, Ordering::Relaxed) {
            self.tell("STOPPING=1");
        }
    }

    /// Says something that must be heard. A supervisor that is gone wants to hear nothing.
    fn tell(&self, words: &str) {
        if let Some(ear) = &self.ear {
            let _ = ear.patient.send_to_addr(words.as_bytes(), &ear.address);
        }
    }

    /// Says twice as often as is asked for that the daemon lives, for ever. It is the runtime that says it: when its
    /// threads all hang, nobody does, and the daemon is started again.
    pub(in crate::app) async fn beat_on(&self) {
        let Some(watchdog) = self.watchdog else { return std::future::pending().await };
        let mut beats = interval((watchdog / 2).max(Duration::from_millis(1)));
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beats.tick().await;
            if let (true, Some(ear)) = (self.is_ready.load(Ordering::Relaxed), &self.ear) {
                // One that finds no room is no loss: as many as there is room for have not been heard yet.
                let _ = ear.hasty.send_to_addr(b"WATCHDOG=1", &ear.address);
            }
        }
    }
}

/// The daemon may end by itself, or faster than anybody could say so.
impl Drop for ServiceManager {
    fn drop(&mut self) {
        self.tell_stopping();
    }
}

/// The socket to listen on, if one was handed on to this process.
///
/// # Errors
///
/// See [`HandedOnError`].
pub(in crate::app) fn handed_on_listener() -> Result<Option<TcpListener>, HandedOnError> {
    if !is_for_us(std::env::var("LISTEN_PID").ok().as_deref(), IfUnsaid::NotOurs) {
        return Ok(None);
    }
    match std::env::var("LISTEN_FDS") {
        Err(_) => Ok(None),
        Ok(count) if count == "0" => Ok(None),
        Ok(count) if count == "1" => listener(FIRST_DESCRIPTOR).map(Some).map_err(HandedOnError::Useless),
        Ok(count) => Err(HandedOnError::Count(count)),
    }
}

/// What holds where no process is named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum IfUnsaid {
    Ours,
    NotOurs,
}

/// Variables are inherited, and what they say is for one process.
fn is_for_us(pid: Option<&str>, unsaid: IfUnsaid) -> bool {
    match pid {
        Some(pid) => pid.parse() == Ok(std::process::id()),
        None => unsaid == IfUnsaid::Ours,
    }
}

/// A path, or a name of no file if it begins with `@`.
fn address(name: &OsStr) -> io::Result<SocketAddr> {
    match name.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name),
        _ => SocketAddr::from_pathname(name),
    }
}

/// Our own descriptor by its number. To believe a number is not safe; to ask the kernel for a copy is.
fn listener(descriptor: i32) -> io::Result<TcpListener> {
    let own: Pid = getpid();
    let process = pidfd_open(own, PidfdFlags::empty())?;
    let listener = TcpListener::from(pidfd_getfd(process, descriptor, PidfdGetfdFlags::empty())?);
    listener.local_addr()?; // or it is none
    listener.set_nonblocking(true)?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_to_another_process_is_not_for_us() {
        let own = std::process::id().to_string();
        assert!(is_for_us(Some(&own), IfUnsaid::NotOurs));
        assert!(!is_for_us(Some("1"), IfUnsaid::Ours) && !is_for_us(Some("x"), IfUnsaid::Ours));
        assert!(is_for_us(None, IfUnsaid::Ours) && !is_for_us(None, IfUnsaid::NotOurs));
    }

    #[test]
    fn a_name_that_begins_with_at_is_no_file() {
        assert_eq!(address(OsStr::new("@a/b")).unwrap().as_abstract_name(), Some(&b"a/b"[..]));
        assert_eq!(address(OsStr::new("/run/n")).unwrap().as_pathname(), Some("/run/n".as_ref()));
    }

    #[test]
    fn a_listener_is_taken_by_its_number_and_nothing_else_is() {
        use std::os::fd::AsRawFd as _;
        let held = TcpListener::bind("127.0.0.1:0").unwrap();
        let copy = listener(held.as_raw_fd()).unwrap();
        assert_eq!(copy.local_addr().unwrap(), held.local_addr().unwrap());
        let file = std::fs::File::open("Cargo.toml").unwrap();
        assert!(listener(file.as_raw_fd()).is_err() && listener(1_000_000).is_err());
    }
}
