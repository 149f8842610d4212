//! A network of the test's own: the nodes, the database and the bus each in a network namespace, and between them a
//! wire that this process is. Packets of one machine can be lost, in one direction alone, or late; its link can be
//! down.
//!
//! A machine's device is a tunnel (`tun`) whose other end is here: whatever the kernel there sends is read, and written
//! to the device of whom it is for. So the two ends are the kernel's own, with all that it does about losses, and what
//! happens between them needs neither a packet filter nor a queue that not every kernel has.
//!
//! All of it is in a namespace of networks and one of mounts that only this process and its children have: nothing is
//! left of it when they end, and any number of tests run beside each other.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::Ipv4Addr;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rustix::ioctl::{Opcode, Setter, ioctl};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::line::{Cut, Way};

/// Whoever is here has a network of its own.
const INSIDE: &str = "FOURFOLD_TEST_NETWORK";

/// Prepares the namespaces, then becomes the test.
const PREPARE: &str = "\
set -e
mkdir -p /run/netns
mount -t tmpfs none /run/netns
ip link set lo up
exec \"$0\" \"$@\"";

/// Makes devices whose other end a process is.
const TUNNELS: &str = "/dev/net/tun";

/// How Linux names a device that was just opened, `TUNSETIFF`, and what it is to carry: packets, nothing before them.
const NAME_DEVICE: Opcode = 0x4004_54ca;
const PLAIN_PACKETS: i16 = 0x0001 | 0x1000;

/// Longer than any packet of a device with the usual 1,500.
const PACKET_MAX: usize = 2_048;

/// Of a packet that has no port, only addresses: version 4, and where the receiver stands.
const VERSION: u8 = 4;
const RECEIVER: std::ops::Range<usize> = 16..20;

/// Late packets on their way to one machine; what comes on top is lost, as in any queue of a network.
const LATE_MAX: usize = 10_000;

/// A line as one to the other side of the earth, and a bad one: so late is each packet, each way, and one in so many
/// gets lost.
const LATE_BY: Duration = Duration::from_millis(100);
const LOST_ONE_IN: u32 = 20;

/// A machine of the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Machine {
    /// Of players and balancers, which this process is.
    Home,
    Database,
    Bus,
    Node(usize),
}

impl Machine {
    /// Of the range that is kept free for tests of networks (RFC 2544).
    pub(crate) fn address(self) -> Ipv4Addr {
        let number = match self {
            Self::Home => 1,
            Self::Database => 20,
            Self::Bus => 30,
            Self::Node(number) => 10 + u8::try_from(number).expect("few nodes"),
        };
        Ipv4Addr::new(198, 18, 0, number)
    }

    /// What its namespace is called, and its device.
    fn name(self) -> String {
        match self {
            Self::Home => "home".to_owned(),
            Self::Database => "database".to_owned(),
            Self::Bus => "bus".to_owned(),
            Self::Node(number) => format!("node-{number}"),
        }
    }

    /// The words before a command that let it run there.
    pub(crate) fn run_by(self) -> [String; 4] {
        ["ip".to_owned(), "netns".to_owned(), "exec".to_owned(), self.name()]
    }

    /// A command that runs there.
    pub(crate) fn command(self, program: impl AsRef<OsStr>) -> Command {
        let [ip, words @ ..] = self.run_by();
        let mut command = Command::new(ip);
        command.args(words).arg(program);
        command
    }
}

/// What happens to a machine's line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Weather {
    Fair,
    /// Its own kernel knows that there is none.
    LinkDown,
    /// What it sends gets lost, or what is sent to it: `ToServer` is away from it.
    Cut(Cut),
    /// Each packet is late, and some get lost.
    Bad,
}

/// The machines, and the wire between them.
pub(crate) struct Network {
    machines: Arc<[Port]>,
    _tasks: JoinSet<()>,
}

/// Where a machine is connected.
struct Port {
    machine: Machine,
    device: File,
    weather: watch::Sender<Weather>,
    late: mpsc::Sender<(Instant, Vec<u8>)>,
}

/// Runs this test again within a network of its own, and gives its exit code; none where that cannot be had, which is
/// said. It is no failure even where servers are required: whoever runs tests need not be root.
pub(crate) fn enter(arguments: impl IntoIterator<Item = String>) -> Option<i32> {
    let missing = ["ip", "unshare", "mount"].into_iter().find(|program| !is_installed(program));
    let why = match missing {
        _ if !rustix::process::geteuid().is_root() => Some("root is needed to make them".to_owned()),
        Some(program) => Some(format!("`{program}` is not installed (Debian: apt-get install iproute2)")),
        None => File::open(TUNNELS).err().map(|error| format!("{TUNNELS}: {error}")),
    };
    if let Some(why) = why {
        println!("left out, a network of the test's own: {why}");
        return None;
    }
    let own = std::env::current_exe().expect("a program knows where it is");
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount", "sh", "-c", PREPARE]).arg(own).args(arguments).env(INSIDE, "1");
    let status = command.status().expect("it is installed");
    Some(status.code().unwrap_or(1))
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).exists())
}

/// Whether this process has a network of its own.
pub(crate) fn is_entered() -> bool {
    std::env::var_os(INSIDE).is_some()
}

