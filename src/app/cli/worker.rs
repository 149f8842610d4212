//! `fourfold worker`: thinks for the bots of the house of a cluster, and does nothing else.

use std::num::NonZeroUsize;

use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::analysis::compute::ComputePool;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::runtime;
use crate::app::terminal::signals::{SignalHeard, Signals};
use crate::cluster::nats;
use crate::cluster::thinking::Thinkers;
use crate::play::elsewhere;
use crate::system::config::{BusUrls, LogConfig, LogFilter, NodeName};
use crate::system::part::Part;
use crate::system::supervision::Supervision;
use crate::system::tasks::Tasks;
use crate::system::telemetry;

/// Think for the bots of the house of a cluster, on any machine that reaches its bus.
///
/// It keeps nothing and needs no database: whatever it is asked, the nodes think for themselves when it is gone.
/// SIGTERM or Ctrl-C ends it after the moves in hand.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold worker --cluster nats://127.0.0.1:4222
  fourfold worker --cluster tls://worker:SECRET@nats.example --threads 8")]
pub(super) struct WorkerCommand {
    /// The cluster's bus, as its nodes have it in `cluster.bus`. Others on this machine see what is written here;
    /// `FOURFOLD_CLUSTER_BUS` keeps a password to itself.
    #[arg(long, value_name = "URL", env = "FOURFOLD_CLUSTER_BUS", hide_env_values = true)]
    cluster: BusUrls,
    /// What the cluster is called, should several share the bus.
    #[arg(long, value_name = "NAME", default_value = "fourfold", env = "FOURFOLD_CLUSTER_NAME")]
    name: NodeName,
    /// How many moves are thought of at once [default: one for each core].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// What to log: error, warn, info, debug, trace, or levels by module.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: LogFilter,
}

impl WorkerCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        if self.cluster.is_empty() {
            return Err(Exit::usage("--cluster: it is empty, name the bus of the cluster").into());
        }
        if let Some(exposure) = self.cluster.exposure() {
            return Err(Exit::usage(format!("--cluster: {exposure}")).into());
        }
        let _telemetry = telemetry::start(&LogConfig { level: self.log.clone(), ..LogConfig::default() });
        let runtime = runtime()?;
        let result = runtime.block_on(self.work());
        runtime.shutdown_background(); // after a second signal somebody may still think
        result
    }

    async fn work(self) -> anyhow::Result<()> {
        let mut signals = Signals::listen()?;
        let client = nats::connect(&self.cluster.expose()).await?;
        let thinkers = Thinkers::new(client, &self.name.0);
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let pool = ComputePool::new(self.threads.unwrap_or(cores).get());
        let (tasks, stop) = (Tasks::new(Supervision::default(), Part::Compute), CancellationToken::new());
        info!(threads = pool.threads(), "thinks for others");
        let mut thinking = std::pin::pin!(elsewhere::think_for_others(&thinkers, &pool, &tasks, &stop));
        tokio::select! {
            () = &mut thinking => anyhow::bail!("the bus is closed"),
            () = told_to_stop(&mut signals) => stop.cancel(),
        }
        thinking.await;
        tasks.close();
        tokio::select! {
            () = tasks.wait() => {}
            () = told_to_stop(&mut signals) => return Ok(()),
        }
        thinkers.flush().await;
        Ok(())
    }
}

async fn told_to_stop(signals: &mut Signals) {
    while signals.next().await != SignalHeard::Stop {}
}
