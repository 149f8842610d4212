use std::sync::Arc;
use std::time::Duration;

use fourfold_engine::Variant;

use super::*;
use crate::model::result::{EndReason, GameResult};
use crate::model::time::UnixMillis;
use crate::storage::audit::AuditStore;
use crate::storage::conformance::{
    FIRST_WINS, Fixture, add_players, checked_chain, conformance, moves, play, play_various, player_id, spec,
    whole_game,
};
use crate::storage::conformance_of_packing::pack;
use crate::storage::games::GameStore;
use crate::storage::members::{BadMember, NewMember, NodeList as _, Standing};
use crate::storage::ratings::RatingStore;
use crate::storage::record::StoredGame;
use crate::storage::transfer::{Kind, TABLES};
use crate::testing::POSTGRES;
use crate::testing::postgres::PostgresServer;

struct OnServer {
    url: String,
    store: Arc<PostgresStore>,
}

async fn open(url: &str) -> Result<PostgresStore, PostgresOpenError> {
    PostgresStore::open(url, Durability::Strict).await
}

impl Fixture for OnServer {
    fn is_available() -> bool {
        POSTGRES.is_some()
    }

    async fn create() -> Self {
        let url = POSTGRES.as_ref().expect("asked for before").new_url();
        let store = Arc::new(open(&url).await.unwrap());
        Self { url, store }
    }

    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    async fn reopen(self) -> Self {
        let store = Arc::into_inner(self.store).expect("the test has dropped its handles");
        store.close().await.unwrap();
        let store = Arc::new(open(&self.url).await.unwrap());
        Self { url: self.url, store }
    }
}

conformance!(OnServer);

/// What a test executes in the schema of a URL.
fn execute(server: &PostgresServer, url: &str, sql: &str) {
    let (_, schema) = url.rsplit_once("%3D").unwrap();
    server.execute(&format!("SET search_path = {schema}; {sql}"));
}

/// Three games that go on.
async fn with_games(server: &PostgresServer) -> (String, PostgresStore) {
    let url = server.new_url();
    let store = open(&url).await.unwrap();
    add_players(&store, &["Ada", "Bob"]).await;
    let games = ["g1", "g2", "g3"].map(|id| Write::StartGame(spec(id, "Ada", "Bob")));
    assert_eq!(
        store.commit(&games).await.unwrap(),
        [Ok(Written::Done), Ok(Written::Done), Ok(Written::Done)]
    );
    (url, store)
}

fn append(moves_played: &str) -> [Write; 3] {
    let events = moves(moves_played);
    ["g1", "g2", "g3"].map(|id| Write::Append { game: id.parse().unwrap(), events: events.clone() })
}

async fn played(store: &PostgresStore) -> Vec<String> {
    store.live_games().await.unwrap().iter().map(StoredGame::moves).collect()
}

#[tokio::test]
async fn games_from_before_are_chained_as_if_they_had_always_been() {
    let Some(server) = &*POSTGRES else { return };
    let url = server.new_url();
    let store = open(&url).await.unwrap();
    play_various(&store).await;
    let before = checked_chain(&store).await;
    execute(server, &url, "UPDATE settlement SET hash = NULL");
    let address = Address::parse(&url).unwrap();
    let session = session::connect(&address, Durability::Strict).await.unwrap();
    chain::chain_all(session.connection()).await.unwrap();
    assert_eq!(checked_chain(&store).await, before);
}

/// Commits as the writer does: the same batch until the server has answered.
async fn commit_at_last(store: &PostgresStore, batch: &[Write]) -> Vec<Result<Written, Refused>> {
    loop {
        match store.commit(batch).await {
            Ok(answers) => return answers,
            Err(StoreError::Unreachable(_)) => tokio::time::sleep(Duration::from_millis(50)).await,
            Err(failure) => panic!("{failure:?}"),
        }
    }
}

