//! One validated [`Config`]: defaults, then the file, then the environment, then flags.
//!
//! Every value is checked where it is read, by its type, so that an error can name the line or the variable. The keys
//! are described for operators in `config/default.toml`; a test holds that file equal to [`Config::default`].

mod access;
mod backup;
mod cluster;
mod dump;
mod error;
mod layers;
mod mail;
mod programs;
mod push;
mod seasons;
mod tournaments;
mod value;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use fourfold_bots::BotSpec;
use serde::{Deserialize, Serialize};

pub use access::{AccessConfig, Lookalikes, Registration};
pub use backup::BackupConfig;
pub(crate) use cluster::{BusUrls, ClusterConfig, NodeName};
pub use dump::DumpConfig;
pub(crate) use error::ConfigError;
pub(crate) use mail::{MailConfig, MailSecurity};
pub use programs::{HouseSpec, ProgramsConfig};
pub(crate) use push::PushConfig;
pub use seasons::{SeasonConfig, SeasonConfigs};
pub(crate) use tournaments::{ARENA_MINUTES, check_tournament_name};
pub use tournaments::{FormatName, TournamentConfig, TournamentConfigs, TournamentStart};
pub(crate) use value::StorageUrl;
pub use value::{Contact, IpNetwork, ListenAddr, LogFilter, ProgramFolder, SiteOrigin, TextFile};

pub use crate::model::bounded::Bounded;
use crate::model::clock::{self, TimeControl};
use crate::model::durability::Durability;
use crate::model::fault::ILLEGAL_FORGIVEN;
use crate::model::ids::PlayerName;
use crate::model::rating::level::Level;
use crate::model::rating::strength::Strength;

/// Everything that an operator can set.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where the daemon listens and keeps its data.
    pub server: ServerConfig,
    /// Who may come in.
    pub access: AccessConfig,
    /// Who runs the site, and what they say of it.
    pub(crate) site: SiteConfig,
    /// What one client may use up.
    pub limits: LimitsConfig,
    /// Where everything is kept, and how writes are made durable.
    pub(crate) storage: StorageConfig,
    /// Several machines that are one arena.
    pub(crate) cluster: ClusterConfig,
    /// Copies of it that the daemon makes by itself.
    pub backup: BackupConfig,
    /// Files with all games that the daemon writes for everybody.
    pub dump: DumpConfig,
    /// The threads on which house bots think.
    pub compute: ComputeConfig,
    /// What programs may do that play as bots of the house.
    pub programs: ProgramsConfig,
    /// What watchers are told.
    pub watching: WatchingConfig,
    /// Rated games between bots that nobody asked for.
    pub ladder: LadderConfig,
    /// Bots that learn from the arena's games.
    pub learning: LearningConfig,
    /// Exact judgement of finished games.
    pub judging: JudgingConfig,
    /// What owners of bots are told at addresses of theirs.
    pub(crate) webhooks: WebhooksConfig,
    /// How mails are sent, if any are.
    pub(crate) mail: MailConfig,
    /// Whether browsers are told something while nobody looks.
    pub(crate) push: PushConfig,
    pub(crate) metrics: MetricsConfig,
    /// What is logged, and how.
    pub(crate) log: LogConfig,
    /// The bots that the daemon itself plays.
    pub house_bots: HouseBotConfigs,
    /// Tournaments that it holds by itself.
    pub tournaments: TournamentConfigs,
    /// Spans of days whose games are ranked by themselves.
    pub seasons: SeasonConfigs,
}

