//! Programs from the command line: in matches, through the bridge, and in the self-test.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

fn fourfold(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fourfold"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("RUST_LOG")
        .env_remove("FOURFOLD_TOKEN")
        .env_remove("FOURFOLD_URL");
    command
}

fn run(arguments: &[&str]) -> Output {
    fourfold(arguments).output().unwrap()
}

fn bot(name: &str) -> String {
    format!("{}/arena/tests/bots/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[track_caller]
fn json_of(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{errors}"))
}

#[track_caller]
fn check_refused(arguments: &[&str], code: i32, message: &str) {
    let output = run(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{error}");
    assert!(error.contains(message), "{error}");
}

#[test]
fn a_program_plays_a_match() {
    let entrant = format!("cmd:{}", bot("good.sh"));
    let output = run(&[
        "match",
        &entrant,
        "random",
        "--games",
        "4",
        "--seed",
        "3",
        "--json",
        "--startup-ms",
        "60000",
        "--move-ms",
        "60000",
    ]);
    let report = json_of(&output);
    assert!(output.status.success());
    assert_eq!((&report["games"], &report["faults"]), (&4.into(), &0.into()));
    assert_eq!(report["entrants"][0], entrant.as_str());
}

#[test]
fn a_program_that_never_moves_is_no_success() {
    let silent = format!("cmd:{}", bot("silent.sh"));
    let quick = ["--games", "2", "--openings", "empty", "--move-ms", "100", "--startup-ms", "0"];
    check_refused(&[&["match", &silent, &silent][..], &quick].concat(), 1, "nothing was played");
    let failing = format!("cmd:{}", bot("fails_at_start.sh"));
    let patient = ["--games", "2", "--startup-ms", "60000"];
    check_refused(&[&["match", &failing, "random"][..], &patient].concat(), 1, "no weights");
    check_refused(&["match", "cmd:/no/such/bot", "random"], 1, "/no/such/bot cannot be started");
}

#[test]
fn what_names_no_program_is_wrong_use() {
    check_refused(&["match", "cmd:", "random"], 2, "names no program");
    check_refused(&["match", "cmd+chess:./x", "random"], 2, "`chess` is no dialect: there are simple");
    check_refused(&["match", "cmd:./x 'y", "random"], 2, "quotation mark");
    check_refused(&["match", "cmd+cfour:./x", "random", "--variant", "8x7"], 2, "no 8x7 board");
    check_refused(&["bridge", "--url", "ws://127.0.0.1:1", "--", "x"], 2, "--token");
    check_refused(&["check-bot"], 2, "--url");
    check_refused(&["check-bot", "--url", "ws://127.0.0.1:1"], 2, "--token");
}

#[test]
fn a_sandbox_that_is_not_there_is_said_and_nothing_runs() {
    let empty = tempfile::tempdir().unwrap();
    let entrant = format!("cmd:{}", bot("good.sh"));
    for arguments in [
        &["match", &entrant, "random", "--games", "2", "--sandbox"][..],
        &["bridge", "--url", "ws://127.0.0.1:1", "--token", "c4b_x", "--sandbox", "--", &bot("good.sh")],
        &["check-bot", "--sandbox", "--", &bot("good.sh")],
    ] {
        let output = fourfold(arguments).env("PATH", empty.path()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains("no `bwrap` on the path: install bubblewrap"), "{error}");
    }
}

#[test]
fn a_sandbox_has_no_network_and_shows_the_program_alone() {
    let directory = tempfile::tempdir().unwrap();
    let said = directory.path().join("said");
    // Stands for bubblewrap: writes down what it is told, and runs the program without a sandbox.
    let fake =
        "#!/bin/sh\necho \"$*\" >>\"$SAID\"\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n";
    let path = directory.path().join("bwrap");
    std::fs::write(&path, fake).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();

    let entrant = format!("cmd:{}", bot("good.sh"));
    let patient = ["--startup-ms", "60000", "--move-ms", "60000", "--json"];
    let output =
        fourfold(&[&["match", &entrant, "random", "--games", "2", "--sandbox"][..], &patient].concat())
            .env("PATH", format!("{}:/usr/bin:/bin", directory.path().display()))
            .env("SAID", &said)
            .output()
            .unwrap();
    assert_eq!(json_of(&output)["games"], 2);
    let said = std::fs::read_to_string(said).unwrap();
    let folder = Path::new(&bot("good.sh")).parent().unwrap().display().to_string();
    for line in said.lines() {
        assert!(
            line.starts_with("--unshare-all --die-with-parent --new-session --ro-bind-try /usr /usr "),
            "{line}"
        );
        let shown = format!(
            "--tmpfs /tmp --chdir /tmp --setenv HOME /tmp --ro-bind {folder} {folder} -- {}",
            bot("good.sh")
        );
        assert!(line.ends_with(&shown) && !line.contains(" / "), "{line}");
    }
    assert!(!said.is_empty());
}

/// Whether bubblewrap is there and may make a sandbox, which containers often forbid; says so if not.
fn bubblewrap_works() -> bool {
    let tried = Command::new("bwrap").args(["--unshare-all", "--ro-bind", "/", "/", "true"]).output();
    let works = tried.is_ok_and(|output| output.status.success());
    if !works {
        // Past the capture of what tests print.
        let left_out = "left out: bubblewrap makes no sandbox here (Debian: apt-get install bubblewrap)";
        let _ = writeln!(std::io::stderr(), "{left_out}");
    }
    works
}

/// A configuration in which a program plays a tournament of the house as soon as the daemon starts.
fn house_of(program: &str, allowed: bool) -> String {
    format!(
        "[programs]\nallow = {allowed}\n[ladder]\nenabled = false\n[learning]\nenabled = false\n[metrics]\n\
         enabled = false\n[[house_bots]]\nname = \"own\"\nspec = \"cmd:{program}\"\n[[house_bots]]\n\
         name = \"random\"\nspec = \"random\"\n[[tournaments]]\nname = \"Cup\"\nat = \"start\"\n\
         format = \"round-robin\"\nentrants = [\"own\", \"random\"]\n"
    )
}

#[test]
fn a_program_is_no_bot_of_the_house_unless_the_operator_allows_it() {
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("house.toml");
    std::fs::write(&config, house_of(&bot("good.sh"), false)).unwrap();
    let data = directory.path().join("data");
    let arguments = ["serve", "--config", config.to_str().unwrap(), "--data", data.to_str().unwrap()];
    let message = format!(
        "house.toml:11: house_bots[0].spec: `cmd:{}` is a program, and programs.allow is false",
        bot("good.sh")
    );
    check_refused(&arguments, 2, &message);
    assert!(!data.exists(), "nothing was begun");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "processes are waited for, which know no other time")]
fn programs_of_the_house_end_with_a_daemon_that_is_killed() {
    if !bubblewrap_works() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("bot").join("thinker.sh");
    std::fs::create_dir(program.parent().unwrap()).unwrap();
    // A child of its own in a group of its own, as programs have that want to outlive whoever starts them.
    std::fs::write(
        &program,
        "#!/bin/sh\nsetsid sleep 987654 &\nread -r q\necho 4\nread -r q\nexec sleep 987655\n",
    )
    .unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = directory.path().join("house.toml");
    std::fs::write(&config, house_of(program.to_str().unwrap(), true)).unwrap();
    let data = directory.path().join("data");
    let arguments = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--config",
        config.to_str().unwrap(),
        "--data",
        data.to_str().unwrap(),
    ];
    let mut daemon = fourfold(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let running = |wanted: &str| {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let command =
            |process: std::fs::DirEntry| std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        processes.map(command).any(|line| String::from_utf8_lossy(&line).contains(wanted))
    };
    let until = |wanted: &str, is_running: bool| {
        let began = std::time::Instant::now();
        while running(wanted) != is_running {
            assert!(began.elapsed() < std::time::Duration::from_mins(1), "{wanted} runs: {}", !is_running);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    // It has answered its first question, and thinks about its first move.
    until("987655", true);
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    for left in ["thinker.sh", "987654", "987655"] {
        until(left, false);
    }
}

/// A program that says as its first move what it should not see, if it sees anything of it.
fn spy(root: &Path, port: u16) -> String {
    let folder = root.join("bot");
    for (directory, file) in [(folder.join("data"), "letters"), (root.join("beside"), "letters")] {
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join(file), "dear ada").unwrap();
    }
    std::fs::set_permissions(folder.join("data"), std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::copy(bot("good.sh"), folder.join("good.sh")).unwrap();
    let script = format!(
        "#!/bin/bash\n\
         exec 3>&1 1>/dev/null 2>&1\n\
         cat {root}/beside/letters && seen=beside\n\
         cat {root}/bot/data/letters && seen=$seen,data\n\
         (: >/dev/tcp/127.0.0.1/{port}) && seen=$seen,network\n\
         (: >{root}/bot/written) && seen=$seen,writes\n\
         kill -0 {process} && seen=$seen,processes\n\
         exec 1>&3 3>&-\n\
         [ -z \"$seen\" ] || {{ read -r line; echo \"$seen\"; }}\n\
         exec {root}/bot/good.sh\n",
        root = root.display(),
        process = std::process::id(),
    );
    let path = folder.join("spy.sh");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn in_a_real_sandbox_a_program_reaches_nobody_and_sees_its_folder_alone() {
    if !bubblewrap_works() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let entrant = format!("cmd:{}", spy(directory.path(), listener.local_addr().unwrap().port()));
    let patient = ["--startup-ms", "60000", "--move-ms", "60000", "--json"];
    let play = [&["match", &entrant, "random", "--games", "2"][..], &patient].concat();
    // Without a sandbox it sees all of it.
    check_refused(&play, 1, "\"beside,data,network,writes,processes\" is no move");
    std::fs::remove_file(directory.path().join("bot/written")).unwrap();
    let output = run(&[&play[..], &["--sandbox"]].concat());
    let report = json_of(&output);
    assert_eq!((&report["games"], &report["faults"]), (&2.into(), &0.into()), "{report}");
    assert!(!directory.path().join("bot/written").exists());
}

#[test]
fn the_self_test_tells_sound_programs_from_others() {
    let patient = ["--move-ms", "60000", "--startup-ms", "60000", "--json", "--"];
    let sound = run(&[&["check-bot"][..], &patient, &[&bot("good.sh")]].concat());
    let report = json_of(&sound);
    assert!(sound.status.success(), "{report}");
    assert_eq!(report["passed"], true);
    assert!(report["latency_ms"]["count"].as_u64().unwrap() > 20);

    let unsound = run(&[&["check-bot"][..], &patient, &[&bot("says.sh"), "4", "4"]].concat());
    assert_eq!(unsound.status.code(), Some(1));
    let report = json_of(&unsound);
    let checks = report["checks"].as_array().unwrap();
    let failed =
        |name: &str| checks.iter().any(|check| check["name"] == name && check["verdict"] == "failed");
    assert!(!failed("turn") && failed("pair_against_itself"), "{report}");
}

/// A daemon on a free port with one bot.
struct Daemon {
    directory: TempDir,
    process: Child,
    url: String,
    token: String,
}

impl Daemon {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        let data = data.to_str().unwrap();
        let made = |arguments: &[&str]| {
            let mut command = fourfold(arguments);
            command.args(["--data", data, "--json"]).env("FOURFOLD_PASSWORD", "tea and biscuits");
            json_of(&command.output().unwrap())
        };
        made(&["account", "create", "ada"]);
        let token = made(&["bot", "create", "six", "--owner", "ada"])["token"].as_str().unwrap().to_owned();
        let mut process = fourfold(&["serve", "--listen", "127.0.0.1:0", "--data", data])
            .env("FOURFOLD_METRICS_ENABLED", "false")
            .env("FOURFOLD_LADDER_ENABLED", "false")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").expect(&line);
        Self { directory, process, url: format!("ws://{address}"), token }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill(); // it may have ended
        let _ = self.process.wait();
    }
}

/// A proxy that speaks TLS, with a certificate for 127.0.0.1 that `tests/data/tls/ca.pem` vouches for; its port.
fn behind_tls(url: &str) -> u16 {
    let read = |name: &str| format!("{}/tests/data/tls/{name}", env!("CARGO_MANIFEST_DIR"));
    let certificate = CertificateDer::from_pem_file(read("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(read("server.key")).unwrap();
    let config =
        ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let daemon = url.trim_start_matches("ws://").to_owned();
    let (sender, port) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        tokio::runtime::Runtime::new().unwrap().block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            sender.send(listener.local_addr().unwrap().port()).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, daemon) = (acceptor.clone(), daemon.clone());
                tokio::spawn(async move {
                    let Ok(mut client) = acceptor.accept(stream).await else { return };
                    let mut server = TcpStream::connect(daemon).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                });
            }
        });
    });
    port.recv().unwrap()
}

