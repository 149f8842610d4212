//! The documents of `docs/`, rendered to pages.

use std::collections::HashSet;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use rust_embed::RustEmbed;

use super::Page;
use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use crate::http::state::AppState;
use crate::http::{dumps, kits};
use crate::operations::dumps::Dump;

/// What most readers look for, in the order in which they come to need it; all others follow by their titles.
const FIRST: [&str; 5] = ["playing", "puzzles", "ratings", "bots", "protocol"];

#[derive(RustEmbed)]
#[folder = "docs"]
struct DocumentFiles;

/// A document in the list of all.
struct DocumentRow {
    name: String,
    title: String,
    /// Its first paragraph, as text.
    about: String,
}

#[derive(Template)]
#[template(path = "docs.html")]
struct Index {
    frame: LayoutFrame,
    entries: Vec<DocumentRow>,
    /// Files with all games.
    dumps: Vec<DumpRow>,
}

/// A file with all games.
struct DumpRow {
    name: String,
    size: String,
    sha256: String,
}

#[derive(Template)]
#[template(path = "doc.html")]
struct Document {
    frame: LayoutFrame,
    /// Its parts: where each begins, and what it is called.
    contents: Vec<(String, String)>,
    /// Made by us from our own files.
    html: String,
}

pub(super) async fn index(State(state): State<AppState>, visitor: Visitor) -> Page {
    let mut entries: Vec<DocumentRow> = DocumentFiles::iter().filter_map(|file| entry(&file)).collect();
    entries.sort_by(|a, b| (place(&a.name), &a.title).cmp(&(place(&b.name), &b.title)));
    let lang = visitor.language();
    let dump = |dump: Dump| {
        let tenths = dump.bytes.div_ceil(100_000);
        let size = lang.decimal(format_args!("{}.{}", tenths / 10, tenths % 10));
        DumpRow { name: dump.name, size: format!("{size} MB"), sha256: dump.sha256 }
    };
    let dumps = dumps::listed(&state).await.into_iter().map(dump).collect();
    let page = Index { frame: visitor.frame(Tab::Docs, lang.text("site.documents")), entries, dumps };
    Ok(Html(page.render()?))
}

pub(super) async fn page(State(_): State<AppState>, visitor: Visitor, Path(name): Path<String>) -> Page {
    let Some(text) = read(&name) else { return Err(PageError::not_found(visitor)) };
    let (title, _) = head(&text);
    let page =
        Document { frame: visitor.frame(Tab::Docs, title), contents: contents(&text), html: render(&text) };
    Ok(Html(page.render()?))
}

/// A picture of a document.
pub(super) async fn picture(Path(name): Path<String>) -> Response {
    let kind = match name.rsplit_once('.') {
        Some((_, "svg")) => "image/svg+xml",
        Some((_, "png")) => "image/png",
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let Some(file) = DocumentFiles::get(&format!("images/{name}")) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = HeaderMap::from_iter([
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ]);
    (headers, file.data).into_response()
}

/// Where a document stands in the list: with its like, by name.
fn place(name: &str) -> usize {
    FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len())
}

fn entry(file: &str) -> Option<DocumentRow> {
    let name = file.strip_suffix(".md").filter(|name| !name.contains('/'))?;
    let (title, about) = head(&read(name)?);
    Some(DocumentRow { name: name.to_owned(), title, about })
}

fn read(name: &str) -> Option<String> {
    let file = DocumentFiles::get(&format!("{name}.md"))?;
    String::from_utf8(file.data.into_owned()).ok()
}

fn parser(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH)
}

/// Title and first paragraph, as plain text.
fn head(text: &str) -> (String, String) {
    let (mut title, mut about, mut current) = (String::new(), String::new(), String::new());
    for event in parser(text) {
        match event {
            Event::Text(words) | Event::Code(words) => current.push_str(&words),
            Event::SoftBreak | Event::HardBreak => current.push(' '),
            Event::End(TagEnd::Heading(HeadingLevel::H1)) => title = std::mem::take(&mut current),
            Event::End(TagEnd::Heading(_)) => current.clear(),
            Event::End(TagEnd::Paragraph) => {
                about = current;
                break;
            }
            _ => {}
        }
    }
    (title, about)
}

/// A heading of a document, with the `id` that links lead to.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Heading {
    level: HeadingLevel,
    id: String,
    words: String,
}

/// Ids that the page around a document has for itself, where headings might want them.
const TAKEN: [&str; 7] = ["account", "announcement", "connection", "main", "sound", "theme", "toasts"];

/// All headings in their order. Of two with the same words the second gets a number, as on the pages of repositories.
fn headings(text: &str) -> Vec<Heading> {
    let mut taken: HashSet<String> = TAKEN.map(str::to_owned).into();
    let (mut headings, mut current) = (Vec::new(), None::<String>);
    for event in parser(text) {
        match (event, &mut current) {
            (Event::Start(Tag::Heading { .. }), _) => current = Some(String::new()),
            (Event::Text(more) | Event::Code(more), Some(words)) => words.push_str(&more),
            (Event::End(TagEnd::Heading(level)), _) => {
                let words = current.take().unwrap_or_default();
                headings.push(Heading { level, id: free_id(&mut taken, &slug(&words)), words });
            }
            _ => {}
        }
    }
    headings
}

