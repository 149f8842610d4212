//! The PROXY protocol, version 2: how a balancer that passes bytes on says whose they are (proxy-protocol.txt of
//! haproxy.org).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::timeout;

use crate::model::signing::{Purpose, Signer};

/// What a header begins with.
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";

/// Signature, version and command, family and protocol, length.
const FIXED_BYTES: usize = 16;

/// Longest rest of a header that is read. Addresses take 36 bytes at most, what balancers add some hundreds.
const REST_BYTES_MAX: usize = 4 * 1024;

/// Type and length of the field in which a node shows that it has the cluster's key: the first of those that are
/// nobody's, and 32 bytes.
const SEAL: [u8; 3] = [0xe0, 0, 32];

/// How long a balancer may take to say it: it does so before it passes anything on.
const HEADER_MAX: Duration = Duration::from_secs(5);

/// Why the beginning of a connection is no such header.
#[derive(Debug, Error)]
pub(super) enum BadHeader {
    #[error("it does not begin with a header of the PROXY protocol, version 2")]
    Signature,
    #[error("version and command are {0:#04x}, not 0x20 or 0x21")]
    Command(u8),
    #[error("family and protocol are {0:#04x}, not TCP over IPv4 or IPv6")]
    Family(u8),
    #[error("{0} bytes of addresses are too few or too many")]
    Length(usize),
    #[error("it has no seal of this cluster's key")]
    Unsealed,
    #[error("it did not come within {} s", HEADER_MAX.as_secs())]
    Late,
    #[error("it could not be read: {0}")]
    Broken(#[from] io::Error),
}

/// Of whom a header speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Spoken {
    /// The balancer itself, which looks whether we live.
    Itself,
    /// A client over IPv4; its address takes so many bytes with ours.
    V4,
    /// The same over IPv6.
    V6,
}

impl Spoken {
    fn of([.., command, family, _, _]: [u8; FIXED_BYTES]) -> Result<Self, BadHeader> {
        match (command, family) {
            // An unknown family is that of a connection whose ends have no addresses: the balancer's own.
            (0x20, _) | (0x21, 0x00) => Ok(Self::Itself),
            (0x21, 0x11) => Ok(Self::V4),
            (0x21, 0x21) => Ok(Self::V6),
            (0x21, other) => Err(BadHeader::Family(other)),
            (other, _) => Err(BadHeader::Command(other)),
        }
    }

    /// Bytes of both addresses and both ports.
    fn bytes_min(self) -> usize {
        match self {
            Self::Itself => 0,
            Self::V4 => 12,
            Self::V6 => 36,
        }
    }
}

/// Reads the header, and nothing after it. `None` if the balancer speaks for itself.
///
/// # Errors
///
/// Says what is wrong. The connection is to be closed: whatever follows, nobody knows whose it is.
pub(super) async fn client_of<S>(stream: &mut S) -> Result<Option<SocketAddr>, BadHeader>
where
    S: AsyncRead + Unpin,
{
    timeout(HEADER_MAX, read(stream)).await.unwrap_or(Err(BadHeader::Late))
}

/// What another node has for this one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FromNode {
    /// The connection of a client who has this address.
    Client(SocketAddr),
    /// A [link](super::link) that will carry many.
    Link,
}

/// The same from another node, which shows that it has the cluster's key.
///
/// # Errors
///
/// As before.
pub(super) async fn from_node<S>(stream: &mut S, signer: &Signer) -> Result<FromNode, BadHeader>
where
    S: AsyncRead + Unpin,
{
    let header = timeout(HEADER_MAX, read_header(stream)).await.unwrap_or(Err(BadHeader::Late))?;
    let Header { spoken, rest } = header;
    let (purpose, said) = match client_in(spoken, &rest) {
        Some(client) => (Purpose::Relay, FromNode::Client(client)),
        None => (Purpose::Link, FromNode::Link),
    };
    let (addresses, more) = rest.split_at_checked(spoken.bytes_min()).ok_or(BadHeader::Unsealed)?;
    let seal = more.strip_prefix(&SEAL).ok_or(BadHeader::Unsealed)?;
    if signer.is_sealed(purpose, addresses, seal) { Ok(said) } else { Err(BadHeader::Unsealed) }
}

