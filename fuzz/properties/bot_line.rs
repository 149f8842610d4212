//! What programs answer, in all dialects: a column on the board, nothing, or no move; and how programs are named.

use fourfold_arena::program::dialect::Dialect;
use fourfold_arena::program::spec::ProgramSpec;
use fourfold_engine::{Game, Variant};

pub(crate) fn hold(input: (&str, &str)) {
    let (name, line) = input;
    let _ = name.parse::<ProgramSpec>();
    let game = Game::new(Variant::STANDARD);
    for dialect in [Dialect::Simple, Dialect::Kaggle, Dialect::Aigames, Dialect::Cfour] {
        let _ = dialect.read(line, &game);
    }
}