#[test]
fn programs_reach_an_arena_behind_tls() {
    let daemon = Daemon::start();
    let port = behind_tls(&daemon.url);
    let trusting = |arguments: &[&str]| {
        let mut command = fourfold(arguments);
        command.env("SSL_CERT_FILE", format!("{}/tests/data/tls/ca.pem", env!("CARGO_MANIFEST_DIR")));
        command.output().unwrap()
    };
    let [wss, https] = ["wss", "https"].map(|scheme| format!("{scheme}://127.0.0.1:{port}"));
    let patient = ["--move-ms", "60000", "--startup-ms", "60000", "--json", "--", &bot("good.sh")];
    let report = trusting(&[&["check-bot", "--url", &wss, "--token", &daemon.token][..], &patient].concat());
    assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
    let load = trusting(&["load", "--url", &https, "--games", "2", "--connections", "2", "--json"]);
    assert_eq!(json_of(&load)["games"], 2);
    let records = run(&["games", "export", "--data", daemon.directory.path().join("data").to_str().unwrap()]);
    let records = String::from_utf8_lossy(&records.stdout).into_owned();
    assert_eq!(records.matches("\"unrated_because\":\"load\"").count(), 2, "{records}");

    // Two games over TLS, asked for: nobody else is on the ladder.
    let games = ["--opponent", "greedy", "--games", "2", "--startup-ms", "60000", "--", &bot("good.sh")];
    let played = trusting(&[&["bridge", "--url", &wss, "--token", &daemon.token][..], &games].concat());
    let said = String::from_utf8_lossy(&played.stdout);
    assert!(said.starts_with("2 games: "), "{said}{}", String::from_utf8_lossy(&played.stderr));

    let bridge = |url: &str| {
        let words = [
            "bridge",
            "--url",
            url,
            "--token",
            &daemon.token,
            "--startup-ms",
            "60000",
            "--",
            &bot("good.sh"),
        ];
        let output = run(&words);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, words) = bridge(&wss);
    assert!(code == Some(69) && words.contains("SSL_CERT_FILE"), "nobody vouches for it: {words}");
    let (code, words) = bridge(&daemon.url.replace("ws://", "wss://"));
    assert!(code == Some(69) && words.contains("does not speak TLS"), "{words}");
    let (code, words) = bridge("gopher://127.0.0.1");
    assert!(code == Some(2) && words.contains("is not the address of a server"), "{words}");
}