fn free_id(taken: &mut HashSet<String>, wanted: &str) -> String {
    let numbered = (1..).map(|number| format!("{wanted}-{number}"));
    let mut ids = std::iter::once(wanted.to_owned()).chain(numbered);
    let id = ids.find(|id| !taken.contains(id)).unwrap_or_default();
    taken.insert(id.clone());
    id
}

/// The parts of a document, by the headings below its title.
fn contents(text: &str) -> Vec<(String, String)> {
    let parts = headings(text).into_iter().filter(|heading| heading.level == HeadingLevel::H2);
    parts.map(|heading| (heading.id, heading.words)).collect()
}

/// Renders a document. Headings get an `id` to link to, links to other documents lead to their pages, tables scroll
/// on narrow screens, and HTML in the text stays text.
pub(super) fn render(text: &str) -> String {
    let mut ids = headings(text).into_iter().map(|heading| heading.id);
    let mut events: Vec<Event<'_>> = Vec::new();
    // A link to a file that is not on the site, and what stands in it: where it began, and the file.
    let mut unserved: Option<(usize, String)> = None;
    for event in parser(text) {
        match event {
            Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                let id = ids.next().map(CowStr::from);
                events.push(Event::Start(Tag::Heading { level, id, classes, attrs }));
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => match target(&dest_url) {
                Target::Page(url) => {
                    events.push(Event::Start(Tag::Link { link_type, dest_url: url.into(), title, id }));
                }
                Target::Repository(path) => unserved = Some((events.len(), path)),
            },
            Event::End(TagEnd::Link) => match unserved.take() {
                Some((start, path)) => name_file(&mut events, start, path),
                None => events.push(Event::End(TagEnd::Link)),
            },
            other => push(&mut events, other),
        }
    }
    let mut output = String::with_capacity(2 * text.len());
    html::push_html(&mut output, events.into_iter());
    // What scrolls must be reachable by keys; a head without words is no head.
    output.replace("<pre>", r#"<pre tabindex="0">"#).replace("<th></th>", "<td></td>")
}

fn push<'a>(events: &mut Vec<Event<'a>>, event: Event<'a>) {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => events.push(Event::Text(text)),
        Event::Start(Tag::Table(columns)) => {
            let frame = r#"<div class="table-wrap" tabindex="0" role="group" aria-label="Table">"#;
            events.extend([Event::Html(frame.into()), Event::Start(Tag::Table(columns))]);
        }
        Event::End(TagEnd::Table) => events.extend([Event::End(TagEnd::Table), Event::Html("</div>".into())]),
        other => events.push(other),
    }
}

/// Says which file is meant where a link to it began: in the place of words that are its name, else behind them.
fn name_file(events: &mut Vec<Event<'_>>, start: usize, path: String) {
    let words: String = events[start..]
        .iter()
        .map(|event| match event {
            Event::Text(words) | Event::Code(words) => &**words,
            _ => " ",
        })
        .collect();
    if path.contains(&words) {
        events.truncate(start);
        events.push(Event::Code(path.into()));
    } else {
        events.extend([Event::Text(" (".into()), Event::Code(path.into()), Event::Text(")".into())]);
    }
}

/// Where a link of a document leads on the site.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Target {
    /// To a page of it, or of somebody else's.
    Page(String),
    /// To a file of the repository that nobody gets here.
    Repository(String),
}

/// `protocol.md#errors` in a document is `/docs/protocol#errors` on the site, and what a kit says of itself is in its
/// archive.
fn target(link: &str) -> Target {
    let (file, anchor) = link.split_once('#').map_or((link, ""), |(file, anchor)| (file, anchor));
    let anchor = match anchor {
        "" => String::new(),
        taken if TAKEN.contains(&taken) => format!("#{taken}-1"),
        free => format!("#{free}"),
    };
    let name = file.strip_prefix("docs/").unwrap_or(file).strip_suffix(".md");
    if let Some(name) = name.filter(|name| !name.contains(['/', ':'])) {
        return Target::Page(format!("/docs/{name}{anchor}"));
    }
    let Some(path) = file.strip_prefix("../") else { return Target::Page(format!("{file}{anchor}")) };
    let kit = path.strip_prefix("bots/kits/").and_then(|kit| kit.strip_suffix("/README.md"));
    match kit.filter(|kit| kits::ALL.iter().any(|known| known.folder == *kit)) {
        Some(kit) => Target::Page(format!("/kits/{kit}.tar")),
        None => Target::Repository(path.to_owned()),
    }
}

