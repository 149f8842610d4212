//! XML as elements with text, each with its line.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::XmlError;

/// Elements inside each other at most; ours are four deep.
const DEPTH_MAX: usize = 32;

/// An element with its text and children. Attributes and comments are left out.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    /// Where it begins, counted from 1.
    pub(super) line: usize,
    /// All text directly inside, without spaces around.
    pub(super) text: String,
    children: Vec<Self>,
}

impl Element {
    /// An error at this element.
    pub(super) fn error(&self, reason: String) -> XmlError {
        XmlError { line: self.line, reason }
    }

    /// The children of this name, in their order.
    pub(super) fn children<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The first child of this name.
    pub(super) fn child(&self, name: &str) -> Result<&Self, XmlError> {
        let child = self.children.iter().find(|child| child.name == name);
        child.ok_or_else(|| self.error(format!("{} has no {name}", self.name)))
    }

    /// The value of a child's text.
    pub(super) fn parse_child<T>(
        &self,
        name: &str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, XmlError> {
        let child = self.child(name)?;
        parse(&child.text).ok_or_else(|| child.error(format!("{name} is `{}`, not {expected}", child.text)))
    }
}

/// Reads a whole document.
pub(super) fn parse(text: &str) -> Result<Element, XmlError> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut lines = LineFinder { text, position: 0, line: 1 };
    let mut open: Vec<Element> = Vec::new();
    let mut root = None;
    loop {
        let line = lines.at(reader.buffer_position());
        let error = |reason: String| XmlError { line, reason };
        let event = reader.read_event().map_err(|cause| {
            let line = lines.at(reader.error_position());
            XmlError { line, reason: cause.to_string() }
        })?;
        match event {
            Event::Start(tag) => {
                if root.is_some() {
                    return Err(error("there is more after the end of the root".to_owned()));
                }
                if open.len() == DEPTH_MAX {
                    return Err(error(format!("more than {DEPTH_MAX} elements inside each other")));
                }
                let name = tag.name().as_ref().to_owned();
                open.push(Element { name, line, text: String::new(), children: Vec::new() });
            }
            Event::End(_) => {
                // The reader has checked that the names match.
                let Some(mut element) = open.pop() else { continue };
                element.text = element.text.trim().into();
                match open.last_mut() {
                    Some(parent) => parent.children.push(element),
                    None => root = Some(element),
                }
            }
            Event::Text(content) => add_text(&mut open, &content.xml10_content()),
            Event::CData(content) => add_text(&mut open, &content.xml10_content()),
            Event::GeneralRef(_) => add_text(&mut open, "&"), // no value of ours has one
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            Event::Eof => break,
        }
    }
    if let Some(element) = open.last() {
        return Err(element.error(format!("{} is not closed", element.name)));
    }
    root.ok_or_else(|| XmlError { line: 1, reason: "there is no element".to_owned() })
}

fn add_text(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

/// Finds the line of ever later positions.
struct LineFinder<'a> {
    text: &'a str,
    position: usize,
    line: usize,
}

impl LineFinder<'_> {
    /// The line of a byte, counted from 1; white space before an element is not yet the element.
    fn at(&mut self, position: u64) -> usize {
        let position = usize::try_from(position).unwrap_or(usize::MAX).min(self.text.len());
        let passed = self.text.get(self.position..position).unwrap_or_default();
        self.line += passed.matches('\n').count();
        self.position = self.position.max(position);
        self.line
    }
}
