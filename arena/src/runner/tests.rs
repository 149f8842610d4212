use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fourfold_engine::Column;

use super::*;
use crate::entrant::{Answer, GameStart, Player, Turn};
use crate::format::Format;
use crate::testing::plan;

/// Plays the lowest legal column, in its own way.
struct Simple {
    name: &'static str,
    habit: Habit,
}

#[derive(Clone)]
enum Habit {
    Good,
    /// Names a column that no board has.
    Illegal,
    /// Says nothing in the first game until the run is stopped.
    SilentOnce {
        was: Arc<AtomicBool>,
    },
    /// Cannot be started.
    Missing,
}

impl Entrant for Simple {
    fn name(&self) -> &str {
        self.name
    }

    fn player(&self) -> Result<Box<dyn Player>, EntrantFault> {
        match self.habit {
            Habit::Missing => Err(EntrantFault::Broken("it is not there".into())),
            Habit::Good | Habit::Illegal | Habit::SilentOnce { .. } => {
                Ok(Box::new(SimplePlayer(self.habit.clone())))
            }
        }
    }
}

struct SimplePlayer(Habit);

impl Player for SimplePlayer {
    fn begin(&mut self, _: &GameStart) -> Result<(), EntrantFault> {
        Ok(())
    }

    fn choose(&mut self, turn: &Turn<'_>) -> Result<Answer, EntrantFault> {
        let lowest = turn.game.position().legal_columns().next().expect("the game is not over");
        let column = match &self.0 {
            Habit::Good | Habit::Missing => lowest,
            Habit::Illegal => Column::from_number(12).expect("a column"),
            Habit::SilentOnce { was } => {
                let is_first = !was.swap(true, Ordering::Relaxed);
                while is_first && !turn.stop.is_set() {
                    thread::yield_now();
                }
                lowest
            }
        };
        Ok(Answer { column, spent: Duration::ZERO })
    }
}

fn entrants(habits: [Habit; 2]) -> Vec<Box<dyn Entrant>> {
    let names = ["a", "b"];
    let entrant = |(name, habit)| Box::new(Simple { name, habit }) as Box<dyn Entrant>;
    names.into_iter().zip(habits).map(entrant).collect()
}

fn match_plan(pairs: u64) -> Plan {
    let suite = Suite::balanced(Variant::STANDARD).unwrap();
    Plan { openings: suite.kind(), openings_crc: suite.checksum(), ..plan(Format::Match, 2, pairs) }
}

/// Remembers the names of the games it is told of.
#[derive(Default)]
struct Told(Vec<String>);

impl Observer for Told {
    fn wants_games(&self) -> bool {
        true
    }

    fn game(&mut self, record: &[u8]) {
        let record: MatchRecord = serde_json::from_slice(record).unwrap();
        self.0.push(record.id);
    }
}

fn play(
    entrants: &[Box<dyn Entrant>],
    log: Option<Log>,
    course: Course,
    ahead: Vec<MatchRecord>,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<Course, RunError> {
    let watchdog = Watchdog::start().unwrap();
    let suite = Suite::balanced(Variant::STANDARD).unwrap();
    let concurrency = NonZeroUsize::new(3).unwrap();
    let parts = Run { course, entrants, suite: &suite, log, ahead, concurrency, watchdog: &watchdog };
    run(parts, stop, observer)
}

fn play_to_log(path: &Path, plan: Plan, habits: [Habit; 2]) -> Course {
    let log = begin_log(path, &plan, None).unwrap();
    play(&entrants(habits), Some(log), Course::new(plan), Vec::new(), &Stop::default(), &mut Told::default())
        .unwrap()
}

fn resume(path: &Path, plan: &Plan) -> Result<Course, String> {
    let ResumedRun { log, course, ahead, .. } =
        resume_log(path, |_| plan.clone(), None).map_err(|error| error.to_string())?;
    let good = entrants([Habit::Good, Habit::Good]);
    let stop = Stop::default();
    play(&good, Some(log), course, ahead, &stop, &mut Told::default()).map_err(|error| error.to_string())
}

/// Names of the games in a log.
fn games(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let id =
        |line: &str| Some(serde_json::from_str::<serde_json::Value>(line).ok()?["id"].as_str()?.to_owned());
    text.lines().filter_map(id).collect()
}

#[test]
fn every_game_is_logged_once_and_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let plan = match_plan(20);
    let course = play_to_log(&path, plan.clone(), [Habit::Good, Habit::Good]);
    assert_eq!((course.over(), course.results().games()), (Some(log::Why::Complete), 40));
    let fingerprint = plan.fingerprint();
    let expected: Vec<String> = (0..40).map(|number| format!("{fingerprint}-{number}")).collect();
    assert_eq!(games(&path), expected);
}

