use std::sync::Arc;

use super::*;
use crate::competition::leaderboard::service::Follower;
use crate::model::durability::Durability;
use crate::model::rating::newcomers::Footing;
use crate::model::result::{EndReason, GameResult};
use crate::model::study::StudyListing;
use crate::storage::conformance::{
    FIRST_WINS, FIRST_WINS_TOO, add_players, event, moves, play, player_id, spec, void,
};
use crate::storage::conformance_of_packing::pack;
use crate::storage::conformance_of_ratings::wins_over;
use crate::storage::conformance_of_studies::{new, study};
use crate::storage::record::{EventKind, GameSpec};
use crate::storage::store::Write;
use crate::storage::{MemoryStore, PostgresStore, SqliteStore};
use crate::testing::POSTGRES;

/// What is done to a sound store, and all that is found then.
type Defect = (&'static str, &'static [&'static str]);

/// Done to stores of either kind.
const DEFECTS: &[Defect] = &[
    // An event is missing.
    ("DELETE FROM event WHERE game = 5 AND seq = 3", &["game g5: event 3 is missing, 4 follows"]),
    (
        "DELETE FROM event WHERE game = 5 AND seq = 8",
        &["game g5: there is a settlement, but the log does not end with an end"],
    ),
    ("DELETE FROM event WHERE game = 8 AND seq = 1", &["game g8: event 1 is missing, 2 follows"]),
    // Something is there twice.
    (
        "INSERT INTO event SELECT game, seq + 1, kind, first_ms, second_ms, at, column_no, spent_ms, \
         credited_ms, info, plies, result, reason, at_fault FROM event WHERE game = 5 AND kind = 'finished'",
        &["game g5: event 9 comes after the end"],
    ),
    (
        "INSERT INTO rating_entry VALUES (2, '7x6', 5, 1, 750000, 20000, 770000, NULL), \
         (1, '7x6', 5, 2, 750000, 20000, 770000, NULL)",
        &["game g5: 2 rating entries, not one for each player"],
    ),
    ("INSERT INTO live_game (game) VALUES (5)", &["game g5: is listed as live, but has ended"]),
    // A rating is another.
    (
        "UPDATE rating SET rating = rating + 1 WHERE player = 3",
        &[
            "rating of idEve in 7x6 is 730537 after 2 games (+0 =1 -1), computed 730536 after 2 games (+0 =1 -1)",
        ],
    ),
    (
        "UPDATE rating SET wins = 1, losses = 0 WHERE player = 3",
        &[
            "rating of idEve in 7x6 is 730536 after 2 games (+1 =1 -0), computed 730536 after 2 games (+0 =1 -1)",
        ],
    ),
    (
        "UPDATE rating_entry SET after = after + 1 WHERE player = 1 AND number = 1",
        &[
            "game g1: rating entry of the first side is 750000 +20000 = 770001, computed 750000 +20000 = 770000",
        ],
    ),
    (
        "DELETE FROM rating WHERE player = 3",
        &["rating of idEve in 7x6 is missing, computed 730536 after 2 games (+0 =1 -1)"],
    ),
    (
        "INSERT INTO rating VALUES (3, '4x4', 750000, 1, 1, 0, 0)",
        &["rating of idEve in 4x4 is 750000 after 1 games (+1 =0 -0), but no game moved it"],
    ),
    // Two plies have changed places.
    (
        "UPDATE event SET column_no = 3 - column_no WHERE game = 5 AND seq IN (1, 2)",
        &["game g5: the settlement has the moves 1212121, the log 2112121"],
    ),
    (
        "UPDATE event SET column_no = 3 - column_no WHERE game = 5 AND seq IN (1, 2); \
         UPDATE settlement SET moves = '2112121' WHERE number = 5",
        &["game g5: event 8: the game is not over on the board, recorded is first by four"],
    ),
    // A game cannot have gone like this.
    (
        "UPDATE event SET column_no = 2 WHERE game = 1 AND seq IN (3, 5); \
         UPDATE settlement SET moves = '1222221' WHERE number = 1",
        &[
            "game g1: event 8: the game is not over on the board, recorded is first by four",
            "game g6: should be rated, but is unrated (repeated)",
        ],
    ),
    (
        "UPDATE event SET column_no = 8 WHERE game = 8 AND seq = 2",
        &["game g8: event 2: move 2: column 8 is not on a board of 7 columns"],
    ),
    (
        "UPDATE event SET plies = 4 WHERE game = 8 AND seq = 4",
        &["game g8: event 4: 4 of 3 moves are taken back"],
    ),
    (
        "UPDATE settlement SET result = 'second' WHERE number = 5",
        &["game g5: the settlement says second, the log first"],
    ),
    (
        "UPDATE event SET reason = 'lightning' WHERE game = 5 AND kind = 'finished'",
        &["game g5: reason is \"lightning\""],
    ),
    ("UPDATE game SET variant = '99x99' WHERE key = 5", &["game g5: game.variant is \"99x99\""]),
    // A game should have counted, or not.
    (
        "UPDATE settlement SET unrated_because = 'void' WHERE number = 4",
        &["game g4: should be unrated (too_short), but is unrated (void)"],
    ),
    (
        "UPDATE settlement SET unrated_because = NULL WHERE number = 6",
        &["game g6: should be unrated (repeated), but is casual"],
    ),
    (
        "DELETE FROM rating_entry WHERE number = 7",
        &[
            "game g7: should be rated, but is casual",
            "rating of idAda in 7x6 is 804214 after 3 games (+3 =0 -0), computed 788314 after 2 games (+2 =0 -0)",
            "rating of idBob in 7x6 is 715221 after 3 games (+0 =1 -2), computed 731121 after 2 games (+0 =1 -1)",
        ],
    ),
    (
        "DELETE FROM rating_entry WHERE number = 7 AND player = 1",
        &[
            "game g7: 1 rating entries, not one for each player",
            "rating of idAda in 7x6 is 804214 after 3 games (+3 =0 -0), computed 788314 after 2 games (+2 =0 -0)",
            "rating of idBob in 7x6 is 715221 after 3 games (+0 =1 -2), computed 731121 after 2 games (+0 =1 -1)",
        ],
    ),
    // Numbers of games are lost.
    (
        "UPDATE settlement SET number = 9 WHERE number = 5",
        &[
            "game g6: is number 6 of the finished games, due was 5",
            "game g5: is number 9 of the finished games, due was 8",
        ],
    ),
    (
        "DELETE FROM settlement WHERE number = 5",
        &[
            "game g6: is number 6 of the finished games, due was 5",
            "game g5: the log has an end, but there is no settlement",
        ],
    ),
    // The chain of finished games is broken.
    (
        "UPDATE settlement SET hash = NULL WHERE number = 5",
        &["game g5: has no hash in the chain of finished games"],
    ),
    ("UPDATE settlement SET hash = 'x' WHERE number = 5", &["game g5: settlement.hash is \"x\""]),
    // A study is none.
    (
        "UPDATE study SET moves = '4444444' WHERE number = 1; UPDATE study SET comments = 'odd' WHERE number = 2",
        &["study s1: move 7 is illegal: column 4 is full", "study s2: study.comments is \"odd\""],
    ),
    ("UPDATE study SET owner = 99 WHERE number = 2", &["study s2: study.owner is \"\""]),
    // A chain of ratings is broken: one finding for each player.
    (
        "UPDATE rating_entry SET before = before + 5, after = after + 5 WHERE number = 7; \
         UPDATE rating SET rating = rating + 5 WHERE player IN (1, 2)",
        &[
            "game g7: rating of idAda before it is 788319, computed 788314",
            "game g7: rating of idBob before it is 731126, computed 731121",
        ],
    ),
];

/// Done to a store of either kind whose logs are packed.
const PACKED_DEFECTS: &[Defect] = &[
    (
        "INSERT INTO event (game, seq, kind, first_ms, second_ms, at) VALUES (5, 1, 'paused', 1, 1, 1)",
        &["game g5: its log is packed, and there are events beside it"],
    ),
    (
        "DELETE FROM packed_log WHERE game = 5",
        &["game g5: there is a settlement, but the log does not end with an end"],
    ),
    (
        "UPDATE packed_log SET events = (SELECT events FROM packed_log WHERE game = 7) WHERE game = 5",
        &["game g5: the settlement has the moves 1212121, the log 7676767"],
    ),
    (
        "UPDATE packed_log SET reason = 'lightning' WHERE game = 5",
        &["game g5: packed_log.reason is \"lightning\""],
    ),
    (
        "UPDATE packed_log SET result = 'second' WHERE game = 5",
        &["game g5: the settlement says first, the log second"],
    ),
    (
        "UPDATE packed_log SET notes = events WHERE game = 5",
        &["game g5: packed_log.notes: corrupt deflate stream"],
    ),
];

/// Fills a store with games of many kinds: numbers 1 to 7 are finished, `g8` goes on; and with two studies.
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
    let [one, two] = ["s1", "s2"].map(|id| new(id, "Ada", study("Two towers", StudyListing::Listed)));
    for answer in store.commit(&[Write::StartGame(spec), append, one, two]).await.unwrap() {
        answer.unwrap();
    }
}

async fn findings(store: &dyn Store) -> Vec<String> {
    verify(store).await.unwrap().findings
}

/// A store that damage can be done to.
trait Kept: Sized {
    /// A sound one with games; none if what keeps it is not on this machine, which is said.
    async fn filled() -> Option<Self>;

    fn store(&self) -> &dyn Store;

    /// Does what the back end itself would never do.
    async fn damage(&self, sql: &'static str);
}

struct InFile {
    store: SqliteStore,
    _directory: tempfile::TempDir,
}

impl Kept for InFile {
    async fn filled() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("test.db");
        let store = SqliteStore::open(&file, Durability::Relaxed).await.unwrap();
        fill(&store).await;
        store.unpack().await;
        Some(Self { store, _directory: directory })
    }

    fn store(&self) -> &dyn Store {
        &self.store
    }

    async fn damage(&self, sql: &'static str) {
        let unguard = "DROP TRIGGER IF EXISTS event_is_not_changed; DROP TRIGGER IF EXISTS event_is_not_deleted; \
                       DROP TRIGGER IF EXISTS audit_is_not_deleted; \
                       DROP TRIGGER IF EXISTS packed_log_is_not_changed; \
                       DROP TRIGGER IF EXISTS packed_log_is_not_annotated; \
                       DROP TRIGGER IF EXISTS packed_log_is_not_deleted; \
                       PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON";
        self.store.execute(unguard).await;
        self.store.execute(sql).await;
    }
}

struct OnServer(PostgresStore);

impl Kept for OnServer {
    async fn filled() -> Option<Self> {
        let url = POSTGRES.as_ref()?.new_url();
        let store = PostgresStore::open(&url, Durability::Relaxed).await.unwrap();
        fill(&store).await;
        Some(Self(store))
    }

    fn store(&self) -> &dyn Store {
        &self.0
    }

    async fn damage(&self, sql: &'static str) {
        let unguard = "ALTER TABLE event DISABLE TRIGGER USER; ALTER TABLE audit DISABLE TRIGGER USER; \
                       ALTER TABLE packed_log DISABLE TRIGGER USER; \
                       ALTER TABLE study DROP CONSTRAINT IF EXISTS study_owner_fkey; \
                       ALTER TABLE rating_entry DROP CONSTRAINT IF EXISTS rating_entry_check";
        self.0.execute(unguard).await;
        self.0.execute(sql).await;
    }
}

/// Tests that both kinds pass.
macro_rules! on_both {
    ($($name:ident => $check:ident),+ $(,)?) => {
        mod in_a_file {
            $(#[tokio::test] async fn $name() { super::$check::<super::InFile>().await; })+
        }
        mod on_a_server {
            $(#[tokio::test] async fn $name() { super::$check::<super::OnServer>().await; })+
        }
    };
}

on_both! {
    each_defect_is_found => find_defects,
    published_ratings_are_fitted_again => fit_again,
    a_voided_game_is_no_disagreement_and_a_void_without_reason_is => void_games,
    what_newcomers_were_worth_is_recomputed => judge_newcomers,
}

/// Does each damage to a sound store of its own and checks that exactly this is found.
async fn find_defects<K: Kept>() {
    for (damage, expected) in DEFECTS {
        let Some(kept) = K::filled().await else { return };
        kept.damage(damage).await;
        assert_eq!(findings(kept.store()).await, *expected, "{damage}");
    }
}

#[tokio::test]
async fn damage_of_packed_logs_is_found() {
    find_packed_defects::<InFile>().await;
    find_packed_defects::<OnServer>().await;
}

async fn find_packed_defects<K: Kept>() {
    for (damage, expected) in PACKED_DEFECTS {
        let Some(kept) = K::filled().await else { return };
        pack(kept.store(), 100).await;
        assert_eq!(findings(kept.store()).await, [""; 0]);
        kept.damage(damage).await;
        assert_eq!(findings(kept.store()).await, *expected, "{damage}");
    }
}

#[tokio::test]
async fn a_sound_store_has_no_findings() {
    let memory = MemoryStore::new();
    fill(&memory).await;
    let (file, server) = (InFile::filled().await.unwrap(), OnServer::filled().await);
    let stores = [&memory as &dyn Store, file.store()].into_iter();
    for store in stores.chain(server.as_ref().map(Kept::store)) {
        let report = verify(store).await.unwrap();
        assert_eq!(
            report.to_string(),
            "7 finished games (4 rated, 0 voided), 1 live games, 91 events, 3 ratings, 0 published ratings, 2 studies: everything agrees"
        );
    }
    assert!(findings(&MemoryStore::new()).await.is_empty());
}

/// A sound store with published ratings.
async fn published<K: Kept>() -> Option<K> {
    let kept = K::filled().await?;
    let snapshot = Follower::default().catch_up(kept.store()).await.unwrap().unwrap();
    let publish = Write::Publish(Box::new(snapshot.publication(0)));
    kept.store().commit(&[publish]).await.unwrap().remove(0).unwrap();
    Some(kept)
}

async fn fit_again<K: Kept>() {
    let Some(kept) = published::<K>().await else { return };
    let report = verify(kept.store()).await.unwrap();
    assert_eq!((report.published, report.findings), (3, vec![]));
    // Games that came afterwards are not in it.
    play(kept.store(), spec("g9", "Bob", "Ada"), "7654321", GameResult::Draw, EndReason::Full).await;
    let report = verify(kept.store()).await.unwrap();
    assert_eq!(report.published, 3);
    kept.damage("UPDATE published_rating SET elo = elo + 1 WHERE player = 3").await;
    kept.damage("DELETE FROM published_rating WHERE player = 1").await;
    let found = findings(kept.store()).await;
    let published: Vec<&String> = found.iter().filter(|line| line.contains("published")).collect();
    assert_eq!(published.len(), 2, "{found:?}");
    assert!(published[0].starts_with("published rating of idAda in 7x6 (all) is missing, computed "));
    assert!(published[1].starts_with("published rating of idEve in 7x6 (all) is "));
}

async fn void_games<K: Kept>() {
    let Some(kept) = published::<K>().await else { return };
    kept.store().commit(&[void("g2"), void("g5")]).await.unwrap();
    let report = verify(kept.store()).await.unwrap();
    assert_eq!((report.voided, report.rated, report.findings), (2, 3, vec![]));
    kept.damage("DELETE FROM audit WHERE subject = 'g5'").await;
    kept.damage(
        "INSERT INTO audit (number, at, action, subject, reason) VALUES (9, 1, 'void', 'gone', 'why not')",
    )
    .await;
    assert_eq!(
        findings(kept.store()).await,
        [
            "game g5: should be casual, but is unrated (voided)",
            "game gone: was voided, but is not among the finished games",
        ]
    );
}

/// Twenty-five games with newcomers, of which one is voided.
async fn play_newcomers(store: &dyn Store) {
    for number in 0..25 {
        let name = if number % 2 == 0 { "Bob" } else { "Eve" };
        wins_over(store, number, (name, Footing::Young), i64::from(number)).await;
    }
    store.commit(&[void("n3")]).await.unwrap();
    let report = verify(store).await.unwrap();
    assert_eq!((report.rated, report.voided, report.findings), (28, 1, vec![]));
}

async fn judge_newcomers<K: Kept>() {
    let Some(kept) = K::filled().await else { return };
    play_newcomers(kept.store()).await;
    kept.damage("UPDATE game SET second_footing = 'house' WHERE id = 'n7'").await;
    let found = findings(kept.store()).await;
    assert!(found[0].starts_with("game n7: rating entry of the first side is "), "{found:?}");
}

#[tokio::test]
async fn what_newcomers_were_worth_is_known_in_memory_too() {
    let memory = MemoryStore::new();
    fill(&memory).await;
    play_newcomers(&memory).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn games_that_finish_meanwhile_are_no_disagreement() {
    let kept = InFile::filled().await.unwrap();
    let store = Arc::new(kept.store);
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

#[test]
fn the_report_lists_findings_and_counts() {
    let mut report = VerifyReport { finished: 2, ..VerifyReport::default() };
    report.find("g1", "is odd");
    assert_eq!(
        report.to_string(),
        "game g1: is odd\n2 finished games (0 rated, 0 voided), 0 live games, 0 events, 0 ratings, \
         0 published ratings, 0 studies: not everything agrees"
    );
}

#[tokio::test]
async fn history_that_was_rewritten_is_found() {
    // A casual game of which nothing else follows: everything but the chain agrees with it.
    let rewrite = "UPDATE event SET column_no = 8 - column_no WHERE game = 5 AND kind = 'move'; \
                   UPDATE settlement SET moves = '7676767' WHERE number = 5";
    let kept = InFile::filled().await.unwrap();
    kept.damage(rewrite).await;
    let found = findings(kept.store()).await;
    assert!(found.len() == 1 && found[0].starts_with("game g5: its hash in the chain is "), "{found:?}");
    // Whoever mends that one too has changed what the next one stands on.
    let computed = found[0].rsplit(' ').next().unwrap();
    let mend = format!("UPDATE settlement SET hash = '{computed}' WHERE number = 5");
    kept.damage(mend.leak()).await;
    let found = findings(kept.store()).await;
    assert!(found.len() == 1 && found[0].starts_with("game g6: its hash in the chain is "), "{found:?}");
}

#[tokio::test]
async fn a_player_that_was_exchanged_is_found_by_the_chain() {
    let kept = InFile::filled().await.unwrap();
    assert_eq!(verify(kept.store()).await.unwrap().head.len(), 64);
    kept.damage("UPDATE player SET id = 'somebody' WHERE key = 3").await;
    let found = findings(kept.store()).await;
    assert!(found[0].starts_with("game g2: its hash in the chain is "), "{found:?}");
}

#[tokio::test]
async fn names_and_what_operators_say_are_not_in_the_chain() {
    let kept = InFile::filled().await.unwrap();
    let head = verify(kept.store()).await.unwrap().head;
    let gone = Write::Retire { player: player_id("Ada"), name: "gone-1234".parse().unwrap() };
    for answer in kept.store().commit(&[void("g1"), gone]).await.unwrap() {
        answer.unwrap();
    }
    let report = verify(kept.store()).await.unwrap();
    assert_eq!((report.findings, report.head), (vec![], head));
}