/// Where the daemon listens and keeps its data.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// Address of pages, HTTP interface and WebSocket.
    pub(crate) listen: ListenAddr,
    /// Directory of database, secrets and control socket.
    pub(crate) data: PathBuf,
    /// Certificate, with those of the authorities below the root, for TLS without a proxy; empty for none.
    pub(crate) tls_cert: PathBuf,
    /// The key of that certificate.
    pub(crate) tls_key: PathBuf,
    /// How players reach the daemon, for links; `None` for the address that they asked for.
    #[serde(with = "value::empty_is_none")]
    pub(crate) public_url: Option<SiteOrigin>,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub(crate) trusted_proxies: Vec<IpNetwork>,
    /// Balancers whose connections begin with a header of the PROXY protocol, version 2.
    pub(crate) proxy_protocol: Vec<IpNetwork>,
    /// Other sites whose pages may connect with a visitor's cookie.
    pub(crate) origins: Vec<SiteOrigin>,
    /// From the notice of a planned restart to its closing of connections, in milliseconds.
    pub restart_notice_ms: Bounded<0, 120_000>,
    /// Between two pings of the server, in milliseconds.
    pub heartbeat_ms: Bounded<100, 60_000>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: ListenAddr::local(4444),
            data: PathBuf::from("./fourfold-data"),
            tls_cert: PathBuf::new(),
            tls_key: PathBuf::new(),
            public_url: None,
            trusted_proxies: Vec::new(),
            proxy_protocol: Vec::new(),
            origins: Vec::new(),
            restart_notice_ms: Bounded::new(3_000),
            heartbeat_ms: Bounded::new(10_000),
        }
    }
}

impl ServerConfig {
    /// What the daemon needs to speak TLS itself, if it is to.
    pub(crate) fn tls(&self) -> Option<TlsFiles> {
        let named = !self.tls_cert.as_os_str().is_empty();
        named.then(|| TlsFiles { certificate: self.tls_cert.clone(), key: self.tls_key.clone() })
    }

    /// Refuses half of what TLS needs, and links that would lead past it.
    fn check_tls(&self) -> Result<(), ConfigError> {
        let is_given = |path: &PathBuf| !path.as_os_str().is_empty();
        if is_given(&self.tls_cert) != is_given(&self.tls_key) {
            let message = "give both, or none for a proxy that speaks TLS".to_owned();
            return Err(ConfigError::Contradiction { keys: "server.tls_cert and server.tls_key", message });
        }
        match &self.public_url {
            Some(url) if self.tls().is_some() && !url.is_secure() => Err(ConfigError::Contradiction {
                keys: "server.public_url and server.tls_cert",
                message: format!("{url} is not where TLS is spoken: begin it with https://"),
            }),
            _ => Ok(()),
        }
    }

    /// From the notice of a planned restart to its closing of connections.
    pub(crate) fn restart_notice(&self) -> Duration {
        self.restart_notice_ms.millis()
    }

    /// Between two pings of the server.
    pub(crate) fn heartbeat(&self) -> Duration {
        self.heartbeat_ms.millis()
    }
}

/// Who runs the site, and what they say of it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SiteConfig {
    /// Whom visitors write to.
    pub(crate) contact: Contact,
    /// What is kept of whom, in the place of our own words.
    pub(crate) privacy: TextFile,
    /// On what terms the site is used.
    pub(crate) terms: TextFile,
    /// Who is answerable for it.
    pub(crate) imprint: TextFile,
    /// Builds of this program for bots' authors.
    pub(crate) programs: ProgramFolder,
}