#[tokio::test]
async fn a_commit_whose_answer_was_lost_takes_effect_once() {
    let Some(server) = &*POSTGRES else { return };
    let url = server.new_url();
    let store = open(&url).await.unwrap();
    add_players(&store, &["Ada", "Bob"]).await;
    let (mut cut_before, mut cut_after) = (0, 0);
    for n in 0..60 {
        let game = spec(&format!("g{n}"), "Ada", "Bob");
        let events = whole_game(FIRST_WINS, GameResult::First, EndReason::Four);
        let batch = [Write::StartGame(game.clone()), Write::Finish { game: game.id.clone(), events }];
        // Given up somewhere between the first word and the answer, with its connection.
        let patience = Duration::from_micros(100 * n);
        let first = tokio::time::timeout(patience, store.commit(&batch)).await;
        let is_there = store.game(&game.id).await.unwrap().is_some();
        let answers = commit_at_last(&store, &batch).await;
        if first.is_err() {
            if is_there {
                cut_after += 1;
            } else {
                cut_before += 1;
            }
            assert!(matches!(answers[..], [Ok(Written::Done), Ok(Written::Settled(_))]), "{answers:?}");
        } else {
            // It was answered, so that it comes a second time here.
            assert_eq!(answers[0], Err(Refused::IdTaken));
        }
    }
    println!("given up before the commit: {cut_before}, after it: {cut_after}");
    assert!(cut_before > 0, "nothing was tried");
    let query = crate::storage::store::GameQuery { limit: 100, ..Default::default() };
    let games = store.finished_games(&query).await.unwrap();
    let numbers: Vec<u64> = games.iter().map(|game| game.settlement.as_ref().unwrap().number).collect();
    assert_eq!(numbers, (1..=60).collect::<Vec<u64>>());
    let rating = store.rating(&player_id("Ada"), Variant::STANDARD).await.unwrap().unwrap();
    assert_eq!(
        rating.standing.games,
        games.iter().filter(|game| game.settlement.as_ref().unwrap().ratings.is_some()).count() as u64
    );
}