/// What the daemon answers to the bot.
fn get(daemon: &Daemon, path: &str) -> Value {
    let address = daemon.url.trim_start_matches("ws://");
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let token = &daemon.token;
    let head = "Connection: close\r\nAuthorization: Bearer";
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n{head} {token}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
}

#[test]
#[expect(clippy::disallowed_methods, reason = "processes are waited for, which know no other time")]
fn what_a_bridged_program_dies_of_is_on_its_list_of_faults() {
    let daemon = Daemon::start();
    let connection = ["bridge", "--url", &daemon.url, "--token", &daemon.token, "--startup-ms", "60000"];
    let played = run(&[&connection[..], &["--opponent", "greedy", "--", &bot("dies.sh")]].concat());
    let said = String::from_utf8_lossy(&played.stderr);
    assert!(played.status.code() == Some(1) && said.contains("3 games in a row"), "{said}");
    // The last one may be on its way to the disk still.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let faults = loop {
        let faults = get(&daemon, "/api/v1/bots/@me/faults");
        let faults = faults["items"].as_array().unwrap().clone();
        if faults.len() >= 3 || std::time::Instant::now() > deadline {
            break faults;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert!(faults.len() >= 3, "a game that is lost in two moves is none: {faults:?}");
    for fault in &faults {
        assert_eq!(fault["kind"], "left", "{fault}");
        let note = fault["note"].as_str().unwrap();
        assert!(note.contains("code 3") && note.contains("cannot go on"), "{fault}");
        assert!(fault["game"].is_string(), "{fault}");
    }
    let nobody = ["--opponent", "nobody-here", "--", &bot("good.sh")];
    check_refused(&[&connection[..], &nobody].concat(), 1, "nobody-here does not play: ");
}

#[test]
fn a_log_is_shown_exported_and_checked() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("match.ndjson");
    let log = log.to_str().unwrap();
    let mine = format!("mine=cmd:{}", bot("good.sh"));
    let patient = ["--startup-ms", "60000", "--move-ms", "60000", "--seed", "3", "--save", log];
    let played = run(&[&["match", &mine, "foe=greedy", "--games", "4"][..], &patient].concat());
    let table = String::from_utf8_lossy(&played.stdout).into_owned();
    assert!(table.starts_with("mine v foe, seed 3"), "{table}");
    assert_eq!(String::from_utf8_lossy(&run(&["log", log]).stdout), table);
    assert_eq!(json_of(&run(&["log", log, "--json"]))["games"], 4);
    let text = |flag: &str| String::from_utf8(run(&["log", log, flag]).stdout).unwrap();
    assert_eq!(text("--pgn").matches("[White \"").count(), 4);
    assert_eq!(text("--csv").lines().count(), 5);
    let verified = text("--verify");
    assert!(verified.starts_with("4 games, every line as it was written; finished\n"), "{verified}");
    assert!(verified.contains("mine: good.sh sha256 "), "{verified}");
    assert_eq!(json_of(&run(&["rate", log, log, "--json"]))["games"], 4, "the same file twice is one");

    let review = String::from_utf8(run(&["review", log]).stdout).unwrap();
    let rows: Vec<&str> = review.lines().collect();
    assert!(rows.len() == 3 && rows[0].contains("Accuracy"), "{review}");
    assert!(rows[1..].iter().any(|row| row.starts_with("mine  4")), "{review}");
    let file = directory.path().join("mistakes.tsv");
    let file = file.to_str().unwrap();
    let reviewed = json_of(&run(&["review", log, "--json", "--mistakes", file]));
    assert_eq!((&reviewed["games"], &reviewed["players"][1]["games"]), (&4.into(), &4.into()));
    let mistakes = std::fs::read_to_string(file).unwrap();
    let lines: Vec<Vec<&str>> = mistakes.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines[0], ["moves", "chosen", "best", "values", "player", "mistake", "times", "game"]);
    let players = reviewed["players"].as_array().unwrap().iter();
    let blunders: u64 = players.map(|player| player["blunders"].as_u64().unwrap()).sum();
    let times: u64 = lines[1..].iter().map(|line| line[6].parse::<u64>().unwrap()).sum();
    assert!(blunders > 0 && times == blunders, "{mistakes}");
    for line in &lines[1..] {
        let solved = String::from_utf8(run(&["solve", "--columns", line[0]]).stdout).unwrap();
        let best = line[2].split(',').next().unwrap().parse::<usize>().unwrap();
        let value = line[3].split(',').nth(best - 1).unwrap();
        assert!(solved.contains(value), "{line:?}: {solved}");
    }
    let again = ["match", "greedy", "stupid", "--games", "2", "--openings", file, "--json"];
    assert_eq!(json_of(&run(&again))["games"], 2, "the file is a list of openings");

    let written = std::fs::read_to_string(log).unwrap();
    let turned = written.replacen("\"result\":\"first\"", "\"result\":\"draw\"", 1);
    assert_ne!(turned, written);
    std::fs::write(log, turned).unwrap();
    check_refused(&["rate", log], 65, "its checksum is wrong");
    check_refused(&["log", log, "--verify"], 65, "its checksum is wrong");
    check_refused(&["log", "/no/such/log"], 66, "/no/such/log");
    check_refused(&["log", log, "--pgn", "--csv"], 2, "cannot be used with");
}

