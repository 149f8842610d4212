//! The pictures of a game that are passed on: drawn one at a time, and kept for a while.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use fourfold_engine::{Column, Game, Variant};
use tokio::sync::Semaphore;

use super::{animation, raster};
use crate::system::aside;

/// Pictures that are kept: those of the games that are passed on just now. Each has some 20 to 100 KiB.
const KEPT: usize = 64;

/// What a picture is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PictureKind {
    /// The last position, as a PNG.
    Still,
    /// All moves, as a GIF.
    Moving,
}

/// A picture that was drawn, and of what.
#[derive(Debug)]
struct Kept {
    kind: PictureKind,
    variant: Variant,
    moves: Vec<Column>,
    picture: Bytes,
}

/// Draws pictures, one at a time: each takes some ten milliseconds of a core, and no game may wait for them. Whoever
/// else asks waits in turn, as long as a request may last. Services that show a link ask several times: the last
/// pictures are kept.
#[derive(Clone, Debug)]
pub(crate) struct Previews {
    turns: Arc<Semaphore>,
    /// The one that was asked for last at the end.
    kept: Arc<Mutex<VecDeque<Kept>>>,
}

impl Default for Previews {
    fn default() -> Self {
        Self { turns: Arc::new(Semaphore::new(1)), kept: Arc::default() }
    }
}

impl Previews {
    /// A picture of a game; nothing if the thread that draws is gone.
    pub(super) async fn draw(&self, kind: PictureKind, game: Game) -> Option<Bytes> {
        if let Some(picture) = self.known(kind, &game) {
            return Some(picture);
        }
        let turn = Arc::clone(&self.turns).acquire_owned().await.ok()?;
        // Whoever was before may have asked for the same.
        if let Some(picture) = self.known(kind, &game) {
            return Some(picture);
        }
        let previews = self.clone();
        let drawing = aside::run(move || {
            let picture = Bytes::from(match kind {
                PictureKind::Still => raster::png(&raster::board(&game)),
                PictureKind::Moving => animation::gif(&game),
            });
            previews.keep(Kept {
                kind,
                variant: game.variant(),
                moves: game.moves().to_vec(),
                picture: picture.clone(),
            });
            drop(turn);
            picture
        });
        drawing.await.ok()
    }

    fn known(&self, kind: PictureKind, game: &Game) -> Option<Bytes> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &Kept| {
            known.kind == kind && known.variant == game.variant() && known.moves == game.moves()
        };
        let known = kept.iter().position(is_it).and_then(|place| kept.remove(place))?;
        let picture = known.picture.clone();
        kept.push_back(known);
        Some(picture)
    }

    fn keep(&self, picture: Kept) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back(picture);
        if kept.len() > KEPT {
            kept.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(variant: &str, moves: &str) -> Game {
        Game::from_moves(variant.parse().unwrap(), moves).unwrap()
    }

    #[tokio::test]
    async fn a_picture_that_many_ask_for_at_once_is_drawn_once() {
        let previews = Previews::default();
        let asked = (0..8).map(|_| previews.draw(PictureKind::Still, game("7x6", "4444")));
        let pictures = futures::future::join_all(asked).await;
        // Copies of one drawing share its bytes.
        let drawn: std::collections::HashSet<_> =
            pictures.iter().map(|picture| picture.as_ref().unwrap().as_ptr()).collect();
        assert_eq!(drawn.len(), 1);
        assert_eq!(previews.kept.lock().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn pictures_are_kept_and_the_oldest_go() {
        let previews = Previews::default();
        let one = game("4x4", "1");
        let drawn = previews.draw(PictureKind::Still, one.clone()).await.unwrap();
        assert_eq!(previews.known(PictureKind::Still, &one), Some(drawn));
        assert_eq!(previews.known(PictureKind::Moving, &one), None, "another kind");
        assert_eq!(previews.known(PictureKind::Still, &game("4x4", "2")), None, "another game");
        assert_eq!(previews.known(PictureKind::Still, &game("5x4", "1")), None, "another board");
        let other = |place: usize| Kept {
            kind: PictureKind::Still,
            variant: one.variant(),
            moves: vec![Column::from_index(0).unwrap(); place],
            picture: Bytes::new(),
        };
        (2..=KEPT).for_each(|place| previews.keep(other(place)));
        assert!(previews.known(PictureKind::Still, &one).is_some(), "the oldest, but asked for just now");
        previews.keep(other(KEPT + 1));
        previews.keep(other(KEPT + 2));
        assert!(previews.known(PictureKind::Still, &one).is_some());
        assert_eq!(previews.kept.lock().unwrap().len(), KEPT);
    }
}