/// Where a certificate and its key are, in PEM.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TlsFiles {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// What one client may use up.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// Connections at the same time; 0 for as many as the process may open files, less a reserve.
    pub(crate) connections: Bounded<0, 1_000_000>,
    /// Connections of one network address (IPv6: of one /64) at the same time.
    pub(crate) connections_per_address: Bounded<1, 1_000_000>,
    /// Shares of one network address (IPv6: of one /64) in what makes state or costs computing.
    pub(crate) shares_per_address: Bounded<1, 1_000>,
    /// Sessions of one person at the same time; one more ends the oldest. A bot always has one.
    pub(crate) connections_per_account: Bounded<1, 10_000>,
    /// Whether clients on this machine are free of the limits by address.
    pub(crate) loopback_exempt: bool,
    /// Messages of one connection at once, and again in every 20 seconds; the `move` that answers a `turn` is free.
    pub messages_per_20s: Bounded<10, 1_000_000>,
    /// Games of all players at the same time.
    pub games: Bounded<1, 1_000_000>,
    /// Games of one player at the same time.
    pub(crate) games_per_player: Bounded<1, 10_000>,
    /// Rated games of two players within a day; later ones are played unrated. The ladder's own do not count.
    pub(crate) rated_games_per_pair_and_day: Bounded<0, 1_000_000>,
    /// Duels that owners of bots have asked for and that are played at the same time; others wait for their turn.
    pub(crate) duels: Bounded<1, 1_000>,
    /// Illegal moves of a side that one game forgives; 0 for none.
    pub illegal_retries: Bounded<0, 2>,
    /// Whether a version of a remote bot must have passed the self-test before it plays rated games.
    pub rated_requires_selftest: bool,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            connections: Bounded::new(0),
            connections_per_address: Bounded::new(64),
            shares_per_address: Bounded::new(1),
            connections_per_account: Bounded::new(8),
            loopback_exempt: true,
            messages_per_20s: Bounded::new(100),
            games: Bounded::new(10_000),
            games_per_player: Bounded::new(16),
            rated_games_per_pair_and_day: Bounded::new(20),
            duels: Bounded::new(4),
            illegal_retries: Bounded::new(u32::from(ILLEGAL_FORGIVEN)),
            rated_requires_selftest: false,
        }
    }
}

impl LimitsConfig {
    /// Illegal moves of a side that one game forgives.
    pub(crate) fn illegal_retries(&self) -> u8 {
        u8::try_from(self.illegal_retries.number()).unwrap_or(u8::MAX)
    }

    /// Connections at the same time; `None` for as many as the process may open files, less a reserve.
    pub(crate) fn connections(&self) -> Option<usize> {
        Some(self.connections.count()).filter(|&connections| connections > 0)
    }
}

/// How writes are made durable.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct StorageConfig {
    /// The database server, if there is one.
    pub(crate) url: StorageUrl,
    /// What an acknowledged move survives.
    pub(crate) durability: Durability,
    /// For so many days games have the texts of what learners learnt from them; 0 for ever.
    pub(crate) keep_lessons_days: Bounded<0, 36_500>,
    /// For so many days games among bots of the house have what these thought; 0 for ever.
    pub(crate) keep_notes_days: Bounded<0, 36_500>,
}

impl Default for StorageConfig {
    fn default() -> Self {
        Self {
            url: StorageUrl::default(),
            durability: Durability::default(),
            keep_lessons_days: Bounded::new(30),
            keep_notes_days: Bounded::new(30),
        }
    }
}

/// The threads on which house bots think.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComputeConfig {
    /// Threads; 0 for one less than the machine has cores, at least one.
    pub threads: Bounded<0, 1_024>,
}

impl ComputeConfig {
    /// Threads to start, from 1.
    pub(crate) fn threads(&self) -> usize {
        match self.threads.count() {
            0 => std::thread::available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1).max(1)),
            threads => threads,
        }
    }
}

/// What watchers are told.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WatchingConfig {
    /// Whether they hear what the position is worth; never in rated games between people.
    pub truth: bool,
    /// How long after the move, in milliseconds.
    pub(crate) truth_delay_ms: Bounded<0, 600_000>,
    /// How much later than the players they see games of people, in milliseconds; those of bots they see at once.
    pub delay_ms: Bounded<0, 600_000>,
}

impl Default for WatchingConfig {
    fn default() -> Self {
        Self { truth: true, truth_delay_ms: Bounded::new(0), delay_ms: Bounded::new(0) }
    }
}

impl WatchingConfig {
    /// How long after a move its value is told.
    pub(crate) fn truth_delay(&self) -> Duration {
        self.truth_delay_ms.millis()
    }