/// `Errors and close codes` is `errors-and-close-codes`.
fn slug(words: &str) -> String {
    let kept = words.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::http::site::Site;
    use crate::http::testing::{TestArena, TestSite};

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let html = render(text);
        assert!(html.contains(expected), "{html}");
    }

    #[test]
    fn headings_can_be_linked_to() {
        check("## 9. Errors and `codes`", r#"<h2 id="9-errors-and-codes">"#);
    }

    #[test]
    fn links_between_documents_lead_to_pages() {
        check("[p](protocol.md)", r#"href="/docs/protocol""#);
        check("[p](protocol.md#errors)", r#"href="/docs/protocol#errors""#);
        check("[p](https://example.org/a.md)", r#"href="https://example.org/a.md""#);
        check("[p](#errors)", r##"href="#errors""##);
        check("[p](bots/kits/x.tar)", r#"href="bots/kits/x.tar""#);
    }

    #[test]
    fn links_to_files_that_the_site_has_not_are_names_of_files() {
        check("see [config/bots.toml](../config/bots.toml).", "see <code>config/bots.toml</code>.");
        check("see [`README`](../README.md#promises).", "see <code>README.md</code>.");
        check(
            "[Caddy or *nginx*](../deploy/README.md)",
            "<em>nginx</em> (<code>deploy/README.md</code>)</p>",
        );
        check("[kit](../bots/kits/python/README.md)", r#"href="/kits/python.tar""#);
    }

    #[test]
    fn headings_have_ids_of_their_own() {
        let text = "# Playing\n\n## Playing\n\n## Connection\n\n[it](#connection)";
        check(text, r#"<h1 id="playing">"#);
        check(text, r#"<h2 id="playing-1">"#);
        check(text, r#"<h2 id="connection-1">"#);
        check(text, r##"href="#connection-1""##);
        let parts: Vec<String> = contents(text).into_iter().map(|(id, _)| id).collect();
        assert_eq!(parts, ["playing-1", "connection-1"]);
    }

    #[test]
    fn what_scrolls_is_reachable_by_keys() {
        check("```sh\nfourfold serve\n```", r#"<pre tabindex="0">"#);
        check("| a | |\n|---|---|\n| b | c |", r#"<div class="table-wrap" tabindex="0""#);
        check("| a | |\n|---|---|\n| b | c |", "<th>a</th><td></td>");
    }

    #[test]
    fn html_in_a_document_stays_text() {
        check("a <script>alert(1)</script> b", "&lt;script&gt;");
        check("<div onclick=\"x\">", "&lt;div");
    }

    #[test]
    fn the_head_is_title_and_first_paragraph() {
        let (title, about) = head("# The `protocol`\n\nOne *socket*\ncarries all.\n\nMore.");
        assert_eq!((title.as_str(), about.as_str()), ("The protocol", "One socket carries all."));
        let (_, about) = head("# Bots\n\n## House bots\n\nThey play.");
        assert_eq!(about, "They play.", "a heading between is none of it");
    }

    /// What stands between `before` and the next quote.
    fn values<'a>(html: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
        html.split(before).skip(1).filter_map(|rest| rest.split('"').next())
    }

    #[tokio::test]
    async fn every_link_of_every_document_leads_somewhere_and_no_id_is_there_twice() {
        let site = TestSite::with(Site::default(), TestArena::default());
        let names = DocumentFiles::iter().filter_map(|file| file.strip_suffix(".md").map(str::to_owned));
        let pages: Vec<String> = names.map(|name| format!("/docs/{name}")).collect();
        assert!(pages.len() > 10, "{pages:?}");
        let mut seen: HashMap<String, String> = HashMap::new();
        for page in &pages {
            let html = site.get(page).await.body;
            let ids: Vec<&str> = values(&html, " id=\"").collect();
            let unique: HashSet<&str> = ids.iter().copied().collect();
            assert_eq!(ids.len(), unique.len(), "{page} has an id twice: {ids:?}");
            let article = html.split_once("<main").unwrap().1.split_once("</main>").unwrap().0;
            for link in values(article, "<a href=\"").chain(values(article, "<img src=\"")) {
                if link.contains(':') {
                    continue;
                }
                let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
                let path = match path {
                    "" => page.clone(),
                    rooted if rooted.starts_with('/') => rooted.to_owned(),
                    beside => format!("/docs/{beside}"),
                };
                if !seen.contains_key(&path) {
                    let answer = site.get(&path).await;
                    assert_eq!(answer.status, StatusCode::OK, "{link} of {page}");
                    seen.insert(path.clone(), answer.body);
                }
                let there = anchor.is_empty() || seen[&path].contains(&format!(" id=\"{anchor}\""));
                assert!(there, "{link} of {page} names no part of it");
            }
        }
    }

    #[test]
    fn what_most_look_for_stands_first_and_exists() {
        assert!(FIRST.iter().all(|name| read(name).is_some()));
        assert!(place("playing") < place("protocol") && place("protocol") < place("arena"));
    }
}
