//! The documents of `docs/`, rendered to pages.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Html;
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use rust_embed::RustEmbed;

use super::Page;
use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use crate::http::dumps;
use crate::http::state::AppState;
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

/// The parts of a document, by the headings below its title.
fn contents(text: &str) -> Vec<(String, String)> {
    let (mut parts, mut current) = (Vec::new(), None::<String>);
    for event in parser(text) {
        match (event, &mut current) {
            (Event::Start(Tag::Heading { level: HeadingLevel::H2, .. }), _) => current = Some(String::new()),
            (Event::Text(words) | Event::Code(words), Some(heading)) => heading.push_str(&words),
            (Event::End(TagEnd::Heading(HeadingLevel::H2)), _) => {
                parts.extend(current.take().map(|words| (slug(&words), words)));
            }
            _ => {}
        }
    }
    parts
}

/// Renders a document. Headings get an `id` to link to, links to other documents lead to their pages, tables scroll
/// on narrow screens, and HTML in the text stays text.
pub(super) fn render(text: &str) -> String {
    let mut events: Vec<Event<'_>> = Vec::new();
    // Where the heading began whose words are being gathered.
    let mut heading: Option<(usize, String)> = None;
    for event in parser(text) {
        if let (Some((_, words)), Event::Text(more) | Event::Code(more)) = (&mut heading, &event) {
            words.push_str(more);
        }
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some((events.len(), String::new())),
            Event::End(TagEnd::Heading(_)) => {
                if let Some((start, words)) = heading.take()
                    && let Some(Event::Start(Tag::Heading { id, .. })) = events.get_mut(start)
                {
                    *id = Some(slug(&words).into());
                }
            }
            _ => {}
        }
        push(&mut events, event);
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
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            events.push(Event::Start(Tag::Link { link_type, dest_url: site_link(dest_url), title, id }));
        }
        other => events.push(other),
    }
}

/// `protocol.md#errors` in a document is `/docs/protocol#errors` on the site.
fn site_link(link: CowStr<'_>) -> CowStr<'_> {
    let (file, anchor) = link.split_once('#').map_or((&*link, ""), |(file, anchor)| (file, anchor));
    let name = file.strip_prefix("docs/").unwrap_or(file).strip_suffix(".md");
    match name.filter(|name| !name.contains(['/', ':'])) {
        Some(name) if anchor.is_empty() => format!("/docs/{name}").into(),
        Some(name) => format!("/docs/{name}#{anchor}").into(),
        None => link,
    }
}

/// `Errors and close codes` is `errors-and-close-codes`.
fn slug(words: &str) -> String {
    let kept = words.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        check("[p](../README.md)", r#"href="../README.md""#);
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

    #[test]
    fn what_most_look_for_stands_first_and_exists() {
        assert!(FIRST.iter().all(|name| read(name).is_some()));
        assert!(place("playing") < place("protocol") && place("protocol") < place("arena"));
    }
}
