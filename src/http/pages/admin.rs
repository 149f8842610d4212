//! How the operators' page looks. It speaks English, as the commands and their documents do.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Response};

use super::error::{PageError, not_found};
use super::layout::{LayoutFrame, Tab, Visitor};

/// The name in the title: it is nobody's language but the operators'.
const TITLE: &str = "Operators";

/// All that is on the page.
pub(in crate::http) struct AdminShown {
    pub(in crate::http) reports: Vec<ReportRow>,
    pub(in crate::http) kept_out: Vec<KeptOutRow>,
    /// Where games are judged.
    pub(in crate::http) decisions: Option<DecisionsShown>,
    pub(in crate::http) newcomers: Vec<Row>,
    pub(in crate::http) faults: Vec<Row>,
    /// What is not as it should be, one sentence each.
    pub(in crate::http) troubles: Vec<String>,
    pub(in crate::http) figures: Vec<(&'static str, String)>,
    /// Those of a cluster; nothing where one is alone.
    pub(in crate::http) nodes: Vec<NodeRow>,
    pub(in crate::http) log: Vec<Row>,
    pub(in crate::http) settings: String,
}

/// A report with which there is something to do.
pub(in crate::http) struct ReportRow {
    pub(in crate::http) number: u64,
    pub(in crate::http) player: String,
    pub(in crate::http) reporter: Option<String>,
    pub(in crate::http) game: Option<String>,
    pub(in crate::http) reason: String,
    pub(in crate::http) note: String,
    pub(in crate::http) at: String,
    pub(in crate::http) taken_by: Option<String>,
}

/// Somebody who is banned or muted, or a network.
pub(in crate::http) struct KeptOutRow {
    pub(in crate::http) who: String,
    pub(in crate::http) is_player: bool,
    pub(in crate::http) what: &'static str,
    pub(in crate::http) reason: String,
    pub(in crate::http) until: Option<String>,
}

/// How people's decisions in rated games stand.
pub(in crate::http) struct DecisionsShown {
    pub(in crate::http) rests_on: String,
    pub(in crate::http) rows: Vec<DecisionsRow>,
}

/// Those of one player.
pub(in crate::http) struct DecisionsRow {
    pub(in crate::http) player: String,
    pub(in crate::http) games: u32,
    pub(in crate::http) hard: u32,
    pub(in crate::http) kept: u32,
    pub(in crate::http) usual: String,
    pub(in crate::http) evidence: String,
    pub(in crate::http) look: bool,
    /// Those that weigh most.
    pub(in crate::http) weighing: Vec<String>,
}

/// A node of a cluster.
pub(in crate::http) struct NodeRow {
    pub(in crate::http) name: String,
    pub(in crate::http) role: String,
    pub(in crate::http) drained: bool,
    pub(in crate::http) address: String,
    pub(in crate::http) version: String,
    pub(in crate::http) since: String,
    pub(in crate::http) beat: String,
    pub(in crate::http) database: String,
}

/// Something that happened.
pub(in crate::http) struct Row {
    pub(in crate::http) at: String,
    pub(in crate::http) player: Option<String>,
    pub(in crate::http) game: Option<String>,
    pub(in crate::http) words: String,
}

#[derive(Template)]
#[template(path = "admin.html")]
struct AdminPage {
    frame: LayoutFrame,
    shown: AdminShown,
}

impl AdminPage {
    /// Whether a node leads only if nobody else can.
    fn is_drained(&self) -> bool {
        self.shown.nodes.iter().any(|node| node.drained)
    }

    /// What happened: a title, the rows, and what is said if there are none.
    fn lists(&self) -> [(&'static str, &[Row], &'static str); 3] {
        [
            ("Sign-ups", &self.shown.newcomers, "Nobody has an account."),
            ("Faults of bots", &self.shown.faults, "No bot has done anything wrong."),
            ("Log", &self.shown.log, "Nothing was done yet."),
        ]
    }
}

#[derive(Template)]
#[template(path = "admin-code.html")]
struct CodePage {
    frame: LayoutFrame,
}

/// The page for those for whom nothing is here.
pub(in crate::http) fn nothing(visitor: &Visitor) -> Response {
    not_found(visitor)
}

/// Asks for a code of the second factor.
pub(in crate::http) fn ask_for_code(visitor: &Visitor) -> Response {
    let page = CodePage { frame: visitor.frame(Tab::Elsewhere, TITLE) };
    rendered(page.render())
}

pub(in crate::http) fn show(visitor: &Visitor, shown: AdminShown) -> Response {
    let page = AdminPage { frame: visitor.frame(Tab::Elsewhere, TITLE), shown };
    rendered(page.render())
}

fn rendered(page: askama::Result<String>) -> Response {
    match page {
        Ok(page) => (StatusCode::OK, Html(page)).into_response(),
        Err(error) => PageError::from(error).into_response(),
    }
}
