//! Checks a whole store: replays every game, and refolds every rating from the first game on.
//!
//! The logs of the games are the only thing believed, and the audit log as to which of them were taken out. What was
//! stored as following from them is computed again, by the same rules but from scratch, and compared to the last digit.

mod fold;
mod published;

use std::fmt;

use fourfold_engine::Variant;
use serde::{Deserialize, Serialize};

use self::fold::RatingFold;
use self::published::Refit;
use crate::model::ids::PlayerId;
use crate::storage::record::{DamagedGame, RatingRow, StoredGame};
use crate::storage::records::rules;
use crate::storage::{Store, StoreError};

/// Games read at a time: few enough to stay small in memory, enough to make reading fast.
const PAGE: u32 = 500;

/// How often the ratings are read again because games have finished meanwhile: an arena in which some always do would
/// never be checked.
const OVERTAKEN_MAX: u32 = 1_000;

/// What a check came to.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct VerifyReport {
    pub(crate) finished: u64,
    /// Those of them that moved ratings.
    pub(crate) rated: u64,
    /// Games that go on.
    pub(crate) live: u64,
    /// Events of all games that could be read.
    pub(crate) events: u64,
    pub(crate) ratings: u64,
    /// Games that operators took out.
    pub(crate) voided: u64,
    pub(crate) published: u64,
    /// All that is not as it should be, one line each.
    pub findings: Vec<String>,
}

impl VerifyReport {
    fn find(&mut self, game: impl fmt::Display, what: impl fmt::Display) {
        self.findings.push(format!("game {game}: {what}"));
    }
}

impl fmt::Display for VerifyReport {
    /// Each finding on a line of its own, then the counts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { finished, rated, live, events, ratings, voided, published, findings } = self;
        for finding in findings {
            writeln!(f, "{finding}")?;
        }
        let verdict = if findings.is_empty() { "everything agrees" } else { "not everything agrees" };
        write!(
            f,
            "{finished} finished games ({rated} rated, {voided} voided), {live} live games, {events} events, \
             {ratings} ratings, {published} published ratings: {verdict}"
        )
    }
}

/// Checks everything.
///
/// # Errors
///
/// The store cannot be read. Whatever is wrong with what was read is in the report.
pub async fn verify(store: &dyn Store) -> Result<VerifyReport, StoreError> {
    let mut check = Check {
        report: VerifyReport::default(),
        last_number: 0,
        refit: Refit::begin(store).await?,
        fold: RatingFold::new(published::voided(store).await?),
    };
    check.read_finished(store).await?;
    for loaded in store.audit_live().await? {
        check_live(&mut check.report, loaded);
    }
    let ratings = check.read_ratings(store).await?;
    let Check { mut report, refit, fold, .. } = check;
    fold.compare(&mut report, ratings);
    refit.compare(&mut report, store).await?;
    Ok(report)
}

/// A check under way.
struct Check {
    report: VerifyReport,
    /// Of the finished games that were read.
    last_number: u64,
    refit: Refit,
    fold: RatingFold,
}

impl Check {
    /// Reads the games that have finished since it was asked last, and says whether there are any.
    async fn read_finished(&mut self, store: &dyn Store) -> Result<bool, StoreError> {
        let before = self.last_number;
        loop {
            let page = store.audit_finished(self.last_number, PAGE).await?;
            let is_last = page.len() < PAGE as usize;
            for loaded in page {
                if let Ok(game) = &loaded {
                    self.refit.add(game);
                }
                self.last_number = check_number(&mut self.report, self.last_number, &loaded);
                check_finished(&mut self.report, &mut self.fold, loaded);
            }
            if is_last {
                return Ok(self.last_number > before);
            }
        }
    }

    /// Reads the ratings as they are after the games that were read. Where games finish while a daemon plays on, both
    /// are read until none did in between.
    async fn read_ratings(
        &mut self,
        store: &dyn Store,
    ) -> Result<Vec<(PlayerId, Variant, RatingRow)>, StoreError> {
        let mut ratings = store.audit_ratings().await?;
        for _ in 0..OVERTAKEN_MAX {
            if !self.read_finished(store).await? {
                break;
            }
            ratings = store.audit_ratings().await?;
        }
        Ok(ratings)
    }
}

