//! The daemon as whoever supervises it sees it: TLS, readiness, the watchdog, sockets that outlive it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{check_failure, fourfold, text};

/// Longer than anything here takes, on a machine that does much else.
const PATIENCE: Duration = Duration::from_mins(1);

/// A daemon, and what it says.
struct Served {
    child: Child,
    /// What it printed when it was ready.
    url: String,
    log: std::path::PathBuf,
}

impl Served {
    fn start(mut command: Command, directory: &Path) -> Self {
        let log = directory.join("log");
        let mut child = quiet(&mut command, directory)
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said = || std::fs::read_to_string(&log).unwrap_or_default();
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}{}", said()));
        Self { child, url: url.to_owned(), log }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    /// Asks it to read its settings again, and waits for what it says to that.
    #[track_caller]
    fn reload(&self, expected: &str) {
        let before = std::fs::read_to_string(&self.log).unwrap().len();
        self.signal("HUP");
        let began = Instant::now();
        loop {
            let log = std::fs::read_to_string(&self.log).unwrap();
            if log[before..].contains(expected) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{log}");
            std::thread::yield_now();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

/// Nothing that a test of the outside needs.
fn quiet<'a>(command: &'a mut Command, directory: &Path) -> &'a mut Command {
    command
        .env("FOURFOLD_DATA", directory.join("data"))
        .env("FOURFOLD_METRICS_ENABLED", "false")
        .env("FOURFOLD_LADDER_ENABLED", "false")
        .env("FOURFOLD_LEARNING_ENABLED", "false")
        .env("FOURFOLD_RESTART_NOTICE_MS", "0")
}

fn tls_file(name: &str) -> String {
    format!("{}/tests/data/tls/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A game of two clients that believe `authority` alone.
fn plays(url: &str, authority: &str) -> Result<(), String> {
    let mut load = fourfold(&["load", "--url", url, "--games", "1", "--connections", "2"]);
    let output = load.env("SSL_CERT_FILE", authority).output().unwrap();
    if output.status.success() { Ok(()) } else { Err(text(&output.stderr).to_owned()) }
}

/// What a request in plain HTTP is answered.
fn plain(url: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(url.split_once("://").unwrap().1).unwrap();
    let question = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(question.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn tls_is_spoken_and_a_certificate_is_exchanged_while_it_serves() {
    let directory = tempfile::tempdir().unwrap();
    let (cert, key) = (directory.path().join("cert.pem"), directory.path().join("key.pem"));
    let put = |certificate: &str, private: &str| {
        std::fs::copy(tls_file(certificate), &cert).unwrap();
        std::fs::copy(tls_file(private), &key).unwrap();
    };
    put("server.pem", "server.key");
    let mut command = fourfold(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("FOURFOLD_TLS_CERT", &cert).env("FOURFOLD_TLS_KEY", &key);
    let served = Served::start(command, directory.path());
    assert!(served.url.starts_with("https://"), "{}", served.url);
    plays(&served.url, &tls_file("ca.pem")).unwrap();
    for path in ["/", "/readyz", "/healthzz", "/healthz?", "/healthz/players/"] {
        let answer = plain(&served.url, path);
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("speaks TLS"), "{path}: {answer}");
    }
    // Balancers that pass bytes on ask without TLS, which is not theirs.
    for path in ["/healthz", "/healthz/players"] {
        let answer = plain(&served.url, path);
        let is_well = answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("{\"status\":\"ok\"}");
        assert!(is_well, "{path}: {answer}");
    }

    put("server.pem", "renewed.key");
    served.reload("the certificate is refused, the old one stays");
    plays(&served.url, &tls_file("ca.pem")).unwrap();
    put("renewed.pem", "renewed.key");
    served.reload("the certificate was read again");
    assert!(plays(&served.url, &tls_file("ca.pem")).unwrap_err().contains("SSL_CERT_FILE"));
    plays(&served.url, &tls_file("renewed.pem")).unwrap();
}

#[test]
fn a_certificate_that_cannot_be_used_ends_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let check = |certificate: &str, key: &str, expected: &str| {
        let mut command = fourfold(&["serve", "--listen", "127.0.0.1:0"]);
        quiet(&mut command, directory.path()).env("FOURFOLD_LOG_LEVEL", "off");
        let files = [("FOURFOLD_TLS_CERT", certificate), ("FOURFOLD_TLS_KEY", key)];
        for (name, file) in files.into_iter().filter(|(_, file)| !file.is_empty()) {
            command.env(name, tls_file(file));
        }
        check_failure(&mut command, 2, expected);
    };
    check("none.pem", "server.key", "server.tls_cert: ");
    check("server.pem", "renewed.key", "server.tls_key: ");
    check("server.pem", "", "server.tls_cert and server.tls_key: give both");
}

/// A supervisor that listens.
struct Supervisor {
    socket: UnixDatagram,
    directory: TempDir,
}

impl Supervisor {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let socket = UnixDatagram::bind(directory.path().join("notify")).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { socket, directory }
    }

    fn hears(&self) -> String {
        let mut words = [0; 200];
        let length = self.socket.recv(&mut words).unwrap();
        text(&words[..length]).to_owned()
    }
}

#[test]
fn a_supervisor_hears_that_it_is_ready_that_it_lives_and_that_it_stops() {
    let supervisor = Supervisor::new();
    let mut command = fourfold(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("NOTIFY_SOCKET", supervisor.directory.path().join("notify")).env("WATCHDOG_USEC", "100000");
    let served = Served::start(command, supervisor.directory.path());
    // Not before: who listens to nobody until then would be waited for.
    assert_eq!(supervisor.hears(), format!("READY=1\nSTATUS=listening on {}", served.url));
    for _ in 0..3 {
        assert_eq!(supervisor.hears(), "WATCHDOG=1");
    }
    served.signal("TERM");
    while supervisor.hears() != "STOPPING=1" {}
}

/// The daemon on a socket that is handed on to it as systemd does: its number is three, its variables name the process.
fn activated(socket: &TcpListener, count: &str) -> Command {
    let script = format!("exec 3<&0 </dev/null; export LISTEN_PID=$$ LISTEN_FDS={count}; exec \"$0\" serve");
    let own = fourfold(&[]);
    let mut command = Command::new("sh");
    for (name, value) in own.get_envs() {
        if value.is_none() {
            command.env_remove(name);
        }
    }
    let socket: OwnedFd = socket.try_clone().unwrap().into();
    command.args(["-c", &script]).arg(own.get_program()).stdin(Stdio::from(socket));
    command
}

#[test]
fn whoever_knocks_between_two_daemons_is_answered_by_the_second() {
    let directory = tempfile::tempdir().unwrap();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", socket.local_addr().unwrap());
    let mut first = Served::start(activated(&socket, "1"), directory.path());
    assert_eq!(first.url, address);
    assert!(plain(&address, "/healthz").starts_with("HTTP/1.1 200"));
    first.signal("TERM");
    assert!(first.child.wait().unwrap().success());
    let between = std::thread::spawn({
        let address = address.clone();
        move || plain(&address, "/healthz")
    });
    let _second = Served::start(activated(&socket, "1"), directory.path());
    assert!(between.join().unwrap().starts_with("HTTP/1.1 200"));

    let mut two = activated(&socket, "2");
    let other = tempfile::tempdir().unwrap();
    check_failure(quiet(&mut two, other.path()), 2, "LISTEN_FDS: 2 sockets");
}