#[test]
fn house_bots_play_for_other_referees_and_are_measured_as_programs() {
    let engine = |bot: &str, dialect: &str| {
        format!("cmd+{dialect}:{} engine {bot} --dialect {dialect}", env!("CARGO_BIN_EXE_fourfold"))
    };
    for dialect in ["simple", "kaggle", "aigames", "cfour"] {
        let there = format!("{dialect}={}", engine("negamax:depth=2", dialect));
        let patient = ["--startup-ms", "60000", "--move-ms", "60000", "--seed", "3", "--json"];
        let report =
            json_of(&run(&[&["match", &there, "negamax:depth=2", "--games", "2"][..], &patient].concat()));
        assert_eq!((&report["faults"], &report["score"]), (&0.into(), &0.5.into()), "{report}");
    }
    let measure = |bot: &str| {
        let flags =
            ["--positions", "20", "--games", "1", "--startup-ms", "60000", "--move-ms", "60000", "--json"];
        json_of(&run(&[&["measure", bot][..], &flags].concat()))
    };
    let (there, here) = (measure(&format!("it={}", engine("greedy", "simple"))), measure("greedy"));
    assert_eq!(there["bot"], "it");
    for figure in ["good", "decision", "optimal", "mean_loss", "first_vs_perfect"] {
        assert_eq!(there[figure], here[figure], "{figure}");
    }
}