/// What a node says before it carries the connections of many: a header of its own, sealed.
pub(super) fn header_of_link(signer: &Signer) -> Vec<u8> {
    let rest = [&SEAL[..], &signer.seal(Purpose::Link, &[])].concat();
    let length = u16::try_from(rest.len()).unwrap_or(u16::MAX).to_be_bytes();
    [&SIGNATURE[..], &[0x20, 0x00], &length, &rest].concat()
}

/// What a node says before it passes a connection on: whose it is, sealed.
pub(super) fn header_of_node(client: SocketAddr, signer: &Signer) -> Vec<u8> {
    let (family, address) = match client.ip() {
        IpAddr::V4(ip) => (0x11, ip.octets().to_vec()),
        IpAddr::V6(ip) => (0x21, ip.octets().to_vec()),
    };
    // Where the connection was meant to go nobody asks.
    let nowhere = vec![0; address.len()];
    let ports = [client.port().to_be_bytes(), [0, 0]].concat();
    let addresses = [address, nowhere, ports].concat();
    let rest = [&addresses[..], &SEAL, &signer.seal(Purpose::Relay, &addresses)].concat();
    let length = u16::try_from(rest.len()).unwrap_or(u16::MAX).to_be_bytes();
    [&SIGNATURE[..], &[0x21, family], &length, &rest].concat()
}

async fn read<S>(stream: &mut S) -> Result<Option<SocketAddr>, BadHeader>
where
    S: AsyncRead + Unpin,
{
    let Header { spoken, rest } = read_header(stream).await?;
    Ok(client_in(spoken, &rest))
}

/// A header as it was read.
struct Header {
    spoken: Spoken,
    /// At least as many bytes as its family needs.
    rest: Vec<u8>,
}

async fn read_header<S>(stream: &mut S) -> Result<Header, BadHeader>
where
    S: AsyncRead + Unpin,
{
    let mut fixed = [0; FIXED_BYTES];
    stream.read_exact(&mut fixed).await?;
    if fixed[..SIGNATURE.len()] != SIGNATURE {
        return Err(BadHeader::Signature);
    }
    let spoken = Spoken::of(fixed)?;
    let length = usize::from(u16::from_be_bytes([fixed[14], fixed[15]]));
    if !(spoken.bytes_min()..=REST_BYTES_MAX).contains(&length) {
        return Err(BadHeader::Length(length));
    }
    let mut rest = vec![0; length];
    stream.read_exact(&mut rest).await?;
    Ok(Header { spoken, rest })
}