fn check_finished(report: &mut VerifyReport, fold: &mut RatingFold, loaded: Result<StoredGame, DamagedGame>) {
    report.finished += 1;
    match loaded {
        Err(damaged) => report.find(damaged.id, damaged.what),
        Ok(game) => {
            report.events += game.events.len() as u64;
            match (rules::replay(&game), &game.settlement) {
                (Err(what), None) => report.find(&game.spec.id, what),
                (Err(what), Some(settlement)) => {
                    report.find(&game.spec.id, what);
                    fold.adopt(&game, settlement);
                }
                (Ok(_), None) => {
                    report.find(&game.spec.id, "is listed as finished, but is not settled");
                }
                (Ok(replayed), Some(settlement)) => fold.add(report, &game, settlement, &replayed),
            }
        }
    }
}

/// Numbers are dense from 1. Gives the one to go on behind, which is behind a hole if there is one.
fn check_number(report: &mut VerifyReport, last: u64, loaded: &Result<StoredGame, DamagedGame>) -> u64 {
    let (id, number): (&dyn fmt::Display, _) = match loaded {
        Ok(game) => (&game.spec.id, game.settlement.as_ref().map(|settlement| settlement.number)),
        Err(damaged) => (&damaged.id, damaged.number),
    };
    let due = last + 1;
    let number = number.unwrap_or(due);
    if number != due {
        report.find(id, format!("is number {number} of the finished games, due was {due}"));
    }
    number.max(due)
}

