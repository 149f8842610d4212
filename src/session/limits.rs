//! How long and how much a connection may take: every limit of the transport, in one place.

use std::time::Duration;

/// The limits of listener and sockets. `Default` is what the daemon runs with unless it is configured otherwise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransportLimits {
    /// From the connection to its first byte. A peer that connects to speak does so at once.
    pub first_byte: Duration,
    /// From a request's first byte to the end of its header.
    pub header: Duration,
    /// From the end of the header to the end of the body. Bodies are forms and small JSON.
    pub body: Duration,
    /// Between two requests on one connection. Longer than the usual reverse proxy keeps an idle one, so that it
    /// rarely sends a request into a closing connection.
    pub idle: Duration,
    /// How long the peer may refuse to take any byte of a response.
    pub write_stall: Duration,
    /// Request line and headers together, in bytes.
    pub header_bytes: usize,
    /// Header fields of one request.
    pub headers: usize,
    /// Connections at once; `None` for as many as the process may open files, less a reserve.
    pub connections: Option<usize>,
    /// Connections at once from one IPv4 address or one IPv6 /64.
    pub per_address: usize,
    /// Whether `per_address` holds for loopback too. Off: bots of one machine are many.
    pub caps_loopback: bool,
    /// How long open requests and closing sockets may take after the stop signal.
    pub stop: Duration,
    /// From the upgrade to `hello`.
    pub hello: Duration,
    /// Between two pings of the server.
    pub heartbeat: Duration,
    /// Client messages in `messages_period`.
    pub messages: u32,
    pub messages_period: Duration,
    /// From our close frame to the end of the TCP connection.
    pub closing: Duration,
}

impl Default for TransportLimits {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_secs(5),
            header: Duration::from_secs(5),
            body: Duration::from_secs(10),
            idle: Duration::from_mins(1),
            write_stall: Duration::from_secs(30),
            header_bytes: 16 * 1024,
            headers: 64,
            connections: None,
            per_address: 64,
            caps_loopback: false,
            stop: Duration::from_secs(5),
            hello: Duration::from_secs(5),
            heartbeat: Duration::from_secs(10),
            messages: 100,
            messages_period: Duration::from_secs(20),
            closing: Duration::from_secs(2),
        }
    }
}
