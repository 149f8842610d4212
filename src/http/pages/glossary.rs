//! The words that lessons, reviews and statistics use, each with what it means. Pages link to them.

use askama::Template;
use axum::response::{Html, Redirect};

use super::Page;
use super::layout::{LayoutFrame, Tab, Visitor};

/// What links to a term has after `#`, its name and what it means: keys of texts.
type TermKeys = (&'static str, &'static str, &'static str);

/// All terms: of the board, of puzzles, of reviews, of ratings, of matches, of bots that learn.
const TERMS: [TermKeys; 34] = [
    ("threat", "glossary.threat", "glossary.threat_detail"),
    ("fork", "glossary.fork", "glossary.fork_detail"),
    ("waiting-threat", "rush.theme_odd_threat", "glossary.waiting_threat_detail"),
    ("odd-even", "glossary.odd_even", "glossary.odd_even_detail"),
    ("zugzwang", "glossary.zugzwang", "glossary.zugzwang_detail"),
    ("claim-even", "glossary.claim_even", "glossary.claim_even_detail"),
    ("baseinverse", "glossary.baseinverse", "glossary.baseinverse_detail"),
    ("only-defence", "rush.theme_only_defence", "glossary.only_defence_detail"),
    ("sacrifice", "rush.theme_sacrifice", "glossary.sacrifice_detail"),
    ("long-win", "rush.theme_long_win", "glossary.long_win_detail"),
    ("difficulty", "glossary.difficulty", "glossary.difficulty_detail"),
    ("solver", "glossary.solver", "glossary.solver_detail"),
    ("value", "review.value", "glossary.value_detail"),
    ("blunder", "glossary.blunder", "glossary.blunder_detail"),
    ("turning-point", "glossary.turning_point", "glossary.turning_point_detail"),
    ("accuracy", "glossary.accuracy", "glossary.accuracy_detail"),
    ("decision", "learning.decision", "glossary.decision_detail"),
    ("best-move", "profile.optimal", "glossary.best_move_detail"),
    ("given-away", "profile.mean_loss", "glossary.given_away_detail"),
    ("exploitation", "profile.exploitation", "glossary.exploitation_detail"),
    ("trap", "glossary.trap", "glossary.trap_detail"),
    ("elo", "glossary.elo", "glossary.elo_detail"),
    ("error", "glossary.error", "glossary.error_detail"),
    ("provisional", "glossary.provisional", "glossary.provisional_detail"),
    ("ahead", "ranking.ahead", "glossary.ahead_detail"),
    ("live-elo", "profile.live", "glossary.live_elo_detail"),
    ("season", "season.name", "glossary.season_detail"),
    ("score", "profile.score", "glossary.score_detail"),
    ("expected", "profile.expected", "glossary.expected_detail"),
    ("performance", "author.performance", "glossary.performance_detail"),
    ("pair", "duel.pairs", "glossary.pair_detail"),
    ("sprt", "glossary.sprt", "glossary.sprt_detail"),
    ("frozen", "glossary.frozen", "glossary.frozen_detail"),
    ("pattern", "glossary.pattern", "glossary.pattern_detail"),
];

/// A term and what it means.
struct Term {
    id: &'static str,
    name: &'static str,
    detail: &'static str,
}

#[derive(Template)]
#[template(path = "glossary.html")]
struct GlossaryPage {
    frame: LayoutFrame,
    terms: Vec<Term>,
}

pub(super) async fn page(visitor: Visitor) -> Page {
    let lang = visitor.language();
    let term = |(id, name, detail)| Term { id, name: lang.text(name), detail: lang.text(detail) };
    let page = GlossaryPage {
        frame: visitor.frame(Tab::Glossary, lang.text("glossary.title")),
        terms: TERMS.into_iter().map(term).collect(),
    };
    Ok(Html(page.render()?))
}

/// Where one looks for it first. What stands after `#` stays with the browser.
pub(super) async fn short() -> Redirect {
    Redirect::permanent("/learn/glossary")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashSet};
    use std::fs;
    use std::path::{Path, PathBuf};

    use axum::http::{StatusCode, header};

    use super::*;
    use crate::http::testing::TestSite;

    fn files_below(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
    }

    /// The terms that templates, modules and handlers lead to, by address or by name, with the file. What a template
    /// fills in is left out.
    fn links() -> Vec<(String, String)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folders = ["web/templates", "web/static", "src/http/pages"];
        let files = folders.into_iter().flat_map(|folder| files_below(&root.join(folder)));
        let mut links = Vec::new();
        for file in files.filter(|file| file.file_stem().is_some_and(|stem| stem != "glossary")) {
            // Fonts and pictures are no text.
            let Ok(text) = fs::read_to_string(&file) else { continue };
            let is_part = |letter: char| letter.is_ascii_lowercase() || letter == '-';
            let found = ["glossary#", ".term(\"", "explained(\""];
            let found = found.into_iter().flat_map(|before| text.split(before).skip(1));
            let terms =
                found.map(|rest| rest.split_once(|letter| !is_part(letter)).map_or(rest, |part| part.0));
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            links.extend(terms.filter(|term| !term.is_empty()).map(|term| (term.to_owned(), name.clone())));
        }
        links
    }

    #[test]
    fn every_link_to_the_glossary_finds_its_term() {
        let known: HashSet<&str> = TERMS.iter().map(|(id, ..)| *id).collect();
        assert_eq!(known.len(), TERMS.len(), "no two terms share a name");
        let links = links();
        assert!(links.len() > 30, "{links:?}");
        for (term, file) in &links {
            assert!(
                known.contains(term.as_str()),
                "{file} links to `{term}`, which the glossary does not have"
            );
        }
    }

    #[tokio::test]
    async fn the_short_address_leads_to_it_and_every_term_says_something() {
        let site = TestSite::new();
        let short = site.get("/glossary").await;
        let moved = (StatusCode::PERMANENT_REDIRECT, "/learn/glossary");
        assert_eq!((short.status, short.header(header::LOCATION)), moved);
        let page = site.get("/learn/glossary").await.body;
        for (id, ..) in TERMS {
            assert!(page.contains(&format!("id=\"{id}\"><dt>")), "{id}");
        }
        assert!(!page.contains("<dd></dd>") && !page.contains("_detail"));
    }

    #[test]
    fn every_page_with_statistics_explains_its_words() {
        let files: BTreeSet<String> = links().into_iter().map(|(_, file)| file).collect();
        for page in [
            "leaderboard.html",
            "season.html",
            "player.html",
            "rating-history.html",
            "record-head.html",
            "duel.html",
            "learner.html",
            "learning.html",
            "curves.html",
            "versions.html",
            "tournament.html",
            "puzzles.html",
            "review.js",
        ] {
            assert!(files.contains(page), "{page}: {files:?}");
        }
    }
}