    /// How much later than the players they see games of people.
    pub(crate) fn delay(&self) -> Duration {
        self.delay_ms.millis()
    }
}

/// Rated games between bots that nobody asked for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LadderConfig {
    /// Whether there are any.
    pub enabled: bool,
    /// Part of all the machine's cores that bots of the house may take for them, in percent.
    pub(crate) cpu_share: Bounded<1, 100>,
    /// Part of one core that they may take once the order of the bots is known, in percent.
    pub(crate) calm_percent: Bounded<0, 100>,
    /// Pairs among bots of the house at the same time.
    pub concurrency: Bounded<1, 1_000>,
    /// Pairs that the same two bots play within a day.
    pub pairs_per_day: Bounded<1, 1_000_000>,
    /// Pairs that a remote bot begins within a minute.
    pub(crate) remote_pairs_per_minute: Bounded<1, 10_000>,
    /// Those of them against the same opponent.
    pub(crate) remote_pairs_per_minute_and_opponent: Bounded<1, 10_000>,
    /// Each side's time for the whole game, in milliseconds.
    pub(crate) bank_ms: Bounded<1_000, 3_600_000>,
    /// Added to it after each move, in milliseconds.
    pub(crate) increment_ms: Bounded<0, 60_000>,
}

impl Default for LadderConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            cpu_share: Bounded::new(25),
            calm_percent: Bounded::new(3),
            concurrency: Bounded::new(8),
            pairs_per_day: Bounded::new(100),
            remote_pairs_per_minute: Bounded::new(6),
            remote_pairs_per_minute_and_opponent: Bounded::new(1),
            bank_ms: Bounded::new(60_000),
            increment_ms: Bounded::new(500),
        }
    }
}

impl LadderConfig {
    /// How much time each side has.
    pub(crate) fn time(&self) -> TimeControl {
        TimeControl {
            bank_ms: Some(self.bank_ms.number()),
            increment_ms: self.increment_ms.number(),
            move_ms: None,
        }
    }
}

/// Bots that learn from the arena's games.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearningConfig {
    /// Whether there are any.
    pub enabled: bool,
    /// Part of one core that learning takes at most, in percent; less while games wait for a thread.
    pub(crate) cpu_percent: Bounded<1, 100>,
    /// Numbers of learnt games after which a version is frozen and goes on as an opponent of its own.
    pub(crate) freeze_at: Vec<Bounded<0, 100_000_000>>,
    /// Per cent of the decisions in which a player who is not of the house must have kept the result, by the judge's
    /// word, for the game to be learnt; 0 to learn all without a look.
    pub(crate) accuracy_min: Bounded<0, 100>,
    /// Games to which each learner is brought by practice against bots of the house; 0 for no practice.
    pub(crate) practice_games: Bounded<0, 1_000_000>,
    /// From the end of a practice game to the start of the next, in milliseconds.
    pub(crate) practice_pause_ms: Bounded<0, 86_400_000>,
    /// Bots of the house that it is practised against; those that are not there are left out.
    pub(crate) teachers: Vec<PlayerName>,
}

impl Default for LearningConfig {
    fn default() -> Self {
        const MARKS: [u32; 9] = [0, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000];
        // Quick ones of all levels that a beginner can learn from.
        const TEACHERS: [&str; 5] = ["random", "greedy", "lines69", "negamax-2", "negamax"];
        Self {
            enabled: true,
            cpu_percent: Bounded::new(25),
            freeze_at: MARKS.map(Bounded::new).to_vec(),
            accuracy_min: Bounded::new(0),
            practice_games: Bounded::new(1_000),
            practice_pause_ms: Bounded::new(500),
            teachers: TEACHERS.map(|name| name.parse().expect("a name that follows the rules")).to_vec(),
        }
    }
}