impl Network {
    /// Lays the wire between so many nodes and what they need. Chance decides which packets get lost.
    pub(crate) fn lay(nodes: usize, seed: u64) -> Self {
        let fixed = [Machine::Home, Machine::Database, Machine::Bus];
        let all = fixed.into_iter().chain((0..nodes).map(Machine::Node));
        let (machines, queues): (Vec<Port>, Vec<_>) = all.map(Port::open).unzip();
        let machines: Arc<[Port]> = machines.into();
        let mut tasks = JoinSet::new();
        let lots = Arc::new(Mutex::new(ChaCha8Rng::seed_from_u64(seed)));
        for (port, late) in queues.into_iter().enumerate() {
            let (all, own_lots) = (Arc::clone(&machines), Arc::clone(&lots));
            // It waits for its device as long as the process lives.
            thread::spawn(move || carry(&all, port, &own_lots));
            tasks.spawn(deliver_late(Arc::clone(&machines), port, late));
        }
        Self { machines, _tasks: tasks }
    }

    /// What happens to a machine's line from now on.
    pub(crate) fn befall(&self, machine: Machine, weather: Weather) {
        let port = self.machines.iter().find(|port| port.machine == machine).expect("it is connected");
        let before = port.weather.send_replace(weather);
        let link = |state| ip(&["-n", &machine.name(), "link", "set", &machine.name(), state]);
        match (before, weather) {
            (_, Weather::LinkDown) => link("down"),
            (Weather::LinkDown, _) => link("up"),
            _ => {}
        }
    }
}

impl Port {
    /// Makes a machine, with its end of the wire; and what will be late for it.
    fn open(machine: Machine) -> (Self, mpsc::Receiver<(Instant, Vec<u8>)>) {
        let name = machine.name();
        let device = tunnel(&name).unwrap_or_else(|error| panic!("a device {name}: {error}"));
        let address = format!("{}/24", machine.address());
        if machine == Machine::Home {
            ip(&["address", "add", &address, "dev", &name]);
            ip(&["link", "set", &name, "up"]);
        } else {
            ip(&["netns", "add", &name]);
            ip(&["link", "set", &name, "netns", &name]);
            ip(&["-n", &name, "address", "add", &address, "dev", &name]);
            ip(&["-n", &name, "link", "set", &name, "up"]);
            ip(&["-n", &name, "link", "set", "lo", "up"]);
        }
        let (late, queue) = mpsc::channel(LATE_MAX);
        (Self { machine, device, weather: watch::Sender::new(Weather::Fair), late }, queue)
    }

    /// A machine whose queue is full, or whose link is down, misses it.
    fn write(&self, packet: &[u8]) {
        let _ = (&self.device).write(packet);
    }

    fn weather(&self) -> Weather {
        *self.weather.borrow()
    }
}

impl Weather {
    /// How late a packet is that goes this way, seen from the machine; none if it gets lost.
    fn delay(self, way: Way, lots: &Mutex<ChaCha8Rng>) -> Option<Duration> {
        let is_lost = match self {
            Self::Fair => false,
            Self::LinkDown => true,
            Self::Cut(cut) => cut.stops(way),
            Self::Bad => {
                let mut lots = lots.lock().expect("nobody panics with it");
                lots.random_ratio(1, LOST_ONE_IN)
            }
        };
        let late = if self == Self::Bad { LATE_BY } else { Duration::ZERO };
        (!is_lost).then_some(late)
    }
}

/// Carries on what one machine sends.
fn carry(machines: &[Port], from: usize, lots: &Mutex<ChaCha8Rng>) {
    let mut packet = [0; PACKET_MAX];
    let sender = &machines[from];
    while let Ok(length) = (&sender.device).read(&mut packet) {
        let packet = &packet[..length];
        let Some(receiver) = receiver(packet) else { continue };
        let Some(to) = machines.iter().find(|port| port.machine.address() == receiver) else { continue };
        let Some(at_first) = sender.weather().delay(Way::ToServer, lots) else { continue };
        let Some(at_last) = to.weather().delay(Way::FromServer, lots) else { continue };
        match at_first + at_last {
            Duration::ZERO => to.write(packet),
            late => drop(to.late.try_send((Instant::now() + late, packet.to_vec()))),
        }
    }
}

/// One machine at a time has bad weather, so that what was sent first is due first.
async fn deliver_late(machines: Arc<[Port]>, to: usize, mut late: mpsc::Receiver<(Instant, Vec<u8>)>) {
    while let Some((due, packet)) = late.recv().await {
        sleep_until(due).await;
        machines[to].write(&packet);
    }
}

/// Who a packet is for, if it is one of ours.
fn receiver(packet: &[u8]) -> Option<Ipv4Addr> {
    let is_known = packet.first()? >> 4 == VERSION;
    let address: [u8; 4] = packet.get(RECEIVER)?.try_into().ok()?;
    is_known.then(|| address.into())
}

/// What the kernel is told of a device, as its `struct ifreq` is.
#[repr(C)]
struct DeviceRequest {
    name: [u8; 16],
    flags: i16,
    rest: [u8; 22],
}

/// A new device, and our end of it.
#[expect(unsafe_code, reason = "a device is named by one call of the system that nothing safe wraps")]
fn tunnel(name: &str) -> io::Result<File> {
    let device = File::options().read(true).write(true).open(TUNNELS)?;
    let mut request = DeviceRequest { name: [0; 16], flags: PLAIN_PACKETS, rest: [0; 22] };
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    // SAFETY: this call takes a `struct ifreq`, of which it reads the name and the flags.
    unsafe { ioctl(&device, Setter::<NAME_DEVICE, DeviceRequest>::new(request)) }?;
    Ok(device)
}

fn ip(words: &[&str]) {
    let status = Command::new("ip").args(words).status().expect("it is installed");
    assert!(status.success(), "ip {}: {status}", words.join(" "));
}
