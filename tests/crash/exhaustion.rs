//! The daemon may open few files, and more connections come than that: games go on, nothing spins, and it recovers.

use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::daemon::{Daemon, SETTINGS};

/// Files that the daemon may open: what it needs itself, and fewer connections than it would take.
const FILES: u32 = 64;
/// More connections than that.
const CONNECTIONS: usize = 400;
/// How long it is watched while it is full.
const WATCHED: Duration = Duration::from_secs(2);
/// Part of a processor that it may use meanwhile: a loop that spins uses all of one.
const BUSY_MAX: f64 = 0.5;
/// How long it may take until everybody is served again, on a busy machine.
const RECOVERY_MAX: Duration = Duration::from_secs(30);

/// Fills the daemon up and empties it; gives figures and faults.
pub(crate) async fn run(directory: &Path) -> (String, Vec<String>) {
    let daemon = Daemon::start_with_files(directory, SETTINGS, FILES);
    let address = daemon.address();
    // One connection that speaks before the crowd comes, and goes on speaking.
    let mut held = daemon.ask_on(None).await.expect("it is served");
    let crowd: Vec<TcpStream> = (0..CONNECTIONS).filter_map(|_| TcpStream::connect(address).ok()).collect();
    let (before, began) = (daemon.processor_time(), Instant::now());
    tokio::time::sleep(WATCHED).await;
    let busy = daemon.processor_time().saturating_sub(before).as_secs_f64() / began.elapsed().as_secs_f64();
    let mut faults = Vec::new();
    if busy > BUSY_MAX {
        faults.push(format!("{busy:.2} of a processor were used while no file was left"));
    }
    match daemon.ask_on(Some(held)).await {
        Ok(stream) => held = stream,
        Err(error) => {
            faults.push(format!("an open connection was not served while no file was left: {error}"));
            return (String::new(), faults);
        }
    }
    drop(crowd);
    let began = Instant::now();
    while daemon.ask_on(None).await.is_err() {
        if began.elapsed() > RECOVERY_MAX {
            faults.push("nobody new is served after all others have left".to_owned());
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drop(held);
    daemon.stop();
    let figures = format!(
        "{CONNECTIONS} connections to {FILES} files: {:.1} % of a processor, served again after {} ms",
        busy * 100.0,
        began.elapsed().as_millis(),
    );
    (figures, faults)
}
