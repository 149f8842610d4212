//! Hands one mail to a mail server: SMTP (RFC 5321) as far as a program needs it that only sends.
//!
//! A server is believed no more than it must be: lines and answers have a length, everything has a time, what it says
//! before TLS is forgotten, and a password is not said in the clear.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use super::letter::Letter;
use crate::model::secret::Secret;
use crate::system::config::MailSecurity;
use crate::system::trust;

/// How long it may take from the look-up of the host until the mail is taken. RFC 5321 would wait for minutes; whoever
/// waits for a link would not.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of one line of an answer: RFC 5321 allows 512, some servers take more.
const LINE_BYTES_MAX: usize = 1_024;

/// Lines of one answer: each is something that a server can do.
const LINES_MAX: usize = 64;

/// Characters of an answer that are kept for operators to read.
const WORDS_MAX: usize = 160;

/// The server that takes mails.
#[derive(Clone, Debug)]
pub(crate) struct MailServer {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) security: MailSecurity,
    pub(crate) login: Option<Login>,
    /// As what we greet it: the name of our site.
    pub(crate) greeting: String,
    /// Who vouches for it, where that is not the system's business.
    pub(crate) trust: Option<Arc<ClientConfig>>,
}

/// As whom the server knows us.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: Secret,
}

/// Why a mail was not taken.
#[derive(Debug, Error)]
pub(crate) enum SmtpError {
    /// Nobody took the connection, or it broke.
    #[error("the mail server is not reached: {0}")]
    Unreachable(#[from] io::Error),
    /// Nobody vouches that it is the server.
    #[error("the mail server is not trusted: {0}")]
    Untrusted(String),
    /// It took too long.
    #[error("the mail server took too long")]
    Timeout,
    /// What it says is not SMTP, or not as much of it as is needed.
    #[error("the mail server {0}")]
    Unsuitable(&'static str),
    /// It refuses.
    #[error("the mail server refuses {step}: {code} {words}")]
    Refused { step: &'static str, code: u16, words: String },
}

impl SmtpError {
    /// Whether the same mail would be refused again, whenever it comes.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::Refused { step: RECIPIENT | CONTENT, code: 500..=599, .. })
    }
}

const GREETING: &str = "the greeting";
const SIGN_IN: &str = "to let us sign in";
const SENDER: &str = "the sender";
const RECIPIENT: &str = "the recipient";
const CONTENT: &str = "the mail";

/// Hands a mail over, and returns when the server has taken it.
///
/// # Errors
///
/// It was not taken; or nobody knows, when the line broke at the wrong moment.
pub(super) async fn deliver(server: &MailServer, letter: &Letter) -> Result<(), SmtpError> {
    match tokio::time::timeout(DELIVERY_TIMEOUT, connect_and_deliver(server, letter)).await {
        Ok(outcome) => outcome,
        Err(_) => Err(SmtpError::Timeout),
    }
}

async fn connect_and_deliver(server: &MailServer, letter: &Letter) -> Result<(), SmtpError> {
    let stream = TcpStream::connect((server.host.as_str(), server.port)).await?;
    match server.security {
        MailSecurity::None => {
            let mut talk = Talk::new(stream);
            talk.expect(GREETING, 220).await?;
            talk.send_mail(server, letter).await
        }
        MailSecurity::Tls => {
            let mut talk = Talk::new(encrypted(server, stream).await?);
            talk.expect(GREETING, 220).await?;
            talk.send_mail(server, letter).await
        }
        MailSecurity::Starttls => {
            let mut talk = Talk::new(stream);
            talk.expect(GREETING, 220).await?;
            let abilities = talk.greet(server).await?;
            if !abilities.has("STARTTLS") {
                return Err(SmtpError::Unsuitable("does not offer STARTTLS"));
            }
            talk.command("STARTTLS", "STARTTLS", 220).await?;
            // What stands there already was put there by somebody on the way, to be taken for an answer over TLS.
            if !talk.buffer.is_empty() {
                return Err(SmtpError::Unsuitable("says something before TLS begins"));
            }
            let mut talk = Talk::new(encrypted(server, talk.stream).await?);
            talk.send_mail(server, letter).await
        }
    }
}

async fn encrypted(server: &MailServer, stream: TcpStream) -> Result<TlsStream<TcpStream>, SmtpError> {
    let trusted = match &server.trust {
        Some(trusted) => Arc::clone(trusted),
        None => trust::of_the_system().map_err(SmtpError::Untrusted)?,
    };
    let name = ServerName::try_from(server.host.clone());
    let name = name.map_err(|_| SmtpError::Untrusted("its name is none of a certificate".to_owned()))?;
    let connected = TlsConnector::from(trusted).connect(name, stream).await;
    connected.map_err(|error| SmtpError::Untrusted(error.to_string()))
}

/// What a server says that it can do.
struct Abilities(Vec<String>);

impl Abilities {
    fn has(&self, ability: &str) -> bool {
        self.0.iter().any(|line| first_word(line).eq_ignore_ascii_case(ability))
    }

    /// Whether one can sign in there in this way.
    fn signs_in_by(&self, way: &str) -> bool {
        let mut ways = self.0.iter().filter(|line| first_word(line).eq_ignore_ascii_case("AUTH"));
        ways.any(|line| line.split_ascii_whitespace().skip(1).any(|other| other.eq_ignore_ascii_case(way)))
    }
}

fn first_word(line: &str) -> &str {
    line.split_ascii_whitespace().next().unwrap_or("")
}

/// A conversation, with what was read of it and is not looked at yet.
struct Talk<S> {
    stream: S,
    buffer: Vec<u8>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Talk<S> {
    fn new(stream: S) -> Self {
        Self { stream, buffer: Vec::new() }
    }

    async fn greet(&mut self, server: &MailServer) -> Result<Abilities, SmtpError> {
        self.command(GREETING, &format!("EHLO {}", server.greeting), 250).await.map(Abilities)
    }

    async fn send_mail(&mut self, server: &MailServer, letter: &Letter) -> Result<(), SmtpError> {
        let abilities = self.greet(server).await?;
        if let Some(login) = &server.login {
            self.sign_in(login, &abilities).await?;
        }
        self.command(SENDER, &format!("MAIL FROM:<{}>", letter.from), 250).await?;
        self.command(RECIPIENT, &format!("RCPT TO:<{}>", letter.to), 250).await?;
        self.command(CONTENT, "DATA", 354).await?;
        let text = format!("{}\r\n.", stuffed(&letter.text()));
        self.command(CONTENT, &text, 250).await?;
        // It has the mail, whatever it answers now.
        let _ = self.say("QUIT").await;
        Ok(())
    }

    async fn sign_in(&mut self, login: &Login, abilities: &Abilities) -> Result<(), SmtpError> {
        let Login { user, password } = login;
        if abilities.signs_in_by("PLAIN") {
            let both = STANDARD.encode(format!("\0{user}\0{}", password.expose()));
            self.command(SIGN_IN, &format!("AUTH PLAIN {both}"), 235).await?;
        } else if abilities.signs_in_by("LOGIN") {
            self.command(SIGN_IN, "AUTH LOGIN", 334).await?;
            self.command(SIGN_IN, &STANDARD.encode(user), 334).await?;
            self.command(SIGN_IN, &STANDARD.encode(password.expose()), 235).await?;
        } else {
            return Err(SmtpError::Unsuitable("lets nobody sign in by PLAIN or LOGIN"));
        }
        Ok(())
    }

    /// Says something, and waits for the one answer that goes on. What comes back are its lines.
    async fn command(
        &mut self,
        step: &'static str,
        words: &str,
        wanted: u16,
    ) -> Result<Vec<String>, SmtpError> {
        self.say(words).await?;
        self.expect(step, wanted).await
    }

    async fn say(&mut self, words: &str) -> Result<(), SmtpError> {
        self.stream.write_all(words.as_bytes()).await?;
        self.stream.write_all(b"\r\n").await?;
        Ok(self.stream.flush().await?)
    }

    async fn expect(&mut self, step: &'static str, wanted: u16) -> Result<Vec<String>, SmtpError> {
        let (code, lines) = self.answer().await?;
        if code == wanted {
            return Ok(lines);
        }
        let is_word = |letter: &char| letter.is_ascii_graphic() || *letter == ' ';
        let words = lines.join(" ").chars().filter(is_word).take(WORDS_MAX).collect();
        Err(SmtpError::Refused { step, code, words })
    }

    /// One answer: its code, and its lines without it.
    async fn answer(&mut self) -> Result<(u16, Vec<String>), SmtpError> {
        let no_smtp = || SmtpError::Unsuitable("does not speak SMTP");
        let mut lines = Vec::new();
        while lines.len() < LINES_MAX {
            let line = self.line().await?;
            let (code, rest) = line.split_at_checked(3).ok_or_else(no_smtp)?;
            let code = code.parse().map_err(|_| no_smtp())?;
            let mut rest = rest.chars();
            let after_code = rest.next();
            lines.push(rest.as_str().to_owned());
            match after_code {
                None | Some(' ') => return Ok((code, lines)),
                Some('-') => {}
                Some(_) => return Err(no_smtp()),
            }
        }
        Err(SmtpError::Unsuitable("answers without end"))
    }

    async fn line(&mut self) -> Result<String, SmtpError> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            if self.buffer.len() > LINE_BYTES_MAX {
                return Err(SmtpError::Unsuitable("says a line without end"));
            }
            let mut bytes = [0; LINE_BYTES_MAX];
            let read = self.stream.read(&mut bytes).await?;
            if read == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            self.buffer.extend_from_slice(&bytes[..read]);
        }
    }
}

/// A mail as it is said: a line that begins with a full stop gets another one, for one alone would end the mail.
fn stuffed(text: &str) -> String {
    let stuffed = text.split("\r\n").map(|line| {
        let stop = if line.starts_with('.') { "." } else { "" };
        format!("{stop}{line}")
    });
    stuffed.collect::<Vec<_>>().join("\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_mail_does_not_end_it() {
        assert_eq!(stuffed("a\r\n.\r\n.b\r\nc.\r\n"), "a\r\n..\r\n..b\r\nc.\r\n");
        assert_eq!(stuffed(".\r\n"), "..\r\n");
    }

    #[test]
    fn what_a_server_can_do_is_read_without_regard_to_case() {
        let abilities =
            Abilities(["mail.example.org", "starttls", "auth plain Login"].map(String::from).into());
        assert!(
            abilities.has("STARTTLS") && abilities.signs_in_by("PLAIN") && abilities.signs_in_by("LOGIN")
        );
        assert!(!abilities.has("PLAIN") && !abilities.signs_in_by("AUTH") && !abilities.has("MAIL"));
    }
}