#[tokio::test]
async fn a_server_that_was_killed_is_waited_for_and_has_everything() {
    let Some(server) = PostgresServer::start() else { return };
    let (_, store) = with_games(&server).await;
    store.commit(&append("4")).await.unwrap();
    server.kill();
    let second = moves("44").split_off(1);
    let batch = [Write::Append { game: "g1".parse().unwrap(), events: second }];
    for _ in 0..2 {
        let failure = store.commit(&batch).await.unwrap_err();
        assert!(matches!(failure, StoreError::Unreachable(_)), "{failure:?}");
        let failure = store.live_games().await.unwrap_err();
        assert!(matches!(failure, StoreError::Unreachable(_)), "{failure:?}");
        assert!(store.ping().await.is_err());
    }
    server.restart();
    assert_eq!(commit_at_last(&store, &batch).await, [Ok(Written::Done)]);
    assert_eq!(played(&store).await, ["44", "4", "4"]);
    assert_eq!(store.audit_pages().await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn one_process_alone_writes() {
    let Some(server) = &*POSTGRES else { return };
    let (url, store) = with_games(server).await;
    store.commit(&append("4")).await.unwrap();
    // The connection of the first is lost, and another process is faster than it.
    let (_, schema) = url.rsplit_once("%3D").unwrap();
    server.execute(&format!(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' \
         AND objid = hashtext('{schema}')::bigint & 4294967295"
    ));
    let other = open(&url).await.unwrap();
    let batch = [Write::Append { game: "g1".parse().unwrap(), events: moves("45").split_off(1) }];
    let failure = loop {
        match store.commit(&batch).await {
            Err(StoreError::Unreachable(_)) => tokio::time::sleep(Duration::from_millis(50)).await,
            other => break other.unwrap_err(),
        }
    };
    assert!(failure.to_string().contains("failed"), "{failure:?}");
    assert!(matches!(failure, StoreError::Failed(_)), "{failure:?}");
    assert_eq!(played(&other).await, ["4", "4", "4"]);
    assert_eq!(other.commit(&batch).await.unwrap(), [Ok(Written::Done)]);
    // While one writes, another is told so.
    let refused = tokio::time::timeout(Duration::from_secs(30), open(&url)).await.unwrap();
    assert!(matches!(refused, Err(PostgresOpenError::InUse { .. })), "{refused:?}");
}

/// A process that still has its connection finds itself fenced too.
#[tokio::test]
async fn whoever_was_replaced_writes_nothing() {
    let Some(server) = &*POSTGRES else { return };
    let (url, store) = with_games(server).await;
    execute(server, &url, "UPDATE node SET ended = 'replaced'");
    for batch in [
        &append("4")[..],
        &[crate::storage::conformance::add(crate::storage::conformance::player(
            "Eve",
            crate::model::player::PlayerKind::Human,
        ))],
    ] {
        let failure = store.commit(batch).await.unwrap_err();
        assert!(matches!(failure, StoreError::Failed(_)), "{failure:?}");
    }
    assert!(store.probe().await.is_err());
    assert_eq!(played(&store).await, ["", "", ""]);
}

#[tokio::test]
async fn a_write_that_the_database_does_not_take_is_refused_alone() {
    let Some(server) = &*POSTGRES else { return };
    let (url, store) = with_games(server).await;
    execute(
        server,
        &url,
        "CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN IF NEW.game = 2 THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW; END $$; \
         CREATE TRIGGER broken BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION broken()",
    );
    let answers = store.commit(&append("4")).await.unwrap();
    assert_eq!(answers, [Ok(Written::Done), Err(Refused::Contradiction), Ok(Written::Done)]);
    assert_eq!(played(&store).await, ["4", "", "4"]);
    // The refused one left no trace in what the writer knows of the game either.
    execute(server, &url, "DROP TRIGGER broken ON event");
    let [_, second, _] = append("4");
    assert_eq!(store.commit(&[second]).await.unwrap(), [Ok(Written::Done)]);
    assert_eq!(played(&store).await, ["4", "4", "4"]);
}

#[tokio::test]
async fn a_damaged_game_harms_no_other() {
    let Some(server) = &*POSTGRES else { return };
    let (url, store) = with_games(server).await;
    store.commit(&append("4453")).await.unwrap();
    execute(
        server,
        &url,
        "ALTER TABLE event DISABLE TRIGGER USER; DELETE FROM event WHERE game = 2 AND seq = 3; \
         INSERT INTO live_game (game) VALUES (99)",
    );
    let live = store.live_games().await.unwrap();
    assert_eq!(live.iter().map(|game| game.spec.id.as_str()).collect::<Vec<_>>(), ["g1", "g3"]);
    let error = store.game(&"g2".parse().unwrap()).await.unwrap_err();
    assert!(error.to_string().contains("event 3 is missing"), "{error}");
    assert_eq!(store.audit_pages().await.unwrap(), ["row 99 of live_game names what is not there"]);
}

#[tokio::test]
async fn the_log_cannot_be_rewritten() {
    let Some(server) = &*POSTGRES else { return };
    let (_, store) = with_games(server).await;
    store.commit(&append("4")).await.unwrap();
    let lane = store.lane.lock().await;
    let connection = lane.connection().unwrap();
    for change in [
        "UPDATE event SET column_no = 1",
        "UPDATE event SET info = 'a thought'",
        "UPDATE event SET info = NULL, column_no = 1",
        "DELETE FROM event",
    ] {
        let error = connection.batch_execute(change).await.unwrap_err();
        assert_eq!(error.as_db_error().unwrap().message(), "event is append-only", "{change}");
    }
    connection.batch_execute("UPDATE event SET info = NULL").await.unwrap();
}

#[tokio::test]
async fn a_packed_log_cannot_be_rewritten_either() {
    let Some(server) = &*POSTGRES else { return };
    let (_, store) = with_games(server).await;
    store.commit(&append("4")).await.unwrap();
    play(&store, spec("g4", "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
    pack(&store, 9).await;
    let lane = store.lane.lock().await;
    let connection = lane.connection().unwrap();
    let sql = "SELECT (SELECT count(*) FROM event WHERE game = 4), (SELECT count(*) FROM packed_log)";
    let row = connection.query_one(sql, &[]).await.unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (0, 1));
    for change in [
        "UPDATE packed_log SET events = ''",
        "UPDATE packed_log SET notes = ''",
        "UPDATE packed_log SET reason = 'time'",
        "DELETE FROM packed_log",
        "TRUNCATE packed_log",
        "DELETE FROM event WHERE game = 1",
        "TRUNCATE event",
    ] {
        let error = connection.batch_execute(change).await.unwrap_err();
        assert!(error.as_db_error().unwrap().message().ends_with("is append-only"), "{change}");
    }
    connection.batch_execute("UPDATE packed_log SET notes = NULL").await.unwrap();
}

#[tokio::test]
async fn a_database_that_cannot_be_used_is_named() {
    let Some(server) = &*POSTGRES else { return };
    let bad_url = |error| matches!(error, PostgresOpenError::BadUrl(_));
    for url in ["postgres://", "postgres://localhost", "postgres://h/d?sslmode=any", "postgres://h/d?x=y"] {
        assert!(bad_url(open(url).await.unwrap_err()), "{url}");
    }
    let away = open("postgres://fourfold:hunter2@127.0.0.1:1/arena").await.unwrap_err();
    assert!(matches!(away, PostgresOpenError::Unreachable { .. }), "{away:?}");
    assert!(!format!("{away:?} {away}").contains("hunter2"));
    let unknown = open(&server.server_url("nowhere")).await.unwrap_err();
    assert!(matches!(unknown, PostgresOpenError::Refused { .. }), "{unknown:?}");
    let url = server.new_url();
    execute(server, &url, "CREATE TABLE recipe (id INT)");
    let foreign = open(&url).await.unwrap_err();
    assert!(foreign.to_string().contains("something else"), "{foreign}");
    let (url, store) = with_games(server).await;
    store.close().await.unwrap();
    execute(server, &url, "UPDATE arena SET schema = 99");
    let later = open(&url).await.unwrap_err();
    assert!(later.to_string().contains("schema 99"), "{later}");
}

#[tokio::test]
async fn every_table_and_column_is_moved() {
    let Some(server) = &*POSTGRES else { return };
    let store = open(&server.new_url()).await.unwrap();
    let sql = "SELECT c.table_name::text, c.column_name::text, c.data_type::text, coalesce(k.ordinal_position, 0)::bigint \
               FROM information_schema.columns c LEFT JOIN information_schema.key_column_usage k \
                 ON k.table_schema = c.table_schema AND k.table_name = c.table_name \
                 AND k.column_name = c.column_name AND k.constraint_name = c.table_name || '_pkey' \
               WHERE c.table_schema = current_schema() AND c.column_name <> 'one_row' \
                 AND c.table_name NOT IN ('arena', 'attempt', 'cluster', 'member', 'node', 'transfer')";
    let reader = store.reader().await.unwrap();
    let mut found: Vec<(String, String, String, i64)> = db::query_as(sql).fetch_all(&reader).await.unwrap();
    let mut moved: Vec<_> = TABLES
        .iter()
        .flat_map(|table| (1..).zip(table.columns).map(move |(place, column)| (table, place, column)))
        .map(|(table, place, (column, kind))| {
            let sql_type = match kind {
                Kind::Number => "bigint",
                Kind::Flag => "boolean",
                Kind::Text => "text",
                Kind::Bytes => "bytea",
            };
            let place = if place <= i64::try_from(table.key).unwrap() { place } else { 0 };
            (table.name.to_owned(), (*column).to_owned(), sql_type.to_owned(), place)
        })
        .collect();
    found.sort();
    moved.sort();
    assert_eq!(moved, found);
}

fn node(name: &str, key: &str) -> NewMember {
    NewMember {
        name: name.to_owned(),
        address: "127.0.0.1:1".to_owned(),
        holds: true,
        key_digest: key.to_owned(),
    }
}

#[tokio::test]
async fn nodes_are_listed_for_as_long_as_they_beat_and_sign_alike() {
    let Some(server) = &*POSTGRES else { return };
    let url = server.new_url();
    let mut members = Members::of(&url).unwrap();
    assert!(!members.has_list().await.unwrap(), "nobody has used it");
    let store = open(&url).await.unwrap();
    assert!(members.has_list().await.unwrap());
    let first = members.join(&node("one", "a key")).await.unwrap();
    let refused = members.join(&node("two", "another key")).await.unwrap_err();
    assert!(matches!(refused, BadMember::OtherKey), "{refused}");
    let roll = members.look().await.unwrap();
    assert!(!roll.members[0].lives && roll.leader().is_none(), "it has not beaten yet: {roll:?}");
    let leads = Standing { writes_as: Some(store.incarnation()), serves: true };
    let lease = Duration::from_mins(1);
    assert!(members.beat(first, lease, leads, None).await.unwrap());
    let roll = members.look().await.unwrap();
    assert_eq!(roll.leader().map(|leader| (leader.key, leader.lives)), Some((first, true)));
    let beat = roll.members[0].expires_at.before(lease);
    assert!(UnixMillis::now().after(beat) < lease, "{roll:?}");
    assert!(roll.is_locked);
    let list = ListedMembers::of(&url).unwrap();
    assert!(list.drain("one", true).await.unwrap() && !list.drain("three", true).await.unwrap());
    assert!(list.roll().await.unwrap().members[0].is_drained);
    assert!(members.look().await.unwrap().member(first).unwrap().is_drained);
    // A process that is started again under its name takes the place of the one before, drained or not.
    let again = members.join(&node("one", "a key")).await.unwrap();
    assert!(!members.beat(first, Duration::from_mins(1), leads, None).await.unwrap());
    assert!(!members.look().await.unwrap().member(again).unwrap().is_drained);
    members.leave(again).await.unwrap();
    assert_eq!(members.look().await.unwrap().members, []);
    store.close().await.unwrap();
    assert!(!members.look().await.unwrap().is_locked);
}

#[tokio::test]
async fn how_far_the_database_is_from_a_node_is_listed_unless_the_list_is_of_before() {
    let Some(server) = &*POSTGRES else { return };
    let url = server.new_url();
    let store = open(&url).await.unwrap();
    let mut members = Members::of(&url).unwrap();
    let key = members.join(&node("one", "a key")).await.unwrap();
    let mut told = async |after: Option<Duration>| {
        let beaten = members.beat(key, Duration::from_mins(1), Standing::default(), after).await;
        assert!(beaten.unwrap());
        let (roll, answered_after) = members.look_in_time().await.unwrap();
        assert!(answered_after > Duration::ZERO && roll.members[0].lives);
        roll.members[0].answers_after
    };
    // As a leader of a version before has it, while this node stands by.
    let lane = store.lane.lock().await;
    let connection = lane.connection().unwrap();
    connection.batch_execute("ALTER TABLE member DROP COLUMN answers_us").await.unwrap();
    let after = Some(Duration::from_micros(212_345));
    assert_eq!((told(after).await, told(after).await), (None, None));
    connection.batch_execute(include_str!("../../../migrations/postgres/0034_distance.sql")).await.unwrap();
    assert_eq!(told(after).await, None, "it beats before it looks");
    assert_eq!(told(after).await, after);
    assert_eq!(told(None).await, None);
    assert_eq!(told(Some(Duration::MAX)).await, Some(Duration::from_micros(i64::MAX.unsigned_abs())));
}

#[tokio::test]
async fn a_writer_that_was_ended_writes_nothing_more_and_lets_the_next_one_in() {
    let Some(server) = &*POSTGRES else { return };
    let url = server.new_url();
    let store = open(&url).await.unwrap();
    let mut members = Members::of(&url).unwrap();
    let refused = PostgresStore::open_now(&url, Durability::Strict).await.unwrap_err();
    assert!(matches!(refused, PostgresOpenError::InUse { .. }), "{refused}");
    members.end_writer(store.incarnation()).await.unwrap();
    let roll = members.look().await.unwrap();
    assert!(roll.writer.is_none(), "{roll:?}");
    // Whichever comes first, the end of its connection or its being replaced, nothing is written.
    let mut refusals = Vec::new();
    while !matches!(refusals.last(), Some(StoreError::Failed(_))) {
        refusals.push(store.probe().await.unwrap_err());
        assert!(refusals.len() < 10, "{refusals:?}");
    }
    let next = open(&url).await.unwrap();
    assert!(next.incarnation() > store.incarnation());
    next.probe().await.unwrap();
    store.probe().await.unwrap_err();
}
