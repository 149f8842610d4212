//! How the arena is doing, for everybody: no names of machines, no addresses, nothing that helps an attacker.

use std::time::Duration;

use askama::Template;
use axum::extract::State;
use axum::response::Html;

use super::Page;
use super::layout::{LayoutFrame, Tab, Visitor};
use crate::http::state::AppState;
use crate::storage::store::GameQuery;

/// One figure, ready to show.
struct Figure {
    word: &'static str,
    value: String,
}

/// A learner with games that it has not learnt from yet.
struct Behind {
    name: String,
    games: u64,
}

#[derive(Template)]
#[template(path = "status.html")]
struct StatusPage {
    frame: LayoutFrame,
    /// What is not as it should be; nothing if all is well.
    troubles: Vec<String>,
    /// Why is the operator's business.
    backup_failed: bool,
    /// The hash of the last finished game.
    head: Option<String>,
    figures: Vec<Figure>,
    behind: Vec<Behind>,
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor) -> Page {
    let lang = visitor.language();
    let newest = GameQuery { newest_first: true, limit: 1, ..GameQuery::default() };
    let newest = state.store.finished_games(&newest).await?.pop();
    let newest = newest.and_then(|game| game.settlement);
    let finished = newest.as_ref().map_or(0, |settlement| settlement.number);
    let head = newest.and_then(|settlement| settlement.hash).map(|hash| hash.to_string());
    let totals = state.metrics.totals();
    let figure = |key: &'static str, value: String| Figure { word: lang.text(key), value };
    let backups = state.arena.backups();
    let made = backups.made.map(|made| figure("status.backup", made.minute()));
    let figures = vec![
        figure("status.version", env!("CARGO_PKG_VERSION").to_owned()),
        figure("status.uptime", duration(state.metrics.uptime())),
        figure("status.games", state.arena.live_games().len().to_string()),
        figure("status.finished", finished.to_string()),
        figure("status.moves", totals.moves.to_string()),
        figure("status.commits", totals.commits.to_string()),
        figure("status.queue", totals.writer_queue.to_string()),
        figure("status.unjudged", totals.unjudged.to_string()),
    ];
    let nodes = (totals.nodes > 0).then(|| figure("status.nodes", totals.nodes.to_string()));
    let figures = figures.into_iter().chain(nodes).chain(made).collect();
    let learners = state.learning.all().into_iter();
    let behind = learners.map(|learner| Behind {
        name: learner.name.to_string(),
        games: finished.saturating_sub(learner.covered),
    });
    let page = StatusPage {
        frame: visitor.frame(Tab::Elsewhere, lang.text("status.title")),
        troubles: troubles(&state),
        backup_failed: backups.failure.is_some(),
        head,
        figures,
        behind: behind.filter(|learner| learner.games > 0).collect(),
    };
    Ok(Html(page.render()?))
}

fn troubles(state: &AppState) -> Vec<String> {
    let obstacle = state.arena.obstacle().map(|obstacle| obstacle.to_string());
    obstacle.into_iter().chain(state.arena.pauses()).collect()
}

/// Days, hours and minutes by their signs, which all our languages share.
fn duration(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    let (days, hours, minutes) = (minutes / 1_440, minutes / 60 % 24, minutes % 60);
    if days > 0 { format!("{days} d {hours} h") } else { format!("{hours} h {minutes} min") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_long_as_one_reads() {
        let check = |seconds, expected| assert_eq!(duration(Duration::from_secs(seconds)), expected);
        check(0, "0 h 0 min");
        check(3_725, "1 h 2 min");
        check(90_000, "1 d 1 h");
    }
}
