//! The real binary as a process of its own.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server;

/// Nobody but the test's own players plays, and nothing but durability limits them.
pub(crate) const SETTINGS: &str = "\
house_bots = []

[limits]
rated_games_per_pair_and_day = 1000000

[ladder]
enabled = false

[learning]
enabled = false

[metrics]
enabled = false

[log]
level = \"warn\"
";

/// Between two looks whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Lines of its log that say why it failed, and what came before.
const LAST_WORDS: usize = 5;

/// The data directory within the test's directory.
pub(crate) fn data(directory: &Path) -> PathBuf {
    directory.join("data")
}

/// The binary under test, to be given arguments.
pub(crate) fn fourfold() -> Command {
    trusting(Command::new(env!("CARGO_BIN_EXE_fourfold")))
}

/// Who vouches for the certificates of the tests' own servers.
const AUTHORITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tls/ca.pem");

/// Has a binary believe the tests' own servers.
pub(crate) fn trusting(mut command: Command) -> Command {
    command.env("SSL_CERT_FILE", AUTHORITY);
    command
}

/// Copies the data of a daemon that does not run.
pub(crate) fn copy_data(from: &Path, to: &Path) {
    let (from, to) = (data(from), data(to));
    fs::create_dir(&to).expect("a writable directory");
    for entry in fs::read_dir(&from).expect("a readable directory") {
        let entry = entry.expect("a readable directory");
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("a writable directory");
        }
    }
}

/// A running daemon.
pub(crate) struct Daemon {
    process: Child,
    address: SocketAddr,
    started_in: Duration,
    directory: PathBuf,
}

impl Daemon {
    /// Starts it with these settings and waits until it is ready; at `address`, or wherever there is a free port.
    pub(crate) fn start(directory: &Path, address: Option<SocketAddr>, settings: &str) -> Self {
        Self::launched(fourfold(), directory, address, settings)
    }

    /// The same, and it may open so many files.
    pub(crate) fn start_with_files(directory: &Path, settings: &str, files: u32) -> Self {
        let mut shell = Command::new("sh");
        let binary = env!("CARGO_BIN_EXE_fourfold");
        shell.args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\""), binary]);
        Self::launched(shell, directory, None, settings)
    }

    /// The same by a command of one's own.
    pub(crate) fn launched(
        command: Command,
        directory: &Path,
        address: Option<SocketAddr>,
        settings: &str,
    ) -> Self {
        Self::launch(command, directory, address, settings)
            .unwrap_or_else(|status| panic!("the daemon was not ready, {status}; {}", last_words(directory)))
    }

    /// The same with a command that may be prepared for something; how it ended, if that was before it was ready.
    pub(crate) fn launch(
        mut command: Command,
        directory: &Path,
        address: Option<SocketAddr>,
        settings_text: &str,
    ) -> Result<Self, ExitStatus> {
        let settings = directory.join("fourfold.toml");
        fs::write(&settings, settings_text).expect("a writable directory");
        let listen = address.map_or("127.0.0.1:0".to_owned(), |address| address.to_string());
        let began = Instant::now();
        let mut process = server::tell(directory, &mut command)
            .args(["serve", "--listen", &listen, "--config"])
            .arg(settings)
            .arg("--data")
            .arg(data(directory))
            .stdout(Stdio::piped())
            .stderr(log(directory))
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        let output = process.stdout.take().expect("standard output is piped");
        BufReader::new(output).read_line(&mut line).expect("standard output is readable");
        let address = line.trim().strip_prefix("listening on http://");
        match address.and_then(|address| address.parse().ok()) {
            Some(address) => {
                let (started_in, directory) = (began.elapsed(), directory.to_owned());
                Ok(Self { process, address, started_in, directory })
            }
            None => Err(process.wait().expect("a process without output ends")),
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// From the start of the process to its readiness, the recovery of all live games included.
    pub(crate) fn started_in(&self) -> Duration {
        self.started_in
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.process.kill().expect("the daemon was running");
        self.process.wait().expect("a killed process ends");
    }

    /// Asks whether it lives on this connection, or on a new one, and gives the connection back.
    pub(crate) async fn ask_on(&self, stream: Option<TcpStream>) -> std::io::Result<TcpStream> {
        let mut stream = match stream {
            Some(stream) => stream,
            None => TcpStream::connect(self.address).await?,
        };
        stream.write_all(b"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await?;
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            if stream.read_buf(&mut answer).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        if !answer.starts_with(b"HTTP/1.1 200 ") {
            return Err(std::io::ErrorKind::ConnectionRefused.into());
        }
        Ok(stream)
    }

    /// What it has used of processors so far.
    pub(crate) fn processor_time(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).expect("it runs");
        let fields = stat.rsplit(')').next().expect("the name ends with a bracket").split_whitespace();
        let ticks: u64 = fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum();
        // A hundredth of a second each, on every Linux there is.
        Duration::from_millis(ticks * 10)
    }

    /// Stops the process for a while, as a machine without memory does, or one that is suspended.
    pub(crate) async fn suspend(&self, pause: Duration) {
        self.freeze();
        tokio::time::sleep(pause).await;
        self.thaw();
    }

    /// Stops it where it is.
    pub(crate) fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.process.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "the daemon was not running any more");
    }

    /// SIGTERM.
    pub(crate) fn ask_to_stop(&self) {
        let asked = Command::new("kill").arg(self.process.id().to_string()).status();
        assert!(asked.is_ok_and(|status| status.success()), "the daemon was not running any more");
    }

    /// Waits until it ends by itself; gives nothing if it has not by then.
    pub(crate) async fn ended_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + patience;
        loop {
            let ended = self.process.try_wait().expect("a child can be looked at");
            if ended.is_some() || Instant::now() >= deadline {
                return ended;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// A request as simple as can be: the daemon closes the connection after its answer.
    pub(crate) async fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.expect("the daemon listens");
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("the daemon reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("the daemon answers");
        answer
    }

    /// SIGTERM; the exit code must be 0.
    pub(crate) fn stop(mut self) {
        self.ask_to_stop();
        let status = self.process.wait().expect("a stopped process ends");
        assert!(status.success(), "the daemon ended with {status}; {}", last_words(&self.directory));
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Only if the test itself failed; otherwise it has ended already.
        let _ = self.process.kill();
    }
}

/// What it says.
pub(crate) fn log_path(directory: &Path) -> PathBuf {
    directory.join("daemon.log")
}

/// What it said last, for whoever reads of a failure when the files are gone.
fn last_words(directory: &Path) -> String {
    let said = fs::read_to_string(log_path(directory)).unwrap_or_default();
    let last: Vec<&str> = said.lines().rev().take(LAST_WORDS).collect();
    format!("last it said, the newest first: {last:#?}")
}

fn log(directory: &Path) -> File {
    OpenOptions::new().create(true).append(true).open(log_path(directory)).expect("a writable directory")
}