/// The judge of finished games.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JudgingConfig {
    /// Whether games are judged, and puzzles found in them.
    pub enabled: bool,
    /// Part of one core that it takes at most, in percent; less while games wait for a thread.
    pub(crate) cpu_percent: Bounded<1, 100>,
    /// Puzzles that are kept of those found in games.
    pub(crate) puzzles: Bounded<0, 10_000>,
}

impl Default for JudgingConfig {
    fn default() -> Self {
        Self { enabled: true, cpu_percent: Bounded::new(25), puzzles: Bounded::new(1_000) }
    }
}

/// Figures for monitoring.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MetricsConfig {
    /// Whether `/metrics` is served.
    pub(crate) enabled: bool,
    /// Its own listener; on this machine only.
    pub(crate) listen: ListenAddr,
}

impl Default for MetricsConfig {
    fn default() -> Self {
        Self { enabled: true, listen: ListenAddr::local(4445) }
    }
}

/// What owners of bots are told at addresses of theirs.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WebhooksConfig {
    /// Whether owners of bots may have messages sent.
    pub(crate) enabled: bool,
    /// Networks of the operator's own to which messages may go beside the Internet.
    pub(crate) networks: Vec<IpNetwork>,
}

/// What is logged, and how. Logs go to standard error.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LogConfig {
    /// The form of a line.
    pub(crate) format: LogFormat,
    /// Which events are logged.
    pub(crate) level: LogFilter,
}

/// The form of a log line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One object a line, for programs.
    Json,
}

/// The bots that the daemon itself plays.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HouseBotConfigs(pub Vec<HouseBotConfig>);

/// A bot that the daemon itself plays.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "HouseBot")]
pub struct HouseBotConfig {
    /// Its name as a player.
    #[serde(deserialize_with = "value::registrable_name")]
    pub(crate) name: PlayerName,
    pub(crate) spec: HouseSpec,
    /// In a word; left out, it follows from the rating.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) strength: Option<Strength>,
    /// Its place among those that beginners choose from, as a character with a name and a face.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) level: Option<Level>,
    /// Measured beforehand, on the scale on which `random` is 0: pages sort and show by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) elo: Option<Bounded<0, 4_000>>,
    /// One line for players; left out, the program's own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) about: String,
}

/// How the interface calls the style of bots that are programs of the operator's.
pub(crate) const PROGRAM_STYLE: &str = "program";

impl HouseBotConfig {
    /// A bot of which nothing more is said.
    pub fn new(name: PlayerName, spec: BotSpec) -> Self {
        let spec = HouseSpec::Bot(spec);
        Self { name, spec, strength: None, level: None, elo: None, about: String::new() }
    }

    /// How it plays, in one word.
    pub(crate) fn style(&self) -> &'static str {
        match &self.spec {
            HouseSpec::Bot(spec) => {
                fourfold_bots::registry::entry(spec.name()).map_or("", |entry| entry.style)
            }
            HouseSpec::Program(_) => PROGRAM_STYLE,
        }
    }

    /// How strong it was found to be beforehand, in Elo points above `random`.
    pub(crate) fn elo(&self) -> Option<i32> {
        self.elo.and_then(|elo| elo.number().try_into().ok())
    }

    /// One line for players.
    pub(crate) fn about(&self) -> &str {
        let own = match &self.spec {
            HouseSpec::Bot(spec) => {
                fourfold_bots::registry::entry(spec.name()).map_or("", |entry| entry.about)
            }
            HouseSpec::Program(_) => "",
        };
        if self.about.is_empty() { own } else { &self.about }
    }
}

/// `config/bots.toml`, the one place where the line-up is written down.
const LINE_UP: &str = include_str!("../../config/bots.toml");

impl Default for HouseBotConfigs {
    fn default() -> Self {
        #[derive(Deserialize)]
        struct LineUp {
            house_bots: HouseBotConfigs,
        }
        let line_up: LineUp = toml::from_str(LINE_UP).expect("a test reads it");
        line_up.house_bots
    }
}

