//! The JSON interface under `/api/v1`, and the two routes by which an operator sees whether the daemon is well.

mod account;
pub(super) mod accounts;
mod blocks;
pub(super) mod bot_games;
pub(super) mod bot_record;
pub(super) mod bots;
mod classes;
mod conditional;
mod documents;
pub(super) mod duels;
mod dumps;
pub(super) mod fair_play;
mod feeds;
pub(super) mod follows;
mod games;
mod health;
pub(super) mod leaderboard;
pub(super) mod learning;
mod live;
mod mail;
pub(super) mod mistakes;
pub(super) mod names;
mod open_offers;
pub(super) mod own_bots;
mod personal_memory;
pub(super) mod players;
pub(super) mod portrait;
pub(super) mod positions;
mod push;
mod puzzles;
pub(super) mod rating_resets;
mod reports;
pub(crate) mod review;
mod seasons;
mod studies;
mod tournament_plans;
pub(super) mod tournaments;
pub(super) mod vacation;
mod webhook;

use std::sync::LazyLock;
use std::time::Duration;

use axum::Router;

use super::endpoint::{Endpoint, Operation, Parameter, routes, schema_of};
use super::request::Limit;
use super::state::AppState;
use crate::model::population::Population;
use crate::protocol::terms::WireVariant;

const LIMIT: Parameter = Parameter {
    name: "limit",
    about: "How many items, 1 to 200; 50 if left out",
    schema: schema_of::<Limit>,
};

const CURSOR: Parameter = Parameter {
    name: "cursor",
    about: "The `cursor` of the answer before; left out for the beginning",
    schema: schema_of::<String>,
};

const POPULATION: Parameter =
    Parameter { name: "list", about: "Who is listed; `all` if left out", schema: schema_of::<Population> };

const VARIANT: Parameter = Parameter {
    name: "variant",
    about: "Board size, and line length if it is not 4; `7x6` if left out",
    schema: schema_of::<WireVariant>,
};

/// How long to wait when the arena is busy.
const BUSY_RETRY: Duration = Duration::from_secs(2);

/// All endpoints, with what they do.
fn endpoints() -> Vec<Endpoint> {
    [
        leaderboard::endpoints(),
        players::endpoints(),
        games::endpoints(),
        review::endpoints(),
        positions::endpoints(),
        live::endpoints(),
        open_offers::endpoints(),
        feeds::endpoints(),
        puzzles::endpoints(),
        studies::endpoints(),
        bots::endpoints(),
        own_bots::endpoints(),
        mistakes::endpoints(),
        bot_games::endpoints(),
        bot_record::endpoints(),
        duels::endpoints(),
        rating_resets::endpoints(),
        accounts::endpoints(),
        account::endpoints(),
        reports::endpoints(),
        webhook::endpoints(),
        vacation::endpoints(),
        portrait::endpoints(),
        follows::endpoints(),
        blocks::endpoints(),
        conditional::endpoints(),
        fair_play::endpoints(),
        mail::endpoints(),
        push::endpoints(),
        learning::endpoints(),
        personal_memory::endpoints(),
        tournaments::endpoints(),
        tournament_plans::endpoints(),
        classes::endpoints(),
        seasons::endpoints(),
        dumps::endpoints(),
        documents::endpoints(),
        health::endpoints(),
    ]
    .concat()
}

/// What they do, for the published description.
static OPERATIONS: LazyLock<Vec<Operation>> =
    LazyLock::new(|| endpoints().into_iter().flat_map(|endpoint| endpoint.operations).collect());

