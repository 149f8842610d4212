//! How a result is written in each form.

use std::fmt::Write as _;

use super::{Paper, PaperTable};

/// Characters that mean something in a form, and what stands for them.
type Escapes = &'static [(char, &'static str)];

const IN_MARKDOWN: Escapes = &[('|', "\\|"), ('*', "\\*"), ('_', "\\_"), ('<', "&lt;"), ('`', "\\`")];

const IN_LATEX: Escapes = &[
    ('\\', "\\textbackslash{}"),
    ('{', "\\{"),
    ('}', "\\}"),
    ('&', "\\&"),
    ('%', "\\%"),
    ('$', "\\$"),
    ('#', "\\#"),
    ('_', "\\_"),
    ('~', "\\textasciitilde{}"),
    ('^', "\\textasciicircum{}"),
    ('±', "$\\pm$"),
    ('−', "$-$"),
];

const IN_HTML: Escapes = &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;")];

fn escaped(text: &str, escapes: Escapes) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match escapes.iter().find(|&&(special, _)| special == letter) {
            Some((_, word)) => out.push_str(word),
            // Of names that programs were given: no form survives a line feed in a cell.
            None if letter.is_control() => out.push(' '),
            None => out.push(letter),
        }
    }
    out
}

pub(super) fn html_text(text: &str) -> String {
    escaped(text, IN_HTML)
}

pub(super) fn markdown(paper: &Paper) -> String {
    let mut text = format!("## {}\n", escaped(&paper.title, IN_MARKDOWN));
    if !paper.sentence.is_empty() {
        let _ = write!(text, "\n{}\n", escaped(&paper.sentence, IN_MARKDOWN)); // a string takes everything
    }
    for PaperTable { caption, head, rows } in &paper.tables {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| escaped(cell, IN_MARKDOWN)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = format!("|---|{}\n", "---:|".repeat(head.len().saturating_sub(1)));
        let rows: String = rows.iter().map(|row| line(row)).collect();
        let _ = write!(text, "\n**{caption}**\n\n{}{rule}{rows}", line(head));
    }
    let facts =
        paper.facts.iter().map(|(name, value)| format!("- {name}: {}\n", escaped(value, IN_MARKDOWN)));
    let warnings =
        paper.warnings.iter().map(|warning| format!("- warning: {}\n", escaped(warning, IN_MARKDOWN)));
    text.push('\n');
    text.extend(facts.chain(warnings));
    text
}

pub(super) fn latex(paper: &Paper) -> String {
    let facts = paper.facts.iter().map(|(name, value)| format!("% {name}: {}\n", one_line(value)));
    let warnings = paper.warnings.iter().map(|warning| format!("% warning: {}\n", one_line(warning)));
    let mut text: String = facts.chain(warnings).collect();
    text += "% needs \\usepackage{booktabs}\n";
    for PaperTable { caption, head, rows } in &paper.tables {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| escaped(cell, IN_LATEX)).collect();
            format!("    {} \\\\\n", cells.join(" & "))
        };
        let rows: String = rows.iter().map(|row| line(row)).collect();
        let _ = write!(
            text,
            "\\begin{{table}}\n  \\centering\n  \\caption{{{caption}. {}}}\n  \\begin{{tabular}}{{l{}}}\n    \
             \\toprule\n{}    \\midrule\n{rows}    \\bottomrule\n  \\end{{tabular}}\n\\end{{table}}\n",
            escaped(&paper.title, IN_LATEX),
            "r".repeat(head.len().saturating_sub(1)),
            line(head),
        );
    }
    text
}

pub(super) fn csv(paper: &Paper) -> String {
    let title = format!("# {}\n", one_line(&paper.title));
    let facts = paper.facts.iter().map(|(name, value)| format!("# {name}: {}\n", one_line(value)));
    let warnings = paper.warnings.iter().map(|warning| format!("# warning: {}\n", one_line(warning)));
    let line = |cells: &Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
        cells.join(",") + "\n"
    };
    let table = paper.tables.iter().take(1).flat_map(|table| std::iter::once(&table.head).chain(&table.rows));
    std::iter::once(title).chain(facts).chain(warnings).chain(table.map(line)).collect()
}

fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// A field of CSV as RFC 4180 has it. Where a sheet would calculate what a name begins with, a quotation mark stands
/// before it; numbers are left alone.
fn quoted(cell: &str) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
    let cell = if is_formula { format!("'{cell}") } else { cell.to_owned() };
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;\
color:#1a1a1a;background:#fff}table{border-collapse:collapse;margin:.5rem 0 1.5rem;display:block;overflow-x:auto}\
caption{text-align:left;font-weight:600;padding:.25rem 0}th,td{padding:.25rem .75rem;border-bottom:1px solid #ccc;\
text-align:right;font-variant-numeric:tabular-nums}th:first-child,td:first-child{text-align:left}\
dt{font-weight:600}dd{margin:0 0 .5rem;overflow-wrap:anywhere}svg{max-width:100%;height:auto}\
@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}th,td{border-color:#444}}";

pub(super) fn html(paper: &Paper, pictures: &[String]) -> String {
    let title = html_text(&paper.title);
    let cells = |tag: &str, row: &[String]| -> String {
        let cells = row.iter().map(|cell| format!("<{tag}>{}</{tag}>", html_text(cell)));
        format!("<tr>{}</tr>", cells.collect::<String>())
    };
    let table = |PaperTable { caption, head, rows }: &PaperTable| {
        let rows: String = rows.iter().map(|row| cells("td", row) + "\n").collect();
        let head = cells("th scope=\"col\"", head).replace("</th scope=\"col\">", "</th>");
        format!(
            "<table>\n<caption>{caption}</caption>\n<thead>{head}</thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
        )
    };
    let tables: String = paper.tables.iter().map(table).collect();
    let pictures: String =
        pictures.iter().flat_map(|svg| ["<figure>", svg.as_str(), "</figure>\n"]).collect();
    let warning = |text: &String| format!("<p><strong>Warning:</strong> {}</p>\n", html_text(text));
    let warnings: String = paper.warnings.iter().map(warning).collect();
    let fact = |(name, value): &(&str, String)| format!("<dt>{name}</dt><dd>{}</dd>\n", html_text(value));
    let facts: String = paper.facts.iter().map(fact).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n<p>{}</p>\n{warnings}{pictures}{tables}\
         <h2>How to make it again</h2>\n<dl>\n{facts}</dl>\n</main>\n</body>\n</html>\n",
        html_text(&paper.sentence),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paper() -> Paper {
        Paper {
            title: "a_1 v <b>".to_owned(),
            sentence: "a_1 is stronger.".to_owned(),
            tables: vec![
                PaperTable::new(
                    "Ratings",
                    &["Name", "Elo"],
                    vec![
                        vec!["a_1|50%, \"x\"".to_owned(), "-12.5".to_owned()],
                        vec!["=cmd()\n&".to_owned(), "±3".to_owned()],
                    ],
                ),
                PaperTable::new("Second", &["Name"], vec![]),
            ],
            facts: vec![("seed", "7".to_owned())],
            warnings: vec!["few games".to_owned()],
        }
    }

    #[test]
    fn nothing_that_a_name_has_breaks_a_form() {
        let markdown = markdown(&paper());
        assert!(markdown.contains("| a\\_1\\|50%, \"x\" | -12.5 |\n| =cmd() & | ±3 |\n"), "{markdown}");
        assert!(markdown.contains("|---|---:|\n") && markdown.contains("- seed: 7\n- warning: few games\n"));
        let latex = latex(&paper());
        assert!(latex.starts_with("% seed: 7\n% warning: few games\n"), "{latex}");
        assert!(
            latex.contains("    a\\_1|50\\%, \"x\" & -12.5 \\\\\n    =cmd() \\& & $\\pm$3 \\\\\n"),
            "{latex}"
        );
        let html = html(&paper(), &["<svg/>".to_owned()]);
        assert!(
            html.contains("<h1>a_1 v &lt;b&gt;</h1>") && html.contains("<figure><svg/></figure>"),
            "{html}"
        );
        assert!(html.contains("<td>a_1|50%, &quot;x&quot;</td><td>-12.5</td>"), "{html}");
        assert!(html.contains("<th scope=\"col\">Name</th>"), "{html}");
    }

    #[test]
    fn a_sheet_reads_the_first_table() {
        assert_eq!(
            csv(&paper()),
            "# a_1 v <b>\n# seed: 7\n# warning: few games\nName,Elo\n\"a_1|50%, \"\"x\"\"\",-12.5\n\"'=cmd()\n&\",±3\n"
        );
    }
}
