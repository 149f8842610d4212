use fourfold_engine::Variant;
use tokio::task::{JoinHandle, yield_now};

use super::*;

fn game(moves: &str) -> Game {
    Game::from_moves(Variant::STANDARD, moves).unwrap()
}

/// The first side wins with its fourth stone.
const MOVES: &str = "4455667";
/// Beyond the opening book, and hard: some million nodes.
const DEEP: &str = "635211145114";
/// Nearly full.
const LATE: &str = "557152711624545746362464762234";

fn analysis() -> Analysis {
    Analysis::new(1, &Shares::default())
}

fn visitor(last: u8) -> Asker {
    Asker::Visitor(Payer::stranger(IpAddr::from([192, 0, 2, last])))
}

#[tokio::test]
async fn what_was_solved_is_not_solved_again() {
    let analysis = analysis();
    let late = game(LATE);
    let solved = analysis.columns(&Asker::House, late.position()).await.unwrap();
    assert_eq!(analysis.known(late.position()), Some(solved));
    let mirrored = analysis.known(&late.position().mirror()).unwrap();
    assert_eq!(mirrored.best(), solved.best());
}

#[tokio::test]
async fn a_game_is_reviewed_from_the_ply_that_is_asked_for() {
    let game = game("557152711624545746362464762234657");
    let reviewed = analysis().review(&visitor(1), &game, 24).await.unwrap();
    assert_eq!((reviewed.from_ply, reviewed.review.moves().len()), (24, 9));
}

#[tokio::test]
async fn a_finished_position_has_no_columns() {
    assert_eq!(analysis().columns(&visitor(1), game(MOVES).position()).await.unwrap().best(), None);
}

/// Some million nodes.
fn hard() -> Game {
    Game::from_moves("9x6".parse().unwrap(), "5555551111119999").unwrap()
}

/// Different positions that are solved in no time.
fn easy(count: usize) -> Vec<Game> {
    let late = game(LATE);
    let plies = 24..=late.ply();
    let games = plies.map(|ply| {
        let mut game = late.clone();
        while game.ply() > ply {
            game.undo();
        }
        game
    });
    let games: Vec<Game> = games.take(count).collect();
    assert_eq!(games.len(), count);
    games
}

/// Asks, and says when it has an answer.
async fn ask(
    analysis: &Analysis,
    asker: Asker,
    game: Game,
    answered: &Arc<Mutex<Vec<Asker>>>,
) -> JoinHandle<Result<ColumnScores, AnalysisError>> {
    let (analysis, answered) = (analysis.clone(), Arc::clone(answered));
    let asking = tokio::spawn(async move {
        let answer = analysis.columns(&asker, game.position()).await;
        answered.lock().unwrap().push(asker);
        answer
    });
    yield_now().await;
    asking
}

#[tokio::test(start_paused = true)]
async fn one_network_that_asks_for_much_delays_anothers_first_answer_by_one_position() {
    let analysis = analysis();
    let at_work = analysis.shared.turns.take(visitor(1).address()).await.unwrap();
    let mut positions = easy(2);
    let others = positions.pop().unwrap();
    positions.extend([hard(), hard(), hard()]);
    let answered = Arc::default();
    let mut asking = Vec::new();
    for position in positions {
        asking.push(ask(&analysis, visitor(1), position, &answered).await);
    }
    let other = ask(&analysis, visitor(2), others, &answered).await;
    drop(at_work);
    assert!(other.await.unwrap().is_ok());
    // Without turns theirs would be the last of five; the hard ones keep a machine busy for longer than it takes to be
    // told, however slow it is.
    let before = answered.lock().unwrap().iter().filter(|asker| **asker == visitor(1)).count();
    assert!(before <= 1, "{before} positions of the other network were answered before");
    for each in asking {
        each.abort();
    }
}

#[tokio::test]
async fn a_network_has_so_many_places_and_others_have_theirs() {
    let analysis = analysis();
    let answered = Arc::default();
    let at_work = analysis.shared.turns.take(visitor(1).address()).await.unwrap();
    let mut asking = Vec::new();
    for _ in 0..WAITING_OF_NETWORK {
        asking.push(ask(&analysis, visitor(1), game(LATE), &answered).await);
    }
    assert!(analysis.columns(&visitor(1), game("44").position()).await.is_ok(), "it is in the book");
    let refused = analysis.columns(&visitor(1), game(DEEP).position()).await;
    assert_eq!(refused, Err(AnalysisError::Busy { retry: RETRY }));
    let other = ask(&analysis, visitor(2), game(LATE), &answered).await;
    drop(at_work);
    assert!(other.await.unwrap().is_ok());
    for each in asking {
        assert!(each.await.unwrap().is_ok());
    }
}

/// Leaves a network so many nodes.
fn leave(analysis: &Analysis, asker: &Asker, nodes: u64) {
    let Asker::Visitor(payer) = asker else { unreachable!("the house has no share") };
    let budget = Share::Analysis.rule().network.budget.unwrap();
    analysis.shared.shares.charge(Share::Analysis, payer, u64::from(budget.amount) - nodes);
}

#[tokio::test(start_paused = true)]
async fn whoever_has_used_up_the_nodes_waits_and_another_does_not() {
    let analysis = analysis();
    leave(&analysis, &visitor(1), 1);
    let games = easy(3);
    let solved = analysis.columns(&visitor(1), games[0].position()).await.unwrap();
    let refused = analysis.columns(&visitor(1), games[1].position()).await;
    let Err(AnalysisError::Share(refusal)) = refused else { panic!("{refused:?}") };
    assert_eq!(refusal.share, Share::Analysis);
    assert_eq!(analysis.columns(&visitor(1), games[0].position()).await, Ok(solved), "it is known");
    assert!(analysis.columns(&visitor(2), games[2].position()).await.is_ok());
    tokio::time::advance(refusal.wait + Duration::from_millis(1)).await;
    assert!(analysis.columns(&visitor(1), games[1].position()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn whoever_hangs_up_pays_for_what_was_searched() {
    let analysis = analysis();
    // More than the questions that are asked here, if they alone were counted.
    leave(&analysis, &visitor(1), 3_000);
    let Asker::Visitor(payer) = visitor(1) else { unreachable!("a visitor pays") };
    for _ in 0..1_000 {
        let asking = ask(&analysis, visitor(1), hard(), &Arc::default()).await;
        // Some time for the search: of the machine, for that of the shares stands.
        let begun = std::time::Instant::now();
        while begun.elapsed() < Duration::from_millis(5) {
            yield_now().await;
        }
        asking.abort();
        // The next turn comes when the search has stopped.
        drop(analysis.shared.turns.take(visitor(1).address()).await.unwrap());
        if analysis.shared.shares.spend(Share::Analysis, &payer).is_err() {
            return;
        }
    }
    panic!("searches that nobody waits for cost nothing");
}
