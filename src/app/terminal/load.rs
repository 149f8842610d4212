//! Whole games against a server, with a progress bar and Ctrl-C.

use std::sync::Mutex;

use anyhow::Context;
use tokio_util::sync::CancellationToken;

use crate::app::terminal::progress::ProgressLine;
use crate::app::terminal::runtime;
use crate::client::ClientError;
use crate::client::load::{self, LoadPlan, LoadReport};

/// Plays all games of the plan, or as many as there is time for until Ctrl-C; says also what ended it early.
pub(in crate::app) fn play(plan: &LoadPlan) -> anyhow::Result<(LoadReport, Option<ClientError>)> {
    runtime()?.block_on(async {
        let stop = CancellationToken::new();
        let interrupted = stop.clone();
        tokio::spawn(async move {
            // Without signals there is no Ctrl-C to wait for.
            if tokio::signal::ctrl_c().await.is_ok() {
                interrupted.cancel();
            }
        });
        let bar = Mutex::new(ProgressLine::new(u64::from(plan.games), "games"));
        let progress = move || {
            if let Ok(mut bar) = bar.lock() {
                bar.advance(1);
            }
        };
        load::run(plan, progress, &stop).await.with_context(|| format!("load on {}", plan.urls.join(", ")))
    })
}
