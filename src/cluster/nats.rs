//! The connection to NATS, one for all that a process says and hears.

use std::time::Duration;

use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use percent_encoding::percent_decode_str;
use thiserror::Error;
use tracing::{info, warn};

/// Between two pings: two that are not answered end a connection that is half open.
const PING_EVERY: Duration = Duration::from_secs(1);

/// Why there is no bus.
#[derive(Debug, Error)]
#[error("cluster.bus: {0}")]
pub struct NoBus(String);

/// Connects to one of these servers, now or as soon as one is there.
///
/// # Errors
///
/// A URL is none.
pub(crate) async fn connect(urls: &[String]) -> Result<Client, NoBus> {
    let servers: Vec<ServerAddr> = urls
        .iter()
        .map(|url| url.parse())
        .collect::<Result<_, _>>()
        .map_err(|error: std::io::Error| NoBus(error.to_string()))?;
    let options = match credentials(&servers)? {
        Some((user, Some(password))) => ConnectOptions::with_user_and_password(user, password),
        // As all clients of NATS read such a URL.
        Some((token, None)) => ConnectOptions::with_token(token),
        None => ConnectOptions::new(),
    };
    let options = options
        .name("fourfold")
        .ping_interval(PING_EVERY)
        .retry_on_initial_connect()
        .event_callback(|event| async move { note(&event) });
    options.connect(servers).await.map_err(|error| NoBus(error.to_string()))
}

/// Who this process is to the servers: the library takes that from its options, and not from URLs.
fn credentials(servers: &[ServerAddr]) -> Result<Option<(String, Option<String>)>, NoBus> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let of = |server: &ServerAddr| {
        let user = server.username().map(decoded)?;
        Some((user, server.password().map(decoded)))
    };
    let mut known = servers.iter().filter_map(of);
    let first = known.next();
    if known.any(|other| Some(&other) != first.as_ref()) {
        return Err(NoBus("all its servers take the same user and password".to_owned()));
    }
    Ok(first)
}

/// Says how the bus stands, once for each change.
fn note(event: &Event) {
    match event {
        Event::Connected => info!("the bus is connected"),
        Event::Disconnected => {
            warn!("the bus is lost: it is tried again, and meanwhile nothing waits for it");
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(urls: &[&str]) -> Result<Option<(String, Option<String>)>, String> {
        let servers: Vec<ServerAddr> = urls.iter().map(|url| url.parse().unwrap()).collect();
        credentials(&servers).map_err(|error| error.to_string())
    }

    #[test]
    fn who_one_is_stands_in_the_url() {
        let known = |user: &str, password: &str| Ok(Some((user.to_owned(), Some(password.to_owned()))));
        assert_eq!(of(&["nats://127.0.0.1:4222"]), Ok(None));
        assert_eq!(of(&["tls://arena:a%40b%3A%C3%A9@nats.internal"]), known("arena", "a@b:é"));
        assert_eq!(of(&["tls://token@nats.internal"]), Ok(Some(("token".to_owned(), None))));
        assert_eq!(of(&["tls://a:b@one", "tls://two", "tls://a:b@three"]), known("a", "b"));
        let differ = of(&["tls://a:b@one", "tls://a:c@two"]);
        assert_eq!(differ.unwrap_err(), "cluster.bus: all its servers take the same user and password");
    }
}
