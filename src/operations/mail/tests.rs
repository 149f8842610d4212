//! Mails as a mail server gets them, and those that it does not.

use std::net::SocketAddr;

use rustls_native_certs::CertificateResult;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_util::sync::CancellationToken;

use super::actor::{MailActor, MailOccasions};
use super::letter::tests::{body_of, letter};
use super::*;
use crate::competition::matchmaker::Troubles;
use crate::competition::matchmaker::troubles::BotTrouble;
use crate::model::clock::TimeControl;
use crate::model::player::PlayerKind;
use crate::operations::push::tests::pusher_over;
use crate::play::host::GameOffer;
use crate::play::presence::Sessions;
use crate::play::room::Directory;
use crate::storage::MemoryStore;
use crate::storage::conformance::{add, add_players, player, player_id};
use crate::storage::mails::{LinkPurpose, MailLink};
use crate::storage::pushes::StoredPush;
use crate::storage::record::StoredPlayer;
use crate::storage::store::{Store, Write};
use crate::system::config::MailSecurity;
use crate::system::shares::ShareSettings;
use crate::system::supervision::Kept as _;
use crate::system::trust;
use crate::testing::{Arena, offer};

/// What a server says beside what is usual: instead of each of these beginnings of an answer, another one.
type Moods = &'static [(&'static str, &'static str)];

/// What a server has heard, a connection each: all lines, and those of the mail among them.
type Heard = mpsc::UnboundedReceiver<Vec<String>>;

/// A mail server on this machine.
struct PostOffice {
    address: SocketAddr,
    heard: Heard,
}

fn acceptor() -> TlsAcceptor {
    let certificate = CertificateDer::from_pem_file("tests/data/tls/server.pem").unwrap();
    let key = PrivateKeyDer::from_pem_file("tests/data/tls/server.key").unwrap();
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key);
    TlsAcceptor::from(Arc::new(config.unwrap()))
}

impl PostOffice {
    /// One that takes all mails. `moods` are what it answers to a command instead, by the beginning of the command.
    async fn open(security: MailSecurity, moods: Moods) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (hear, heard) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut lines = Vec::new();
                // Whoever hangs up has heard enough.
                let _ = match security {
                    MailSecurity::Tls => match acceptor().accept(stream).await {
                        Ok(stream) => {
                            converse(BufReader::new(stream), moods, true, &mut lines).await.map(|_| ())
                        }
                        Err(error) => Err(error),
                    },
                    MailSecurity::None | MailSecurity::Starttls => {
                        match converse(BufReader::new(stream), moods, true, &mut lines).await {
                            Ok(Some(stream)) => match acceptor().accept(stream.into_inner()).await {
                                Ok(stream) => {
                                    lines.push("(TLS)".to_owned());
                                    let stream = BufReader::new(stream);
                                    converse(stream, moods, false, &mut lines).await.map(|_| ())
                                }
                                Err(error) => Err(error),
                            },
                            Ok(None) => Ok(()),
                            Err(error) => Err(error),
                        }
                    }
                };
                if hear.send(lines).is_err() {
                    return;
                }
            }
        });
        Self { address, heard }
    }

    fn server(&self, security: MailSecurity, login: Option<(&str, &str)>) -> MailServer {
        let mut found = CertificateResult::default();
        found.certs.push(CertificateDer::from_pem_file("tests/data/tls/ca.pem").unwrap());
        MailServer {
            host: self.address.ip().to_string(),
            port: self.address.port(),
            security,
            login: login
                .map(|(user, password)| Login { user: user.to_owned(), password: Secret::new(password) }),
            greeting: "fourfold.example".to_owned(),
            trust: Some(trust::trust_in(found).unwrap()),
        }
    }
}