impl Config {
    /// As it is in force, in the form of the file, for operators who look: without what nobody should see.
    pub(crate) fn shown(&self) -> String {
        let storage = StorageConfig { url: self.storage.url.masked(), ..self.storage.clone() };
        let shown = Self {
            storage,
            cluster: self.cluster.masked(),
            mail: self.mail.masked(),
            push: self.push.masked(),
            ..self.clone()
        };
        toml::to_string(&shown).unwrap_or_else(|error| format!("# they cannot be written down: {error}"))
    }

    /// For tests: an arena in which nothing begins that nobody asked for, on one thread, with these bots of the house,
    /// each named as its program.
    ///
    /// # Panics
    ///
    /// There is no such program.
    pub fn quiet<const N: usize>(house_bots: [&str; N]) -> Self {
        let mut config = Self::default();
        config.ladder.enabled = false;
        config.learning.enabled = false;
        config.judging.enabled = false;
        // The solver's threads know no time but the machine's.
        config.watching.truth = false;
        config.compute.threads = Bounded::new(1);
        let bot =
            |name: &str| HouseBotConfig::new(name.parse().expect("a name"), name.parse().expect("a bot"));
        config.house_bots.0 = house_bots.map(bot).into();
        config
    }

    /// Checks what no single value can tell.
    fn validate(self) -> Result<Self, ConfigError> {
        let mut names = BTreeSet::new();
        if let Some(twice) = self.house_bots.0.iter().find(|bot| !names.insert(bot.name.key())) {
            let message = format!("the name `{}` is given twice: players' names are unique", twice.name);
            return Err(ConfigError::Contradiction { keys: "house_bots.name", message });
        }
        let mut levels = BTreeSet::new();
        let levelled = self.house_bots.0.iter().filter_map(|bot| Some((bot, bot.level?)));
        if let Some((twice, level)) = levelled.into_iter().find(|(_, level)| !levels.insert(*level)) {
            let message = format!("level {level} is given twice, to `{}` too: each has one bot", twice.name);
            return Err(ConfigError::Contradiction { keys: "house_bots.level", message });
        }
        self.check_metrics()?;
        self.server.check_tls().and_then(|()| self.mail.check(self.server.public_url.as_ref()))?;
        self.cluster.check(&self.storage).and_then(|()| self.push.check())?;
        self.backup.check(&self.storage, &self.server.data).and_then(|()| self.dump.check())?;
        let per_address = self.limits.connections_per_address.count();
        if self.limits.connections().is_some_and(|connections| per_address > connections) {
            let message = format!(
                "one address may have at most all connections, {} is more than {}",
                self.limits.connections_per_address, self.limits.connections
            );
            let keys = "limits.connections_per_address and limits.connections";
            return Err(ConfigError::Contradiction { keys, message });
        }
        if let Err(error) = clock::validate(self.ladder.time()) {
            let keys = "ladder.increment_ms and ladder.bank_ms";
            return Err(ConfigError::Contradiction { keys, message: error.to_string() });
        }
        if self.learning.accuracy_min.number() > 0 && !self.judging.enabled {
            let message =
                "nobody would say how well players decide: enable judging, or learn without a look (0)";
            let keys = "learning.accuracy_min and judging.enabled";
            return Err(ConfigError::Contradiction { keys, message: message.to_owned() });
        }
        self.check_events()?;
        Ok(self)
    }

    fn check_metrics(&self) -> Result<(), ConfigError> {
        let MetricsConfig { enabled, listen } = &self.metrics;
        if *enabled && !listen.is_local() {
            let message = format!(
                "{listen} can be reached from other machines: give an address of this one, such as 127.0.0.1:4445, and \
                 put a proxy with a password in front of it"
            );
            return Err(ConfigError::Contradiction { keys: "metrics.enabled and metrics.listen", message });
        }
        if *enabled && listen.meets(&self.server.listen) {
            let message = format!(
                "{listen} is taken by the arena itself, which listens on {}: give another port, or switch \
                 metrics.enabled off",
                self.server.listen
            );
            return Err(ConfigError::Contradiction { keys: "metrics.listen and server.listen", message });
        }
        Ok(())
    }

