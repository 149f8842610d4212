//! How people's decisions stand, as a table.

use std::io::{self, Write};

use fourfold_arena::fair_play::Finding;

use super::output;

/// What stands below every report.
pub(in crate::app) const NO_VERDICT: &str = "\
This is no verdict. It says who decides better in hard positions than people of the same rating do: by help, by being
better than the rating, or by knowing the positions. Look at the games, and ask.";

/// One row a player; of a single one also what that player may be told, and the games that weigh most.
pub(in crate::app) fn write(out: &mut dyn Write, findings: &[Finding], is_single: bool) -> io::Result<()> {
    let head = ["player", "games", "hard", "kept", "expected", "evidence", ""];
    let rows: Vec<_> = findings.iter().map(row).collect();
    for line in output::align(&head, &rows) {
        writeln!(out, "{line}")?;
    }
    if is_single {
        for finding in findings {
            writeln!(out, "{}", for_player(finding))?;
            for weighing in &finding.weighing {
                let (game, factor) = (&weighing.game, weighing.factor);
                writeln!(out, "game {game}: {factor:.1} times as much evidence as before")?;
            }
        }
    }
    writeln!(out, "{NO_VERDICT}")
}

/// What the player may be told.
fn for_player(finding: &Finding) -> String {
    let Finding { player, hard, kept, range: (from, to), .. } = finding;
    format!("in {hard} hard decisions {player} kept {kept}; people of the rating keep {from:.0} to {to:.0}")
}

fn row(finding: &Finding) -> [String; 7] {
    let (from, to) = finding.range;
    [
        finding.player.clone(),
        finding.games.to_string(),
        finding.hard.to_string(),
        finding.kept.to_string(),
        format!("{:.1} ({from:.1} to {to:.1})", finding.expected),
        format!("1 in {:.0}", finding.evidence),
        if finding.look { "look at it".to_owned() } else { String::new() },
    ]
}

#[cfg(test)]
mod tests {
    use fourfold_arena::fair_play::WeighingGame;

    use super::*;

    #[test]
    fn a_single_player_comes_with_a_sentence_and_the_games() {
        let finding = Finding {
            player: "Ada".into(),
            games: 50,
            hard: 40,
            kept: 38,
            expected: 18.25,
            range: (12.4, 24.1),
            evidence: 123_456.0,
            look: true,
            weighing: vec![WeighingGame { game: "g1".into(), factor: 3.21 }],
        };
        let written = |is_single| {
            let mut out = Vec::new();
            write(&mut out, std::slice::from_ref(&finding), is_single).unwrap();
            String::from_utf8(out).unwrap()
        };
        let single = written(true);
        for part in [
            "Ada     50     40    38    18.2 (12.4 to 24.1)  1 in 123456  look at it\n",
            "in 40 hard decisions Ada kept 38; people of the rating keep 12 to 24\n",
            "game g1: 3.2 times as much evidence as before\n",
            "This is no verdict.",
        ] {
            assert!(single.contains(part), "{part} in {single}");
        }
        assert!(!written(false).contains("in 40 hard decisions"));
    }
}