/// The source's address and port; `rest` has at least as many bytes as the family needs.
fn client_in(spoken: Spoken, rest: &[u8]) -> Option<SocketAddr> {
    let (address, ports) = match spoken {
        Spoken::Itself => return None,
        Spoken::V4 => (IpAddr::from(<[u8; 4]>::try_from(rest.get(..4)?).ok()?), rest.get(8..10)?),
        Spoken::V6 => (IpAddr::from(<[u8; 16]>::try_from(rest.get(..16)?).ok()?), rest.get(32..34)?),
    };
    Some(SocketAddr::new(address.to_canonical(), u16::from_be_bytes(ports.try_into().ok()?)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
        [&SIGNATURE[..], &[command, family], &length, rest].concat()
    }

    fn v4() -> Vec<u8> {
        vec![203, 0, 113, 9, 10, 0, 0, 1, 0xd4, 0x31, 0x01, 0xbb]
    }

    /// What is read, and what is left to be read of the connection.
    async fn heard(bytes: &[u8]) -> (Result<Option<SocketAddr>, String>, Vec<u8>) {
        let mut stream = bytes;
        let client = client_of(&mut stream).await.map_err(|bad| bad.to_string());
        (client, stream.to_vec())
    }

    #[tokio::test]
    async fn the_client_is_who_the_balancer_says_and_what_follows_is_left() {
        let v6 = [
            "2001:db8::7".parse::<std::net::Ipv6Addr>().unwrap().octets().as_slice(),
            &[0; 16],
            &[0xd4, 0x31, 0x01, 0xbb],
        ]
        .concat();
        let with_more = [v4(), vec![3, 0, 4, 1, 2, 3, 4]].concat();
        for (bytes, expected) in [
            (header(0x21, 0x11, &v4()), Some("203.0.113.9:54321")),
            (header(0x21, 0x11, &with_more), Some("203.0.113.9:54321")),
            (header(0x21, 0x21, &v6), Some("[2001:db8::7]:54321")),
            (header(0x20, 0x00, &[]), None),
            (header(0x20, 0x11, &v4()), None),
            (header(0x21, 0x00, &[]), None),
        ] {
            let sent = [&bytes[..], b"GET /"].concat();
            let expected = expected.map(|client| client.parse().unwrap());
            assert_eq!(heard(&sent).await, (Ok(expected), b"GET /".to_vec()), "{bytes:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_no_header_is_refused_with_the_reason() {
        let check = async |bytes: &[u8], expected: &str| {
            let refused = heard(bytes).await.0.unwrap_err();
            assert!(refused.contains(expected), "{refused}");
        };
        check(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "does not begin").await;
        check(b"PROXY TCP4 203.0.113.9 10.0.0.1 5 443\r\n", "does not begin").await;
        check(&header(0x11, 0x11, &v4()), "0x11").await;
        check(&header(0x22, 0x11, &v4()), "0x22").await;
        check(&header(0x21, 0x12, &v4()), "0x12").await;
        check(&header(0x21, 0x31, &[0; 216]), "0x31").await;
        check(&header(0x21, 0x11, &v4()[..11]), "11 bytes").await;
        check(&header(0x21, 0x21, &v4()), "12 bytes").await;
        check(&header(0x21, 0x11, &[0; 4_097]), "4097 bytes").await;
        check(&header(0x21, 0x11, &v4())[..20], "could not be read").await;
        let (mut stream, _silent) = tokio::io::duplex(64);
        assert!(matches!(client_of(&mut stream).await, Err(BadHeader::Late)));
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80), is_signed: bool) {
            let bytes = if is_signed { [&SIGNATURE[..], &bytes].concat() } else { bytes };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            let _either = runtime.block_on(heard(&bytes));
        }
    }

    fn signer(key: u8) -> Signer {
        Signer::new(&[key; 32])
    }

    async fn heard_of_node(bytes: &[u8]) -> (Result<FromNode, String>, Vec<u8>) {
        let mut stream = bytes;
        let said = from_node(&mut stream, &signer(7)).await.map_err(|bad| bad.to_string());
        (said, stream.to_vec())
    }

    #[tokio::test]
    async fn a_node_says_whose_a_connection_is_and_what_follows_is_left() {
        for client in ["203.0.113.9:54321", "[2001:db8::7]:1", "0.0.0.0:0"] {
            let client: SocketAddr = client.parse().unwrap();
            let bytes = [header_of_node(client, &signer(7)), b"GET /".to_vec()].concat();
            assert_eq!(heard_of_node(&bytes).await, (Ok(FromNode::Client(client)), b"GET /".to_vec()));
            // To those who ask for no seal it is a header like others.
            assert_eq!(heard(&bytes).await.0, Ok(Some(client)));
        }
        let link = [header_of_link(&signer(7)), b"PRI * HTTP/2.0".to_vec()].concat();
        assert_eq!(heard_of_node(&link).await, (Ok(FromNode::Link), b"PRI * HTTP/2.0".to_vec()));
    }

    #[tokio::test]
    async fn who_has_not_the_cluster_s_key_is_no_node() {
        let client = "203.0.113.9:54321".parse().unwrap();
        let sealed = [header_of_node(client, &signer(7)), header_of_link(&signer(7))];
        let unsealed = [
            header(0x21, 0x11, &v4()),
            header(0x20, 0, &[]),
            header_of_node(client, &signer(8)),
            header_of_link(&signer(8)),
        ];
        let changed = sealed.iter().flat_map(|sealed| {
            (FIXED_BYTES..sealed.len()).map(|at| {
                let mut bytes = sealed.clone();
                bytes[at] ^= 1;
                bytes
            })
        });
        for bytes in unsealed.into_iter().chain(changed) {
            let (refused, _) = heard_of_node(&bytes).await;
            assert_eq!(refused, Err(BadHeader::Unsealed.to_string()), "{bytes:?}");
        }
    }
}