/// Answers until the client goes, or wants to begin TLS.
async fn converse<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: BufReader<S>,
    moods: Moods,
    greets: bool,
    lines: &mut Vec<String>,
) -> std::io::Result<Option<BufReader<S>>> {
    let mood =
        |command: &str| moods.iter().find(|(begin, _)| command.starts_with(begin)).map(|(_, say)| *say);
    if greets {
        let greeting = mood("(greeting)").unwrap_or("220 mail.example.org ESMTP\r\n");
        stream.write_all(greeting.as_bytes()).await?;
    }
    let mut is_mail = false;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let line = line.trim_end_matches("\r\n").to_owned();
        let usual = match (is_mail, line.as_str()) {
            (true, ".") => {
                is_mail = false;
                "250 taken\r\n"
            }
            (true, _) => "",
            (false, "DATA") => "354 go on\r\n",
            (false, "QUIT") => "221 bye\r\n",
            (false, "STARTTLS") => "220 go on\r\n",
            (false, command) if command.starts_with("EHLO ") => {
                "250-mail.example.org\r\n250-STARTTLS\r\n250 AUTH LOGIN PLAIN\r\n"
            }
            (false, command) if command.starts_with("AUTH PLAIN ") => "235 welcome\r\n",
            (false, "AUTH LOGIN" | "YXJlbmE=") => "334 more\r\n", // arena
            (false, "aHVudGVyMg==") => "235 welcome\r\n",         // hunter2
            (false, _) => "250 ok\r\n",
        };
        let begins_mail = !is_mail && line == "DATA";
        let say = if is_mail { usual } else { mood(&line).unwrap_or(usual) };
        lines.push(line.clone());
        stream.write_all(say.as_bytes()).await?;
        stream.flush().await?;
        is_mail |= begins_mail && say.starts_with("354");
        if line == "STARTTLS" && say.starts_with("220") && say.lines().count() == 1 {
            return Ok(Some(stream));
        }
    }
}

/// What came of a mail in the hands of a server with these moods.
async fn outcome(security: MailSecurity, moods: Moods) -> (Result<(), SmtpError>, Vec<String>) {
    let mut office = PostOffice::open(security, moods).await;
    let server = office.server(security, Some(("arena", "hunter2")));
    let outcome = smtp::deliver(&server, &letter()).await;
    (outcome, office.heard.recv().await.unwrap_or_default())
}

/// The mail among all lines, without what ends it.
fn mail_in(lines: &[String]) -> String {
    let start = lines.iter().position(|line| line == "DATA").unwrap() + 1;
    let end = lines.iter().skip(start).position(|line| line == ".").unwrap() + start;
    lines[start..end].join("\r\n")
}

#[tokio::test]
async fn a_mail_is_handed_over_encrypted_after_signing_in() {
    let login = "AUTH PLAIN AGFyZW5hAGh1bnRlcjI=";
    let talk = ["MAIL FROM:<arena@example.org>", "RCPT TO:<ada@example.net>", "DATA"];
    for security in [MailSecurity::Starttls, MailSecurity::Tls, MailSecurity::None] {
        let (outcome, lines) = outcome(security, &[]).await;
        outcome.unwrap();
        let heard: Vec<&str> = lines.iter().map(String::as_str).collect();
        let begin = match security {
            MailSecurity::Starttls => {
                vec!["EHLO fourfold.example", "STARTTLS", "(TLS)", "EHLO fourfold.example"]
            }
            MailSecurity::Tls | MailSecurity::None => vec!["EHLO fourfold.example"],
        };
        let expected = [&begin[..], &[login], &talk].concat();
        assert_eq!(heard[..expected.len()], expected, "{security:?}");
        assert_eq!(heard.last(), Some(&"QUIT"));
        let mail = mail_in(&lines);
        assert_eq!(body_of(&mail), letter().body.replace('\n', "\r\n"));
    }
}

#[tokio::test]
async fn a_server_that_knows_another_way_to_sign_in_gets_that() {
    const WAYS: Moods = &[("EHLO", "250-mail.example.org\r\n250-STARTTLS\r\n250 AUTH CRAM-MD5 LOGIN\r\n")];
    let (outcome, lines) = outcome(MailSecurity::Tls, WAYS).await;
    outcome.unwrap();
    assert_eq!(lines[1..4], ["AUTH LOGIN", "YXJlbmE=", "aHVudGVyMg=="]);
}

#[tokio::test]
async fn nothing_is_said_in_the_clear_that_should_not_be() {
    const NONE: Moods = &[("EHLO", "250 mail.example.org\r\n")];
    const LATER: Moods = &[("STARTTLS", "454 not now\r\n")];
    const EAGER: Moods = &[("STARTTLS", "220 go on\r\n250 AUTH PLAIN\r\n")];
    for moods in [NONE, LATER, EAGER] {
        let (outcome, lines) = outcome(MailSecurity::Starttls, moods).await;
        assert!(outcome.is_err(), "{moods:?}");
        let is_secret = |line: &String| line.starts_with("AUTH") || line.starts_with("MAIL");
        assert!(!lines.iter().any(is_secret), "{moods:?}: {lines:?}");
    }
}