fn check_live(report: &mut VerifyReport, loaded: Result<StoredGame, DamagedGame>) {
    report.live += 1;
    match loaded {
        Err(damaged) => report.find(damaged.id, damaged.what),
        Ok(game) => {
            report.events += game.events.len() as u64;
            if let Err(what) = rules::replay(&game) {
                report.find(&game.spec.id, what);
            }
            if game.ending().is_some() || game.settlement.is_some() {
                report.find(&game.spec.id, "is listed as live, but has ended");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::competition::leaderboard::service::Follower;
    use crate::model::durability::Durability;
    use crate::model::rating::newcomers::Footing;
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::conformance::{
        FIRST_WINS, FIRST_WINS_TOO, add_players, event, moves, play, spec, void,
    };
    use crate::storage::conformance_of_ratings::wins_over;
    use crate::storage::record::{EventKind, GameSpec};
    use crate::storage::store::Write;
    use crate::storage::{MemoryStore, SqliteStore};

    /// Fills a store with games of many kinds: numbers 1 to 7 are finished, `g8` goes on.
    async fn fill(store: &dyn Store) {
        add_players(store, &["Ada", "Bob", "Eve"]).await;
        let casual = |spec| GameSpec { rated: false, ..spec };
        let full = "121212212121343434434343565656656565777777";
        for (spec, moves, result, reason) in [
            (spec("g1", "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four),
            (spec("g2", "Bob", "Eve"), full, GameResult::Draw, EndReason::Full),
            (spec("g3", "Eve", "Ada"), "44444451", GameResult::Second, EndReason::Time),
            (spec("g4", "Ada", "Bob"), "44", GameResult::First, EndReason::Resign),
            (casual(spec("g5", "Ada", "Eve")), FIRST_WINS, GameResult::First, EndReason::Four),
            (spec("g6", "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four),
            (spec("g7", "Ada", "Bob"), FIRST_WINS_TOO, GameResult::First, EndReason::Four),
        ] {
            play(store, spec, moves, result, reason).await;
        }
        let spec = spec("g8", "Ada", "Bob");
        let mut events = moves("123");
        events.push(event(4, EventKind::Takeback { plies: 2 }));
        let append = Write::Append { game: spec.id.clone(), events };
        store.commit(&[Write::StartGame(spec), append]).await.unwrap();
    }

    async fn findings(store: &dyn Store) -> Vec<String> {
        verify(store).await.unwrap().findings
    }

    async fn sqlite() -> (tempfile::TempDir, SqliteStore) {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&directory.path().join("test.db"), Durability::Relaxed).await.unwrap();
        fill(&store).await;
        (directory, store)
    }

    /// Does damage to a sound store and checks that exactly this is found.
    async fn check_found(damage: &'static str, expected: &[&str]) {
        let (_directory, store) = sqlite().await;
        store.execute("DROP TRIGGER event_is_not_changed; DROP TRIGGER event_is_not_deleted").await;
        store.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").await;
        store.execute(damage).await;
        assert_eq!(findings(&store).await, expected, "{damage}");
    }

    #[tokio::test]
    async fn a_sound_store_has_no_findings() {
        let memory = MemoryStore::new();
        fill(&memory).await;
        let (_directory, sqlite) = sqlite().await;
        for store in [&memory as &dyn Store, &sqlite] {
            let report = verify(store).await.unwrap();
            assert_eq!(
                report.to_string(),
                "7 finished games (4 rated, 0 voided), 1 live games, 91 events, 3 ratings, 0 published ratings: everything agrees"
            );
        }
        assert!(findings(&MemoryStore::new()).await.is_empty());
    }

    /// A sound store with published ratings.
    async fn published() -> (tempfile::TempDir, SqliteStore) {
        let (directory, store) = sqlite().await;
        let snapshot = Follower::default().catch_up(&store).await.unwrap().unwrap();
        let publish = Write::Publish(Box::new(snapshot.publication(0)));
        store.commit(&[publish]).await.unwrap().remove(0).unwrap();
        (directory, store)
    }

    #[tokio::test]
    async fn published_ratings_are_fitted_again() {
        let (_directory, store) = published().await;
        let report = verify(&store).await.unwrap();
        assert_eq!((report.published, report.findings), (3, vec![]));
        // Games that came afterwards are not in it.
        play(&store, spec("g9", "Bob", "Ada"), "7654321", GameResult::Draw, EndReason::Full).await;
        let report = verify(&store).await.unwrap();
        assert_eq!(report.published, 3);
        store.execute("UPDATE published_rating SET elo = elo + 1 WHERE player = 3").await;
        store.execute("DELETE FROM published_rating WHERE player = 1").await;
        let found = findings(&store).await;
        let published: Vec<&String> = found.iter().filter(|line| line.contains("published")).collect();
        assert_eq!(published.len(), 2, "{found:?}");
        assert!(published[0].starts_with("published rating of idAda in 7x6 (all) is missing, computed "));
        assert!(published[1].starts_with("published rating of idEve in 7x6 (all) is "));
    }

    #[tokio::test]
    async fn a_voided_game_is_no_disagreement_and_a_void_without_reason_is() {
        let (_directory, store) = published().await;
        store.commit(&[void("g2"), void("g5")]).await.unwrap();
        let report = verify(&store).await.unwrap();
        assert_eq!((report.voided, report.rated, report.findings), (2, 3, vec![]));
        store.execute("DROP TRIGGER audit_is_not_deleted; DELETE FROM audit WHERE subject = 'g5'").await;
        store.execute("INSERT INTO audit (number, at, action, subject, reason) VALUES (9, 1, 'void', 'gone', 'why not')").await;
        assert_eq!(
            findings(&store).await,
            [
                "game g5: should be casual, but is unrated (voided)",
                "game gone: was voided, but is not among the finished games",
            ]
        );
    }

    #[tokio::test]
    async fn what_newcomers_were_worth_is_recomputed() {
        let (_directory, store) = sqlite().await;
        let memory = MemoryStore::new();
        fill(&memory).await;
        for store in [&memory as &dyn Store, &store] {
            for number in 0..25 {
                let name = if number % 2 == 0 { "Bob" } else { "Eve" };
                wins_over(store, number, (name, Footing::Young), i64::from(number)).await;
            }
            store.commit(&[void("n3")]).await.unwrap();
            let report = verify(store).await.unwrap();
            assert_eq!((report.rated, report.voided, report.findings), (28, 1, vec![]));
        }
        store.execute("UPDATE game SET second_footing = 'house' WHERE id = 'n7'").await;
        let found = findings(&store).await;
        assert!(found[0].starts_with("game n7: rating entry of the first side is "), "{found:?}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn games_that_finish_meanwhile_are_no_disagreement() {
        let (_directory, store) = sqlite().await;
        let store = Arc::new(store);
        let arena = Arc::clone(&store);
        let playing = tokio::spawn(async move {
            for n in 0..343 {
                let moves = format!("1357246{}{}{}", 1 + n % 7, 1 + n / 7 % 7, 1 + n / 49);
                let spec = spec(&format!("m{n}"), "Ada", "Bob");
                play(&*arena, spec, &moves, GameResult::First, EndReason::Resign).await;
            }
        });
        let mut checks = 0;
        while !playing.is_finished() {
            assert_eq!(findings(&*store).await, [] as [&str; 0], "check {checks}");
            checks += 1;
        }
        playing.await.unwrap();
        let report = verify(&*store).await.unwrap();
        assert!(checks > 0 && report.rated > 300, "{checks} checks, {report}");
    }

    #[tokio::test]
    async fn a_dropped_event_is_found() {
        check_found(
            "DELETE FROM event WHERE game = 5 AND seq = 3",
            &["game g5: event 3 is missing, 4 follows"],
        )
        .await;
        check_found(
            "DELETE FROM event WHERE game = 5 AND seq = 8",
            &["game g5: there is a settlement, but the log does not end with an end"],
        )
        .await;
        check_found(
            "DELETE FROM event WHERE game = 8 AND seq = 1",
            &["game g8: event 1 is missing, 2 follows"],
        )
        .await;
    }

    #[tokio::test]
    async fn a_doubled_result_is_found() {
        check_found(
            "INSERT INTO event SELECT game, seq + 1, kind, first_ms, second_ms, at, column_no, spent_ms, \
             credited_ms, info, plies, result, reason, at_fault FROM event WHERE game = 5 AND kind = 'finished'",
            &["game g5: event 9 comes after the end"],
        )
        .await;
        check_found(
            "INSERT INTO rating_entry VALUES (2, '7x6', 5, 1, 1500000, 20000, 1520000, NULL), \
             (1, '7x6', 5, 2, 1500000, 20000, 1520000, NULL)",
            &["game g5: 2 rating entries, not one for each player"],
        )
        .await;
        check_found("INSERT INTO live_game VALUES (5)", &["game g5: is listed as live, but has ended"]).await;
    }

    #[tokio::test]
    async fn a_changed_rating_is_found() {
        check_found(
            "UPDATE rating SET rating = rating + 1 WHERE player = 3",
            &["rating of idEve in 7x6 is 1480537 after 2 games (+0 =1 -1), computed 1480536 after 2 games (+0 =1 -1)"],
        )
        .await;
        check_found(
            "UPDATE rating SET wins = 1, losses = 0 WHERE player = 3",
            &["rating of idEve in 7x6 is 1480536 after 2 games (+1 =1 -0), computed 1480536 after 2 games (+0 =1 -1)"],
        )
        .await;
        check_found(
            "UPDATE rating_entry SET after = after + 1 WHERE player = 1 AND number = 1",
            &["game g1: rating entry of the first side is 1500000 +20000 = 1520001, computed 1500000 +20000 = 1520000"],
        )
        .await;
        check_found(
            "DELETE FROM rating WHERE player = 3",
            &["rating of idEve in 7x6 is missing, computed 1480536 after 2 games (+0 =1 -1)"],
        )
        .await;
        check_found(
            "INSERT INTO rating VALUES (3, '4x4', 1500000, 1, 1, 0, 0)",
            &["rating of idEve in 4x4 is 1500000 after 1 games (+1 =0 -0), but no game moved it"],
        )
        .await;
    }

    #[tokio::test]
    async fn swapped_plies_are_found() {
        let swap = "UPDATE event SET column_no = 3 - column_no WHERE game = 5 AND seq IN (1, 2)";
        check_found(swap, &["game g5: the settlement has the moves 1212121, the log 2112121"]).await;
        check_found(
            "UPDATE event SET column_no = 3 - column_no WHERE game = 5 AND seq IN (1, 2); \
             UPDATE settlement SET moves = '2112121' WHERE number = 5",
            &["game g5: event 8: the game is not over on the board, recorded is first by four"],
        )
        .await;
    }

    #[tokio::test]
    async fn an_impossible_game_is_found() {
        check_found(
            "UPDATE event SET column_no = 2 WHERE game = 1 AND seq IN (3, 5); \
             UPDATE settlement SET moves = '1222221' WHERE number = 1",
            &[
                "game g1: event 8: the game is not over on the board, recorded is first by four",
                "game g6: should be rated, but is unrated (repeated)",
            ],
        )
        .await;
        check_found(
            "UPDATE event SET column_no = 8 WHERE game = 8 AND seq = 2",
            &["game g8: event 2: move 2: column 8 is not on a board of 7 columns"],
        )
        .await;
        check_found(
            "UPDATE event SET plies = 4 WHERE game = 8 AND seq = 4",
            &["game g8: event 4: 4 of 3 moves are taken back"],
        )
        .await;
        check_found(
            "UPDATE settlement SET result = 'second' WHERE number = 5",
            &["game g5: the settlement says second, the log first"],
        )
        .await;
        check_found(
            "UPDATE event SET reason = 'lightning' WHERE game = 5 AND kind = 'finished'",
            &["game g5: reason is \"lightning\""],
        )
        .await;
        check_found(
            "UPDATE game SET variant = '99x99' WHERE key = 5",
            &["game g5: game.variant is \"99x99\""],
        )
        .await;
    }

    #[tokio::test]
    async fn wrong_judgements_are_found() {
        check_found(
            "UPDATE settlement SET unrated_because = 'void' WHERE number = 4",
            &["game g4: should be unrated (too_short), but is unrated (void)"],
        )
        .await;
        check_found(
            "UPDATE settlement SET unrated_because = NULL WHERE number = 6",
            &["game g6: should be unrated (repeated), but is casual"],
        )
        .await;
        check_found(
            "DELETE FROM rating_entry WHERE number = 7",
            &[
                "game g7: should be rated, but is casual",
                "rating of idAda in 7x6 is 1554214 after 3 games (+3 =0 -0), computed 1538314 after 2 games (+2 =0 -0)",
                "rating of idBob in 7x6 is 1465221 after 3 games (+0 =1 -2), computed 1481121 after 2 games (+0 =1 -1)",
            ],
        )
        .await;
        check_found(
            "DELETE FROM rating_entry WHERE number = 7 AND player = 1",
            &[
                "game g7: 1 rating entries, not one for each player",
                "rating of idAda in 7x6 is 1554214 after 3 games (+3 =0 -0), computed 1538314 after 2 games (+2 =0 -0)",
                "rating of idBob in 7x6 is 1465221 after 3 games (+0 =1 -2), computed 1481121 after 2 games (+0 =1 -1)",
            ],
        )
        .await;
    }

    #[tokio::test]
    async fn lost_numbers_are_found() {
        check_found(
            "UPDATE settlement SET number = 9 WHERE number = 5",
            &[
                "game g6: is number 6 of the finished games, due was 5",
                "game g5: is number 9 of the finished games, due was 8",
            ],
        )
        .await;
        check_found(
            "DELETE FROM settlement WHERE number = 5",
            &[
                "game g6: is number 6 of the finished games, due was 5",
                "game g5: the log has an end, but there is no settlement",
            ],
        )
        .await;
    }

    #[tokio::test]
    async fn a_broken_chain_is_one_finding_for_each_player() {
        check_found(
            "UPDATE rating_entry SET before = before + 5, after = after + 5 WHERE number = 7; \
             UPDATE rating SET rating = rating + 5 WHERE player IN (1, 2)",
            &[
                "game g7: rating of idAda before it is 1538319, computed 1538314",
                "game g7: rating of idBob before it is 1481126, computed 1481121",
            ],
        )
        .await;
    }

    #[test]
    fn the_report_lists_findings_and_counts() {
        let mut report = VerifyReport { finished: 2, ..VerifyReport::default() };
        report.find("g1", "is odd");
        assert_eq!(
            report.to_string(),
            "game g1: is odd\n2 finished games (0 rated, 0 voided), 0 live games, 0 events, 0 ratings, \
             0 published ratings: not everything agrees"
        );
    }
}
