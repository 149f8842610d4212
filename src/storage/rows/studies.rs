//! Studies.

use super::{Damage, number, parsed};
use crate::model::study::{Study, StudyComment, StudyListing};
use crate::model::time::UnixMillis;
use crate::storage::error::StoreError;
use crate::storage::studies::{DamagedStudy, StoredStudy};

/// Ends a comment. No text that is shown has a control character.
const COMMENT_END: char = '\u{1e}';
/// Stands between the ply of a comment and its text.
const PLY_END: char = '\u{1f}';

row! {
    #[derive(Debug)]
    pub(crate) struct StudyRow {
        number: i64,
        id: String,
        owner: String,
        title: String,
        variant: String,
        moves: String,
        start: i64,
        comments: String,
        listed: bool,
        version: i64,
        made_at: i64,
        changed_at: i64,
    }
}

impl StudyRow {
    pub(crate) fn decode(self) -> Result<StoredStudy, Damage> {
        self.audited().map_err(|DamagedStudy { number: _, id, what }| Damage(format!("study {id}: {what}")))
    }

    /// The same for whoever goes on with the next one.
    pub(crate) fn audited(self) -> Result<StoredStudy, DamagedStudy> {
        let (number, id) = (self.number.unsigned_abs(), self.id.clone());
        self.whole().map_err(|Damage(what)| DamagedStudy { number, id, what })
    }

    fn whole(self) -> Result<StoredStudy, Damage> {
        let line =
            (parsed("study.variant", &self.variant)?, &*self.moves, number("study.start", self.start)?);
        let comments = decode_comments(&self.comments)?;
        let study = Study::new(&self.title, line, comments, StudyListing::of(self.listed));
        Ok(StoredStudy {
            number: number("study.number", self.number)?,
            owner: parsed("study.owner", &self.owner)?,
            study: study.map_err(|bad| Damage(bad.to_string()))?,
            id: parsed("study.id", &self.id)?,
            version: number("study.version", self.version)?,
            made_at: UnixMillis(self.made_at),
            changed_at: UnixMillis(self.changed_at),
        })
    }
}

pub(crate) fn decode_studies(rows: Vec<StudyRow>) -> Result<Vec<StoredStudy>, StoreError> {
    rows.into_iter().map(|row| Ok(row.decode()?)).collect()
}

/// Comments as one text.
pub(crate) fn encode_comments(comments: &[StudyComment]) -> String {
    let mut text = String::new();
    for StudyComment { ply, text: said } in comments {
        text.push_str(&ply.to_string());
        text.push(PLY_END);
        text.push_str(said);
        text.push(COMMENT_END);
    }
    text
}

fn decode_comments(text: &str) -> Result<Vec<StudyComment>, Damage> {
    let comment = |part: &str| {
        let (ply, text) = part.split_once(PLY_END).ok_or_else(|| Damage::value("study.comments", part))?;
        Ok(StudyComment { ply: parsed("study.comments", ply)?, text: text.to_owned() })
    };
    text.split_terminator(COMMENT_END).map(comment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_read_back_as_they_were_written() {
        let comment = |ply, text: &str| StudyComment { ply, text: text.to_owned() };
        for comments in [vec![], vec![comment(0, "One\nand two.")], vec![comment(3, "a"), comment(12, "7")]] {
            assert_eq!(decode_comments(&encode_comments(&comments)), Ok(comments));
        }
        assert!(decode_comments("x\u{1f}a\u{1e}").is_err());
        assert!(decode_comments("no ply\u{1e}").is_err());
    }
}