#[tokio::test]
async fn a_server_for_which_nobody_vouches_gets_nothing() {
    let mut office = PostOffice::open(MailSecurity::Tls, &[]).await;
    let server = MailServer { trust: None, ..office.server(MailSecurity::Tls, Some(("arena", "hunter2"))) };
    let error = smtp::deliver(&server, &letter()).await.unwrap_err();
    assert!(matches!(error, SmtpError::Untrusted(_)), "{error}");
    assert_eq!(office.heard.recv().await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn refusals_say_at_which_step_and_whether_it_is_worth_trying_again() {
    for (moods, words, is_final) in [
        (&[("(greeting)", "554 no\r\n")][..], "refuses the greeting: 554 no", false),
        (&[("AUTH", "535 wrong\r\n")], "refuses to let us sign in: 535 wrong", false),
        (&[("MAIL", "550 not you\r\n")], "refuses the sender: 550 not you", false),
        (&[("RCPT", "550-no\r\n550 such box\r\n")], "refuses the recipient: 550 no such box", true),
        (&[("RCPT", "450 later\r\n")], "refuses the recipient: 450 later", false),
        (&[("DATA", "552 full\r\n")], "refuses the mail: 552 full", true),
        (&[("MAIL", "550 \u{1b}[31mred\r\n")], "550 [31mred", false),
    ] {
        let (outcome, _) = outcome(MailSecurity::Tls, moods).await;
        let error = outcome.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.is_final(), is_final, "{error}");
    }
}

#[tokio::test]
async fn what_is_no_smtp_or_has_no_end_is_left_alone() {
    let long: &'static str = format!("220 {}", "x".repeat(100_000)).leak();
    let many: &'static str = "220-more\r\n".repeat(10_000).leak();
    for (greeting, words) in [
        (long, "says a line without end"),
        (many, "answers without end"),
        ("HTTP/1.1 400 Bad Request\r\n", "does not speak SMTP"),
        ("220hello\r\n", "does not speak SMTP"),
        ("22\r\n", "does not speak SMTP"),
    ] {
        let moods: Moods = vec![("(greeting)", greeting)].leak();
        let (outcome, _) = outcome(MailSecurity::None, moods).await;
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_is_waited_for_half_a_minute() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let office = PostOffice { address, heard: mpsc::unbounded_channel().1 };
    let begun = tokio::time::Instant::now();
    let error = smtp::deliver(&office.server(MailSecurity::None, None), &letter()).await.unwrap_err();
    assert!(matches!(error, SmtpError::Timeout), "{error}");
    assert_eq!(begun.elapsed(), Duration::from_secs(30));
}

/// Says what it was asked for.
#[derive(Debug)]
struct Plain;

impl MailWords for Plain {
    fn words(&self, language: &str, occasion: &Occasion) -> Wording {
        let body = match occasion {
            Occasion::Verify { account, link } => format!("verify {account} {}", link.expose()),
            Occasion::Reset { account, link } => format!("reset {account} {}", link.expose()),
            Occasion::Replaced { account, settings } => format!("replaced {account} {settings}"),
            Occasion::Paused { bot, fault, until, page, settings } => {
                format!("paused {bot} {fault} {} {page} {settings}", until.unwrap())
            }
            Occasion::Turn { opponent, left, page, settings } => {
                format!("turn {opponent} {} {page} {settings}", left.as_secs())
            }
            Occasion::Test => "test".to_owned(),
        };
        Wording { subject: language.to_owned(), body }
    }
}

/// What writes mails to this server, in the clear, and tries again at once; and what takes them out of the queue.
pub(crate) fn mailer_to(address: SocketAddr, words: Arc<dyn MailWords>) -> (Mailer, Outgoing) {
    let metrics = Arc::<Metrics>::default();
    Mailer::new(MailDeps {
        server: MailServer {
            host: address.ip().to_string(),
            port: address.port(),
            security: MailSecurity::None,
            login: None,
            greeting: "fourfold.example".to_owned(),
            trust: None,
        },
        from: "arena@fourfold.example".parse().unwrap(),
        site: "https://fourfold.example".parse().unwrap(),
        words,
        shares: Shares::new(ShareSettings::default(), Arc::clone(&metrics)),
        metrics,
        retries: vec![Duration::from_millis(1); RETRIES.len()],
    })
}

/// Ada's, who has the bot `six` and a verified address.
async fn adas_store(notices: bool) -> Arc<MemoryStore> {
    let store = Arc::new(MemoryStore::new());
    add_players(&*store, &["Ada"]).await;
    let six = StoredPlayer { owner: Some(player_id("Ada")), ..player("six", PlayerKind::Bot) };
    let owner = player_id("Ada");
    let link = MailLink {
        owner: owner.clone(),
        purpose: LinkPurpose::Verify,
        digest: [1; 32],
        expires_at: UnixMillis(10),
    };
    store.commit(&[add(six), Write::SetMail(mail(notices)), Write::AddMailLink(link)]).await.unwrap();
    store
}

async fn verify(store: &MemoryStore) {
    store.commit(&[Write::VerifyMail { digest: [1; 32], at: UnixMillis(5) }]).await.unwrap();
}

fn mail(notices: bool) -> StoredMail {
    StoredMail {
        owner: player_id("Ada"),
        address: "ada@example.net".parse().unwrap(),
        language: "de".into(),
        notices,
        since: UnixMillis(0),
        verified_at: None,
    }
}

fn troubles() -> Troubles {
    let trouble = BotTrouble { fault: "time", probing: false, until: Some(UnixMillis(1_700_000_000_000)) };
    let probing = BotTrouble { probing: true, until: None, ..trouble };
    Troubles::of_bots([(player_id("six"), trouble), (player_id("Ada"), probing)])
}

/// Runs it in the background, until the token says so.
fn run(mut actor: MailActor) -> CancellationToken {
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    tokio::spawn(async move { actor.run(&stopped).await.unwrap() });
    stop
}

fn seen(troubles: Troubles) -> MailOccasions {
    MailOccasions { troubles, directory: Directory::default(), sessions: Sessions::new(1), pusher: None }
}

fn ada() -> PlayerName {
    "Ada".parse().unwrap()
}

#[tokio::test]
async fn links_go_to_the_site_of_the_operator_with_the_secret_behind_the_sign() {
    let mut office = PostOffice::open(MailSecurity::None, &[]).await;
    let (mailer, outgoing) = mailer_to(office.address, Arc::new(Plain));
    let stop =
        run(MailActor::new(mailer.clone(), outgoing, adas_store(false).await, seen(Troubles::default())));
    mailer.verify(&mail(false), ada(), &Secret::new("c4m_one")).unwrap();
    mailer.reset(&mail(false), ada(), &Secret::new("c4m_two")).unwrap();
    for said in [
        "verify Ada https://fourfold.example/account/mail#c4m_one",
        "reset Ada https://fourfold.example/account/reset#c4m_two",
    ] {
        assert_eq!(body_of(&mail_in(&office.heard.recv().await.unwrap())), said);
    }
    while mailer.standing().delivered < 2 {
        tokio::task::yield_now().await;
    }
    let MailStanding { waiting, lost, delivered_at, failure, .. } = mailer.standing();
    assert_eq!((waiting, lost, delivered_at.is_some(), failure), (0, 0, true, None));
    stop.cancel();
}

#[tokio::test]
async fn what_is_not_taken_is_tried_again_and_not_for_ever() {
    const BUSY: Moods = &[("RCPT", "451 come again\r\n")];
    const NOBODY: Moods = &[("RCPT", "550 nobody\r\n")];
    for (moods, attempts) in [(BUSY, RETRIES.len() + 1), (NOBODY, 1)] {
        let mut office = PostOffice::open(MailSecurity::None, moods).await;
        let (mailer, outgoing) = mailer_to(office.address, Arc::new(Plain));
        let stop =
            run(MailActor::new(mailer.clone(), outgoing, adas_store(false).await, seen(Troubles::default())));
        mailer.verify(&mail(false), ada(), &Secret::new("c4m_one")).unwrap();
        while mailer.standing().lost == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let MailStanding { waiting, delivered, failure, .. } = mailer.standing();
        assert_eq!((waiting, delivered), (0, 0));
        assert!(failure.unwrap().contains("refuses the recipient"));
        stop.cancel();
        // The server says what it heard when a connection has ended, which may be later.
        for _ in 0..attempts {
            office.heard.recv().await.unwrap();
        }
        assert!(office.heard.try_recv().is_err(), "no more than {attempts}");
    }
}

#[tokio::test]
async fn more_mails_than_may_wait_are_refused_and_counted() {
    let (mailer, _outgoing) = mailer_to("127.0.0.1:9".parse().unwrap(), Arc::new(Plain));
    let post = || mailer.verify(&mail(false), ada(), &Secret::new("c4m_one"));
    for _ in 0..WAITING_MAX {
        post().unwrap();
    }
    assert!(matches!(post(), Err(PostError::Busy)));
    assert_eq!((mailer.standing().waiting, mailer.standing().lost), (WAITING_MAX, 1));
}

#[tokio::test]
async fn an_account_causes_few_mails() {
    let (mailer, _outgoing) = mailer_to("127.0.0.1:9".parse().unwrap(), Arc::new(Plain));
    let allowed = (0..100).take_while(|_| mailer.allow(&player_id("Ada")).is_ok()).count();
    assert_eq!(allowed, 5);
    assert!(mailer.allow(&player_id("Bob")).is_ok());
}

#[tokio::test]
async fn the_owner_of_a_paused_bot_is_written_to_once_if_it_wants_that() {
    for (notices, is_verified, is_told) in [(true, true, true), (false, true, false), (true, false, false)] {
        let mut office = PostOffice::open(MailSecurity::None, &[]).await;
        let (mailer, outgoing) = mailer_to(office.address, Arc::new(Plain));
        let store = adas_store(notices).await;
        if is_verified {
            verify(&store).await;
        }
        let stop = run(MailActor::new(mailer.clone(), outgoing, store, seen(troubles())));
        if is_told {
            let said = body_of(&mail_in(&office.heard.recv().await.unwrap()));
            let until = UnixMillis(1_700_000_000_000);
            let site = "https://fourfold.example";
            assert_eq!(said, format!("paused six time {until} {site}/bot/six {site}/account"));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        stop.cancel();
        assert!(office.heard.try_recv().is_err());
        assert_eq!(mailer.standing().delivered, u64::from(is_told));
    }
}

#[tokio::test]
async fn a_test_says_what_the_server_answers() {
    let office = PostOffice::open(MailSecurity::None, &[]).await;
    let (mailer, _outgoing) = mailer_to(office.address, Arc::new(Plain));
    mailer.test("you@example.org".parse().unwrap()).await.unwrap();
    assert_eq!(mailer.standing().delivered, 1);
    let (mailer, _outgoing) = mailer_to("127.0.0.1:1".parse().unwrap(), Arc::new(Plain));
    let error = mailer.test("you@example.org".parse().unwrap()).await.unwrap_err();
    assert!(matches!(error, SmtpError::Unreachable(_)), "{error}");
    assert!(mailer.standing().failure.unwrap().contains("not reached"));
}

#[tokio::test(start_paused = true)]
async fn whoever_is_to_move_by_correspondence_is_written_to_while_away() {
    let arena = Arena::new().await;
    let players = [arena.person("Ada").await, arena.person("Bob").await];
    for (byte, player) in (1..).zip(&players) {
        let owner = player.identity.id.clone();
        let mail = StoredMail { owner: owner.clone(), ..mail(true) };
        let (purpose, digest) = (LinkPurpose::Verify, [byte; 32]);
        let link = MailLink { owner, purpose, digest, expires_at: UnixMillis(10) };
        let verify = Write::VerifyMail { digest, at: UnixMillis(5) };
        arena.store.commit(&[Write::SetMail(mail), Write::AddMailLink(link), verify]).await.unwrap();
    }
    let (first, second) = (&players[0].identity, &players[1].identity);
    let time = TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(86_400_000) };
    let game = arena.services.host.start(GameOffer { time, ..offer(first, second) }).await.unwrap();
    let (mailer, outgoing) = mailer_to("127.0.0.1:1".parse().unwrap(), Arc::new(Plain));
    let seen = MailOccasions {
        directory: arena.services.directory.clone(),
        sessions: arena.services.sessions.clone(),
        ..seen(Troubles::default())
    };
    let mut actor = MailActor::new(mailer.clone(), outgoing, Arc::clone(&arena.store) as _, seen);
    let mut look = async |after: Duration| {
        tokio::time::sleep(after).await;
        actor.tell_of_turns().await.unwrap();
        mailer.standing().waiting
    };
    assert_eq!(look(Duration::ZERO).await, 0);
    assert_eq!(look(Duration::from_mins(11)).await, 1);
    assert_eq!(look(Duration::from_hours(1)).await, 1, "once");
    let ada = arena.join(&players[0]).await;
    assert_eq!(look(Duration::from_hours(16)).await, 1, "seven hours are left, but Ada is there");
    ada.play(&game, 0, 4).await;
    arena.settle().await;
    assert_eq!(look(Duration::from_mins(11)).await, 2, "now Bob is told");
}

#[tokio::test(start_paused = true)]
async fn whoever_is_shown_a_turn_is_written_to_when_little_time_is_left() {
    let arena = Arena::new().await;
    let [ada, bob] = [arena.person("Ada").await.identity, arena.person("Bob").await.identity];
    let (purpose, digest) = (LinkPurpose::Verify, [1; 32]);
    let link = MailLink { owner: ada.id.clone(), purpose, digest, expires_at: UnixMillis(10) };
    let browser = StoredPush {
        owner: ada.id.clone(),
        endpoint: "https://push.example/1".into(),
        p256dh: String::new(),
        auth: String::new(),
        language: "en".into(),
        since: UnixMillis(1),
    };
    let writes = [
        Write::SetMail(StoredMail { owner: ada.id.clone(), ..mail(true) }),
        Write::AddMailLink(link),
        Write::VerifyMail { digest, at: UnixMillis(5) },
        Write::AddPush(Box::new(browser)),
    ];
    arena.store.commit(&writes).await.unwrap();
    let time = TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(86_400_000) };
    arena.services.host.start(GameOffer { time, ..offer(&ada, &bob) }).await.unwrap();
    let (mailer, outgoing) = mailer_to("127.0.0.1:1".parse().unwrap(), Arc::new(Plain));
    let store = Arc::clone(&arena.store) as Arc<dyn Store>;
    let pusher = pusher_over(Arc::clone(&store), arena.services.writer.clone(), Vec::new());
    let seen = MailOccasions {
        directory: arena.services.directory.clone(),
        sessions: arena.services.sessions.clone(),
        pusher: Some(pusher),
        ..seen(Troubles::default())
    };
    let mut actor = MailActor::new(mailer.clone(), outgoing, store, seen);
    for (after, expected) in [(0, 0), (11, 0), (60, 0), (16 * 60, 1), (60, 1)] {
        tokio::time::sleep(Duration::from_mins(after)).await;
        actor.tell_of_turns().await.unwrap();
        assert_eq!(mailer.standing().waiting, expected, "after {after} minutes more");
    }
}

/// What writes mails in these words, and what of them arrives: to whom, and what is said.
pub(crate) async fn mailer_at_work(
    words: impl MailWords + 'static,
) -> (Mailer, mpsc::UnboundedReceiver<(String, String)>) {
    let (address, told) = post_office().await;
    let (mailer, outgoing) = mailer_to(address, Arc::new(words));
    let store = Arc::new(MemoryStore::new());
    let mut actor = MailActor::new(mailer.clone(), outgoing, store, seen(Troubles::default()));
    tokio::spawn(async move { actor.run(&CancellationToken::new()).await });
    (mailer, told)
}

/// What a server on this machine hears, mail by mail: to whom, and what it says.
pub(crate) async fn post_office() -> (SocketAddr, mpsc::UnboundedReceiver<(String, String)>) {
    let mut office = PostOffice::open(MailSecurity::None, &[]).await;
    let address = office.address;
    let (tell, told) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(lines) = office.heard.recv().await {
            let to = lines.iter().find_map(|line| line.strip_prefix("RCPT TO:<")).unwrap();
            let mail = (to.trim_end_matches('>').to_owned(), body_of(&mail_in(&lines)));
            if tell.send(mail).is_err() {
                return;
            }
        }
    });
    (address, told)
}