/// The router of all of them.
pub(super) fn router() -> Router<AppState> {
    routes(endpoints())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The routes of the contract that scripts and outside checks rely on.
    const CONTRACT: &[&str] = &[
        "get /api/v1/leaderboard",
        "get /api/v1/players/{name}",
        "get /api/v1/players/{name}/games",
        "get /api/v1/players/{name}/ratings",
        "get /api/v1/players/{name}/crosstable",
        "get /api/v1/players/{name}/achievements",
        "get /api/v1/players/{name}/activity",
        "get /api/v1/players/{name}/habits",
        "get /api/v1/players/{name}/picture.svg",
        "get /api/v1/players/{name}/skill",
        "get /api/v1/games",
        "get /api/v1/games/{id}",
        "get /api/v1/games/{id}.svg",
        "get /api/v1/games.ndjson",
        "get /api/v1/games/{id}/review",
        "get /api/v1/positions/{moves}",
        "get /api/v1/positions/{moves}.svg",
        "get /api/v1/live",
        "get /api/v1/correspondence/offers",
        "get /api/v1/bots",
        "post /api/v1/bots",
        "post /api/v1/bots/{name}/tokens",
        "delete /api/v1/bots/{name}/tokens",
        "put /api/v1/guest",
        "post /api/v1/accounts",
        "post /api/v1/sessions",
        "delete /api/v1/sessions",
        "get /api/v1/account",
        "delete /api/v1/account",
        "put /api/v1/account/password",
        "delete /api/v1/account/sessions/{id}",
        "get /api/v1/account/export",
        "put /api/v1/account/learning",
        "get /api/v1/bots/{name}",
        "get /api/v1/bots/{name}/faults",
        "post /api/v1/bots/{name}/self-test",
        "get /api/v1/bots/{name}/self-test",
        "get /api/v1/bots/{name}/tokens",
        "post /api/v1/bots/{name}/tokens/{id}/rotate",
        "delete /api/v1/bots/{name}/tokens/{id}",
        "get /api/v1/games/{id}/info",
        "get /api/v1/learners",
        "get /api/v1/games/{id}/reasons",
        "get /api/v1/games/{id}/lessons",
        "get /api/v1/live/feed",
        "get /api/v1/games/{id}/feed",
        "get /api/v1/studies",
        "post /api/v1/studies",
        "get /api/v1/studies/{id}",
        "get /api/v1/studies/{id}.png",
        "put /api/v1/studies/{id}",
        "delete /api/v1/studies/{id}",
        "get /api/v1/puzzles/daily",
        "get /api/v1/puzzles/next",
        "get /api/v1/puzzles/{id}",
        "post /api/v1/puzzles/{id}/attempts",
        "post /api/v1/puzzles/{id}/hints",
        "post /api/v1/puzzles/{id}/solution",
        "get /api/v1/puzzles",
        "post /api/v1/puzzles/runs",
        "get /api/v1/puzzles/runs/{run}",
        "post /api/v1/puzzles/runs/{run}/moves",
        "get /api/v1/puzzles/rush",
        "get /api/v1/account/profile",
        "put /api/v1/account/profile",
        "get /api/v1/games/{id}.png",
        "get /api/v1/games/{id}.gif",
        "get /api/v1/bots/{name}/mistakes",
        "get /api/v1/bots/{name}/mistakes.tsv",
        "get /api/v1/bots/{name}/games",
        "get /api/v1/bots/{name}/record",
        "post /api/v1/bots/{name}/duels",
        "get /api/v1/bots/{name}/duels",
        "get /api/v1/duels/{id}",
        "delete /api/v1/duels/{id}",
        "post /api/v1/bots/{name}/rating-resets",
        "get /api/v1/bots/{name}/rating-resets",
        "get /api/v1/seasons",
        "get /api/v1/seasons/{name}",
        "get /api/v1/dumps",
        "get /api/v1/tournaments",
        "get /api/v1/tournaments/upcoming",
        "put /api/v1/tournaments/entry",
        "delete /api/v1/tournaments/entry",
        "get /api/v1/tournaments/{id}",
        "get /api/v1/tournaments/{id}/standings.csv",
        "post /api/v1/tournaments",
        "delete /api/v1/tournaments/{id}/plan",
        "post /api/v1/tournaments/{id}/start",
        "post /api/v1/tournaments/{id}/cancel",
        "put /api/v1/tournaments/{id}/entry",
        "delete /api/v1/tournaments/{id}/entry",
        "get /api/v1/openapi.json",
        "get /api/v1/protocol.schema.json",
        "post /api/v1/reports",
        "get /api/v1/account/webhook",
        "put /api/v1/account/webhook",
        "delete /api/v1/account/webhook",
        "post /api/v1/account/webhook/test",
        "get /api/v1/account/push",
        "put /api/v1/account/push",
        "delete /api/v1/account/push",
        "post /api/v1/account/push/test",
        "get /api/v1/account/mail",
        "put /api/v1/account/mail",
        "delete /api/v1/account/mail",
        "put /api/v1/account/mail/notices",
        "get /api/v1/account/vacation",
        "put /api/v1/account/vacation",
        "delete /api/v1/account/vacation",
        "get /api/v1/account/follows",
        "put /api/v1/account/follows/{name}",
        "delete /api/v1/account/follows/{name}",
        "get /api/v1/account/blocks",
        "put /api/v1/account/blocks/{name}",
        "delete /api/v1/account/blocks/{name}",
        "get /api/v1/games/{id}/conditional",
        "put /api/v1/games/{id}/conditional",
        "get /api/v1/account/fair-play",
        "post /api/v1/mail/verification",
        "post /api/v1/mail/reset",
        "put /api/v1/mail/password",
        "post /api/v1/classes",
        "get /api/v1/classes/{code}",
        "delete /api/v1/classes/{code}",
        "put /api/v1/classes/{code}/pupil",
        "delete /api/v1/classes/{code}/pupils/{name}",
        "post /api/v1/classes/{code}/round",
        "post /api/v1/classes/{code}/arena",
        "put /api/v1/classes/{code}/lesson",
        "put /api/v1/classes/{code}/hold",
        "put /api/v1/classes/{code}/names",
        "get /api/v1/classes/{code}/results.csv",
        "post /api/v1/memory/move",
        "post /api/v1/memory/game",
        "post /api/v1/memory/file",
        "post /api/v1/memory/load",
        "get /healthz",
        "get /healthz/players",
        "get /readyz",
    ];

    #[test]
    fn the_contract_is_described_and_nothing_twice() {
        let described: Vec<String> = OPERATIONS
            .iter()
            .map(|operation| format!("{} {}", operation.verb.word(), operation.path))
            .collect();
        for route in CONTRACT {
            assert_eq!(described.iter().filter(|other| other == route).count(), 1, "{route}");
        }
        assert_eq!(described.len(), CONTRACT.len(), "{described:?}");
    }

    #[test]
    fn every_route_serves_what_it_describes() {
        for endpoint in endpoints() {
            let is_own = |operation: &Operation| {
                let path = operation.path.trim_end_matches(".svg").trim_end_matches(".png");
                path.trim_end_matches(".gif") == endpoint.route.trim_end_matches(".svg")
            };
            assert!(!endpoint.operations.is_empty(), "{}", endpoint.route);
            assert!(endpoint.operations.iter().all(is_own), "{}", endpoint.route);
        }
    }
}