/// A bot that connects by itself, as the kits' bots do: the bridge, started by the test itself.
#[test]
fn a_bot_that_connects_by_itself_is_tested_by_the_daemon() {
    let daemon = Daemon::start();
    let check = ["check-bot", "--url", &daemon.url, "--token", &daemon.token, "--connects", "--json", "--"];
    let script =
        format!("exec \"$0\" bridge --url \"$FOURFOLD_URL\" --startup-ms 60000 -- {}", bot("good.sh"));
    let sound = ["sh", "-c", &script, env!("CARGO_BIN_EXE_fourfold")];
    // Where and as whom, the variables say.
    let output = fourfold(&[&["check-bot", "--connects", "--json", "--"][..], &sound].concat())
        .env("FOURFOLD_URL", &daemon.url)
        .env("FOURFOLD_TOKEN", &daemon.token)
        .output()
        .unwrap();
    let report = json_of(&output);
    assert!(output.status.success(), "{report}");
    let names: Vec<_> = report["checks"].as_array().unwrap().iter().map(|check| &check["name"]).collect();
    let expected = [
        "handshake",
        "turn",
        "drop_and_resume",
        "long_game",
        "full_column",
        "both_sides",
        "full_board",
        "win",
        "legal_moves",
        "drain",
    ];
    assert_eq!(names, expected);
    let leaves = script.replace("bridge", "bridge --games 1");
    let output = run(&[&check[..], &["sh", "-c", &leaves, env!("CARGO_BIN_EXE_fourfold")]].concat());
    let report = json_of(&output);
    let last = report["checks"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["name"], &last["verdict"]), (&"stays".into(), &"failed".into()), "{report}");
    assert!(last["note"].as_str().unwrap().contains("ended during the test"), "{report}");
    check_refused(&[&check[..], &["false"]].concat(), 1, "the bot ended before its test began");
    check_refused(&[&check[..], &["/no/such/bot"]].concat(), 2, "/no/such/bot");
}

#[test]
fn a_program_plays_on_a_daemon_and_passes_its_self_test() {
    let daemon = Daemon::start();
    let connection = ["--url", &daemon.url, "--token", &daemon.token];
    let patient = ["--move-ms", "60000", "--startup-ms", "60000", "--json", "--"];
    let output = run(&[&["check-bot"][..], &connection, &patient, &[&bot("good.sh")]].concat());
    let report = json_of(&output);
    assert!(output.status.success(), "{report}");
    assert_eq!(report["checks"].as_array().unwrap().len(), 11, "{report}");
    assert_eq!(report["checks"][10]["name"], "daemon");
    assert_eq!(report["games"].as_array().unwrap().len(), 4, "the daemon's own: {report}");
    assert!(report["latency_ms"]["count"].as_u64().unwrap() >= 8);

    // A program that cannot play gives up and says so.
    let bad = ["--startup-ms", "60000", "--", &bot("fails_at_start.sh")];
    check_refused(&[&["bridge"][..], &connection, &bad].concat(), 1, "no weights");
    let stranger =
        ["bridge", "--url", &daemon.url, "--token", "c4b_wrong", "--startup-ms", "0", "--", &bot("good.sh")];
    assert_ne!(run(&stranger).status.code(), Some(0));
}
