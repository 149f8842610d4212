//! Why a bot moves as it does, as a table.

use std::io;

use crate::http::control::WhyReason;

use crate::app::terminal::output;

/// Prints what spoke for which column. How often a pattern was seen is left out where nobody counts.
pub(super) fn print(reasons: &[WhyReason]) -> io::Result<()> {
    if reasons.iter().all(|reason| reason.seen == 0) {
        let cells = |it: &WhyReason| [it.column.to_string(), format!("{:+}", it.weight), it.pattern.clone()];
        let cells: Vec<_> = reasons.iter().map(cells).collect();
        return output::print_table(["Column", "Weight", "Pattern"], &cells);
    }
    let cells = |it: &WhyReason| {
        [
            it.column.to_string(),
            format!("{:+}", it.weight),
            it.pattern.clone(),
            it.seen.to_string(),
            it.won.to_string(),
            it.lost.to_string(),
        ]
    };
    let cells: Vec<_> = reasons.iter().map(cells).collect();
    output::print_table(["Column", "Weight", "Pattern", "Seen", "Won", "Lost"], &cells)
}