    fn check_events(&self) -> Result<(), ConfigError> {
        let of = |keys| move |message| ConfigError::Contradiction { keys, message };
        self.tournaments.check().map_err(of("tournaments"))?;
        self.seasons.check().map_err(of("seasons"))
    }
}

#[cfg(test)]
mod tests {
    use fourfold_bots::registry;
    use fourfold_engine::Variant;

    use super::*;

    const DOCUMENTED: &str = include_str!("../../config/default.toml");

    #[test]
    fn what_operators_see_can_be_read_back_and_has_no_password() {
        let mut config = Config::default();
        config.storage.url = "postgres://fourfold:hunter2@db/arena".to_owned().into();
        let shown = config.shown();
        assert!(!shown.contains("hunter2"), "{shown}");
        config.storage.url = "***".to_owned().into();
        assert_eq!(toml::from_str::<Config>(&shown).unwrap(), config);
    }

    #[test]
    fn the_documented_file_says_what_the_defaults_are() {
        let documented: Config = toml::from_str(DOCUMENTED).unwrap();
        assert_eq!(documented, Config::default());
    }

    #[test]
    fn the_documented_file_names_every_key() {
        let documented: toml::Table = DOCUMENTED.parse().unwrap();
        let all = toml::Table::try_from(Config::default()).unwrap();
        for (section, keys) in &all {
            for key in keys.as_table().into_iter().flat_map(toml::Table::keys) {
                let is_there = documented.get(section).is_some_and(|keys| keys.get(key).is_some());
                assert!(is_there, "config/default.toml leaves out {section}.{key}");
            }
        }
    }

    #[test]
    fn the_defaults_contradict_nothing() {
        assert!(Config::default().validate().is_ok());
    }

    #[test]
    fn every_default_house_bot_can_be_built_and_says_what_it_is() {
        for bot in HouseBotConfigs::default().0 {
            let HouseSpec::Bot(spec) = &bot.spec else { panic!("{} is built in", bot.spec) };
            assert!(registry::build_taught(spec, Variant::STANDARD, "").is_ok(), "{spec}");
            assert!(!bot.about().is_empty() && !bot.style().is_empty(), "{}", bot.name);
            assert!(bot.strength.is_some(), "{}: nobody is rated when the first visitor comes", bot.name);
        }
    }

    #[test]
    fn every_program_is_in_the_house_and_the_weak_come_first() {
        let bots = HouseBotConfigs::default().0;
        for entry in registry::entries() {
            let is_there = bots.iter().any(|bot| bot.spec.to_string().split(':').next() == Some(entry.name));
            assert!(is_there, "config/bots.toml leaves out {}", entry.name);
        }
        assert!(bots.is_sorted_by_key(|bot| bot.strength), "config/bots.toml goes from weak to strong");
        assert!(bots.is_sorted_by_key(|bot| bot.elo), "config/bots.toml goes from weak to strong");
        for bot in &bots {
            let by_rating = bot.elo().map(Strength::of_elo);
            assert_eq!(by_rating, bot.strength, "{}: its word is not that of its rating", bot.name);
            if bot.level.is_some() {
                assert_eq!(bot.elo().map(Level::of_elo), bot.level, "{}", bot.name);
            }
        }
        let levels: Vec<u32> = bots.iter().filter_map(|bot| Some(u32::from(bot.level?.number()))).collect();
        assert_eq!(levels, (1..=8).collect::<Vec<_>>(), "one bot for each level, the weakest first");
    }

    #[test]
    fn the_line_up_is_a_configuration_in_itself() {
        let alone: Config = toml::from_str(LINE_UP).unwrap();
        assert_eq!(alone, Config::default());
    }

