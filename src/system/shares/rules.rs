//! What is shared, and how large the shares are.
//!
//! A share of a network fits a school class of thirty behind one address, each pupil with a page or two; it is not for
//! one person's taste but for what thirty busy people do. `limits.shares_per_address` gives each network more of them.

use std::time::Duration;

use super::credits::Budget;

const MINUTE: Duration = Duration::from_mins(1);
const TEN_MINUTES: Duration = Duration::from_mins(10);
const HOUR: Duration = Duration::from_hours(1);

/// What makes state or costs computing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Share {
    Guest,
    Session,
    SignIn,
    Registration,
    Invitation,
    Report,
    PuzzleTry,
    PuzzleRun,
    Study,
    Tournament,
    Class,
    Link,
    Offer,
    Seek,
    Game,
    Analysis,
    Export,
    Search,
    Change,
    Feed,
    Webhook,
    MailLink,
    Mail,
    Push,
}

/// How much somebody may use up: so much in a period, and so many at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limit {
    pub(crate) budget: Option<Budget>,
    pub(crate) held: Option<u32>,
}

impl Limit {
    const NONE: Self = Self { budget: None, held: None };

    const fn each(amount: u32, period: Duration) -> Self {
        Self { budget: Some(Budget::new(amount, period)), held: None }
    }

    const fn held(held: u32) -> Self {
        Self { budget: None, held: Some(held) }
    }

    const fn and_held(self, held: u32) -> Self {
        Self { held: Some(held), ..self }
    }

    pub(super) fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Several shares in one.
    pub(super) fn times(self, shares: u32) -> Self {
        let more = |budget: Budget| Budget::new(budget.amount.saturating_mul(shares), budget.period);
        Self { budget: self.budget.map(more), held: self.held.map(|held| held.saturating_mul(shares)) }
    }
}

/// How one thing is shared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// In metrics and logs.
    pub(crate) name: &'static str,
    /// In messages, after "too many".
    pub(crate) what: &'static str,
    /// Of one IPv4 address or one IPv6 /64.
    pub(crate) network: Limit,
    /// Of one account, bot or guest.
    pub(crate) account: Limit,
    /// Of all together: what the machine can bear, whoever asks.
    pub(crate) all: Limit,
}

impl Rule {
    /// A rule that limits nothing yet.
    const fn new(name: &'static str, what: &'static str) -> Self {
        Self { name, what, network: Limit::NONE, account: Limit::NONE, all: Limit::NONE }
    }

    const fn network(self, network: Limit) -> Self {
        Self { network, ..self }
    }

    const fn account(self, account: Limit) -> Self {
        Self { account, ..self }
    }

    const fn all(self, all: Limit) -> Self {
        Self { all, ..self }
    }
}

/// Each is read by an operator: of one address, a class that has met somebody rude; in all, what operators can read.
const REPORT: Rule = Rule::new("report", "reports")
    .network(Limit::each(30, HOUR))
    .account(Limit::each(10, HOUR))
    .all(Limit::each(600, HOUR));

/// Each costs the lobby a search for a partner.
const SEEK: Rule = Rule::new("seek", "searches for a game").network(Limit::each(300, MINUTE).and_held(128));

/// Streams of all records, each a walk through the store.
const EXPORT: Rule =
    Rule::new("export", "exports").network(Limit::each(60, TEN_MINUTES).and_held(4)).all(Limit::held(32));

/// Messages to the owner of bots: ten bots of one owner on the ladder end that many games. Those at a time are under
/// way or wait to be sent again, each a few hundred bytes; what is more is not sent at all.
const WEBHOOK: Rule = Rule::new("webhook", "messages to webhooks")
    .account(Limit::each(120, MINUTE).and_held(32))
    .all(Limit::held(2_000));

/// Links that somebody asks for, to addresses known or unknown: a class that has forgotten its passwords.
const MAIL_LINK: Rule = Rule::new("mail_link", "links by mail").network(Limit::each(30, HOUR));

/// Mails that an account causes, so that nobody fills a stranger's mailbox; in all, what a mail server takes from one
/// customer.
const MAIL: Rule = Rule::new("mail", "mails").account(Limit::each(5, HOUR)).all(Limit::each(1_200, HOUR));

/// Notices that somebody's browsers show, one for each browser: fifty games by correspondence, and a tournament.
/// Those at a time are under way or wait to be sent again, each a few hundred bytes; what is more is not sent at all.
const PUSH: Rule = Rule::new("push", "notices to browsers")
    .account(Limit::each(300, HOUR).and_held(64))
    .all(Limit::held(2_000));

/// Moves, hints and solutions: each reads a puzzle, the last one of a try is stored.
const PUZZLE_TRY: Rule = Rule::new("puzzle_try", "moves in puzzles")
    .network(Limit::each(1_800, TEN_MINUTES))
    .account(Limit::each(300, TEN_MINUTES));

/// Runs through puzzles that go on, each some kilobytes until ten minutes after the last answer: a class twice over.
/// Whoever begins another ends the one before.
const PUZZLE_RUN: Rule = Rule::new("puzzle_run", "runs through puzzles")
    .network(Limit::held(64))
    .account(Limit::held(1))
    .all(Limit::held(2_000));

/// New studies, each some kilobytes for ever: a class that makes a few in a lesson.
const STUDY: Rule =
    Rule::new("study", "new studies").network(Limit::each(120, HOUR)).account(Limit::each(30, HOUR));