#[test]
fn a_log_cut_anywhere_is_completed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let plan = match_plan(3);
    let whole = play_to_log(&path, plan.clone(), [Habit::Good, Habit::Good]);
    let bytes = fs::read(&path).unwrap();
    let names = games(&path);
    for length in (0..=bytes.len()).step_by(97) {
        fs::write(&path, &bytes[..length]).unwrap();
        let course = resume(&path, &plan).unwrap();
        assert_eq!(games(&path), names, "cut after {length} bytes");
        assert_eq!(course.results().pairs(), whole.results().pairs());
        assert!(fs::read_to_string(&path).unwrap().contains("\"event\":\"end\""));
    }
}

#[test]
fn damage_in_the_middle_names_its_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let plan = match_plan(3);
    play_to_log(&path, plan.clone(), [Habit::Good, Habit::Good]);
    let text = fs::read_to_string(&path).unwrap();
    let without_third: Vec<&str> =
        text.lines().enumerate().filter(|(number, _)| *number != 2).map(|(_, line)| line).collect();
    fs::write(&path, without_third.join("\n") + "\n").unwrap();
    let message = resume(&path, &plan).unwrap_err();
    assert!(message.contains("line 3: its checksum is wrong"), "{message}");
    fs::write(&path, text).unwrap();
    let other = Plan { seed: 1, ..plan.clone() };
    assert!(resume(&path, &other).unwrap_err().ends_with("its seed differs"));
    let (_held, _) = Log::resume(&path).unwrap();
    assert!(resume(&path, &plan).unwrap_err().contains("in use by another run"));
}

/// Stops the run when all games but one wait in the file beside the log.
struct Patient<'a> {
    ahead: std::path::PathBuf,
    stop: &'a Stop,
}
impl Observer for Patient<'_> {
    fn look(&mut self, course: &Course) {
        let ahead = fs::read_to_string(&self.ahead).unwrap_or_default();
        if course.results().games() + ahead.lines().count() as u64 == 19 {
            self.stop.set();
        }
    }
}

#[test]
fn a_silent_player_holds_up_its_own_game_alone_and_nothing_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let plan = match_plan(10);
    let silent = Habit::SilentOnce { was: Arc::default() };
    let log = begin_log(&path, &plan, None).unwrap();
    let stop = Stop::default();
    let mut observer = Patient { ahead: directory.path().join("log.ahead"), stop: &stop };
    let entrants = entrants([silent, Habit::Good]);
    let course =
        play(&entrants, Some(log), Course::new(plan.clone()), Vec::new(), &stop, &mut observer).unwrap();
    assert!(course.results().games() < 20);
    let ResumedRun { log, course, ahead, cut } = resume_log(&path, |_| plan.clone(), None).unwrap();
    assert_eq!((cut, course.results().games() + ahead.len() as u64), (0, 19));
    drop(log);
    let whole = directory.path().join("whole");
    play_to_log(&whole, plan.clone(), [Habit::Good, Habit::Good]);
    assert_eq!(resume(&path, &plan).unwrap().results().games(), 20);
    assert_eq!(games(&path), games(&whole));
    assert!(!observer.ahead.exists());
}

#[test]
fn who_breaks_the_rules_loses_and_is_suspended() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let course = play_to_log(&path, match_plan(20), [Habit::Good, Habit::Illegal]);
    let results = course.results();
    assert_eq!((course.over(), results.games()), (Some(log::Why::Suspended), 10));
    assert_eq!((results.entrants()[0].score.sum().wins, results.entrants()[1].faults), (10, 10));
    assert_eq!(results.played(), 0, "the other moved once at most");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(r#""reason":"illegal","by":"#), "{text}");
    assert!(text.contains(r#"{"event":"suspended","entrant":"b","faults_in_a_row":10"#), "{text}");
}

#[test]
fn who_cannot_be_started_ends_the_run_before_it_begins() {
    let entrants = entrants([Habit::Good, Habit::Missing]);
    let course = Course::new(match_plan(1));
    let error =
        play(&entrants, None, course, Vec::new(), &Stop::default(), &mut Told::default()).unwrap_err();
    assert_eq!(error.to_string(), "b cannot be started: it is not there");
}

#[test]
fn observers_are_told_of_every_game() {
    let mut told = Told::default();
    let good = entrants([Habit::Good, Habit::Good]);
    let course = Course::new(match_plan(5));
    play(&good, None, course, Vec::new(), &Stop::default(), &mut told).unwrap();
    assert_eq!(told.0.len(), 10);
}