    #[test]
    fn the_example_of_a_public_arena_is_sound_and_asks_for_the_self_test() {
        let public: Config = toml::from_str(include_str!("../../config/public.toml")).unwrap();
        assert!(public.limits.rated_requires_selftest);
        assert!(public.validate().is_ok());
        assert!(!Config::default().limits.rated_requires_selftest);
    }

    #[track_caller]
    fn check_contradiction(change: impl FnOnce(&mut Config), keys: &str) {
        let mut config = Config::default();
        change(&mut config);
        let error = config.validate().unwrap_err().to_string();
        assert!(error.starts_with(keys), "{error}");
    }

    #[test]
    fn contradictions_name_the_keys() {
        check_contradiction(|c| c.house_bots.0.push(c.house_bots.0[0].clone()), "house_bots.name: ");
        check_contradiction(|c| c.house_bots.0[1].level = c.house_bots.0[0].level, "house_bots.level: ");
        check_contradiction(
            |c| c.metrics.listen = "0.0.0.0:4445".parse().unwrap(),
            "metrics.enabled and metrics.listen: ",
        );
        let one_port = |c: &mut Config| c.server.listen = c.metrics.listen.clone();
        check_contradiction(one_port, "metrics.listen and server.listen: 127.0.0.1:4445 is taken");
        let everywhere = |c: &mut Config| c.server.listen = "0.0.0.0:4445".parse().unwrap();
        check_contradiction(everywhere, "metrics.listen and server.listen: ");
        check_contradiction(
            |c| c.server.tls_cert = "chain.pem".into(),
            "server.tls_cert and server.tls_key: ",
        );
        check_contradiction(
            |c| {
                c.server.tls_cert = "chain.pem".into();
                c.server.tls_key = "key.pem".into();
                c.server.public_url = "http://fourfold.example".parse().ok();
            },
            "server.public_url and server.tls_cert: ",
        );
        let backwards = "[[seasons]]\nname = \"S\"\nstart = \"2026-03-02\"\nend = \"2026-03-01\"";
        let backwards: Config = toml::from_str(backwards).unwrap();
        check_contradiction(|c| c.seasons = backwards.seasons, "seasons: `S` ends on 2026-03-01");
        check_contradiction(|c| c.dump.directory = "/dumps".into(), "dump.at and dump.directory: ");
        check_contradiction(|c| c.backup.directory = "/backups".into(), "backup.at and backup.directory: ");
        let into_itself = |c: &mut Config| {
            c.backup.at = "0 3 * * *".parse().unwrap();
            (c.backup.directory, c.server.data) = ("./src/".into(), "src/../src".into());
        };
        check_contradiction(into_itself, "backup.directory and server.data: ");
        check_contradiction(
            |c| {
                c.backup.at = "0 3 * * *".parse().unwrap();
                c.backup.directory = "/backups".into();
                c.storage.url = "postgres://localhost/fourfold".to_owned().into();
            },
            "backup.at and storage.url: ",
        );
        check_contradiction(
            |c| c.limits.connections = Bounded::new(10),
            "limits.connections_per_address and limits.connections: ",
        );
        check_contradiction(
            |c| {
                c.ladder.bank_ms = Bounded::new(1_000);
                c.ladder.increment_ms = Bounded::new(2_000);
            },
            "ladder.increment_ms and ladder.bank_ms: ",
        );
        check_contradiction(
            |c| {
                c.learning.accuracy_min = Bounded::new(50);
                c.judging.enabled = false;
            },
            "learning.accuracy_min and judging.enabled: ",
        );
    }

    #[test]
    fn there_is_always_a_thread_for_bots() {
        assert!(ComputeConfig::default().threads() >= 1);
        assert_eq!(ComputeConfig { threads: Bounded::new(3) }.threads(), 3);
    }
}