/// Tournaments of people that are to come, of which there are two hundred in all, each up to two weeks ahead: those of
/// a school, two of each teacher.
const TOURNAMENT: Rule =
    Rule::new("tournament", "tournaments to come").network(Limit::each(60, HOUR).and_held(60));

/// Classes, of which there are two hundred in all, each for a school day at most: those of a school.
const CLASS: Rule = Rule::new("class", "classes").network(Limit::each(60, HOUR).and_held(60));

impl Share {
    /// For tests and the operators' document.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 24] = [
        Self::Guest,
        Self::Session,
        Self::SignIn,
        Self::Registration,
        Self::Invitation,
        Self::Report,
        Self::PuzzleTry,
        Self::PuzzleRun,
        Self::Study,
        Self::Tournament,
        Self::Class,
        Self::Link,
        Self::Offer,
        Self::Seek,
        Self::Game,
        Self::Analysis,
        Self::Export,
        Self::Search,
        Self::Change,
        Self::Feed,
        Self::Webhook,
        Self::MailLink,
        Self::Mail,
        Self::Push,
    ];

    /// How it is shared.
    pub(crate) const fn rule(self) -> Rule {
        match self {
            // Guests that are stored, each a row for days: a class twice over. In all, what a busy evening brings.
            Self::Guest => Rule::new("guest", "new guests")
                .network(Limit::each(60, TEN_MINUTES))
                .all(Limit::each(6_000, HOUR)),
            // New sessions: each lives on for two minutes. A page that is opened makes one.
            Self::Session => Rule::new("session", "new sessions").network(Limit::each(240, MINUTE)),
            // Right or wrong: each costs 50 ms of a core and 19 MiB for that long.
            Self::SignIn => Rule::new("sign_in", "attempts to sign in").network(Limit::each(60, TEN_MINUTES)),
            // A class can sign up within an hour; a row for ever.
            Self::Registration => Rule::new("registration", "new accounts").network(Limit::each(30, HOUR)),
            // Right or wrong, so that nobody guesses one: four classes. The right one spends none of the above.
            Self::Invitation => Rule::new("invitation", "codes tried").network(Limit::each(120, HOUR)),
            Self::Report => REPORT,
            Self::PuzzleTry => PUZZLE_TRY,
            Self::PuzzleRun => PUZZLE_RUN,
            Self::Study => STUDY,
            Self::Tournament => TOURNAMENT,
            Self::Class => CLASS,
            // Links stand for a day.
            Self::Link => Rule::new("link", "links to games").network(Limit::each(120, HOUR).and_held(64)),
            // Offers to somebody, who must read them.
            Self::Offer => Rule::new("offer", "offers").network(Limit::each(300, MINUTE)),
            Self::Seek => SEEK,
            // Games under way hold memory, of bots of the house above all; each is a row for ever.
            Self::Game => Rule::new("game", "games").network(Limit::each(600, TEN_MINUTES).and_held(256)),
            // Positions that the solver looks at, a million a second in the long run: reviews, pages and puzzles draw
            // on it as well. One question is 20 million at most.
            Self::Analysis => Rule::new("analysis", "positions to analyse")
                .network(Limit::each(120_000_000, Duration::from_mins(2)))
                .account(Limit::each(120_000_000, Duration::from_mins(2))),
            Self::Export => EXPORT,
            // Pages and lists that read much of the store for one answer.
            Self::Search => Rule::new("search", "searches").network(Limit::each(600, MINUTE)),
            // All other requests that change something: settings, bots, tokens, judgements.
            Self::Change => Rule::new("change", "changes").network(Limit::each(300, Duration::from_mins(5))),
            // Streams of events for programs that only listen.
            Self::Feed => Rule::new("feed", "feeds").network(Limit::each(120, MINUTE).and_held(16)),
            Self::Webhook => WEBHOOK,
            Self::MailLink => MAIL_LINK,
            Self::Mail => MAIL,
            Self::Push => PUSH,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn grouped(number: u32) -> String {
        let digits = number.to_string();
        let groups: Vec<&str> =
            digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap()).collect();
        groups.join(",")
    }

    fn period(time: Duration) -> String {
        match time.as_secs() {
            60 => "a minute".into(),
            3_600 => "an hour".into(),
            seconds if seconds % 60 == 0 => format!("{} minutes", seconds / 60),
            seconds => format!("{seconds} seconds"),
        }
    }

    fn words(limit: Limit) -> String {
        let budget =
            limit.budget.map(|budget| format!("{} in {}", grouped(budget.amount), period(budget.period)));
        let held = limit.held.map(|held| format!("{held} at a time"));
        budget.into_iter().chain(held).collect::<Vec<_>>().join(", ")
    }

    fn table() -> String {
        let mut table = String::from(
            "| share | of what | of one address | of one account | in all |\n|---|---|---|---|---|\n",
        );
        for Rule { name, what, network, account, all } in Share::ALL.map(Share::rule) {
            let cells = [network, account, all].map(words).join(" | ");
            writeln!(table, "| `{name}` | {what} | {cells} |").unwrap();
        }
        table
    }

    #[test]
    fn the_operators_document_lists_all_shares() {
        let document = include_str!("../../../docs/operating.md");
        let table = table();
        assert!(document.contains(&table), "docs/operating.md must have this table:\n{table}");
    }

    #[test]
    fn a_class_of_thirty_fits_into_every_share_of_a_network() {
        for share in Share::ALL {
            let limit = share.rule().network;
            assert!(limit.budget.is_none_or(|budget| budget.amount >= 30), "{share:?}");
        }
    }
}
