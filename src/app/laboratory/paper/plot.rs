//! Ratings with their errors as a picture.

use std::fmt::Write as _;

use super::forms::html_text;

/// A rating and the ends of its interval.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::app) struct PlotRow {
    pub(in crate::app) name: String,
    pub(in crate::app) value: f64,
    pub(in crate::app) low: f64,
    pub(in crate::app) high: f64,
}

/// Sizes in pixels of the drawing, which scales.
const ROW: f64 = 28.0;
const NAMES: f64 = 240.0;
const SCALE: f64 = 520.0;
const MARGIN: f64 = 20.0;

/// Letters of a name that fit beside the scale.
const NAME_CHARS: usize = 32;

/// Steps between the marks of the scale, in points.
const STEPS: [f64; 8] = [5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0];

/// Where the drawing's scale begins and ends.
#[derive(Clone, Copy)]
struct Scale {
    from: f64,
    to: f64,
    step: f64,
}

impl Scale {
    /// One on which all rows are; `None` if there is none.
    fn of(rows: &[PlotRow]) -> Option<Self> {
        let low = rows.iter().map(|row| row.low).fold(f64::INFINITY, f64::min);
        let high = rows.iter().map(|row| row.high).fold(f64::NEG_INFINITY, f64::max);
        let step = STEPS.into_iter().find(|step| (high - low) / step <= 8.0).unwrap_or(2_500.0);
        let (from, to) = ((low / step).floor() * step, ((high / step).ceil() * step).max(low + step));
        (low.is_finite() && high.is_finite()).then_some(Self { from, to, step })
    }

    /// How far from the left a value is drawn.
    fn x(self, value: f64) -> f64 {
        NAMES + (value - self.from) / (self.to - self.from) * SCALE
    }

    /// Marks with their numbers, down to so far from the top.
    fn draw(self, bottom: f64, svg: &mut String) {
        let mut mark = self.from;
        while mark <= self.to + self.step / 2.0 {
            let (x, below) = (self.x(mark), bottom + 18.0);
            let _ = writeln!(
                svg,
                "<line x1=\"{x:.1}\" y1=\"20\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" stroke-opacity=\"0.2\"/><text \
                 x=\"{x:.1}\" y=\"{below:.1}\" text-anchor=\"middle\" stroke=\"none\">{mark:.0}</text>"
            ); // a string takes everything
            mark += self.step;
        }
    }
}

/// A dot for each rating, and its interval as a line.
pub(in crate::app) fn intervals(title: &str, rows: &[PlotRow]) -> String {
    let Some(scale) = Scale::of(rows) else { return String::new() };
    #[expect(clippy::cast_precision_loss, reason = "nobody draws 2^53 rows")]
    let bottom = 30.0 + ROW * rows.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" font-family=\"sans-serif\" \
         font-size=\"13\" fill=\"currentColor\" stroke=\"currentColor\"><title>{}</title>\n",
        NAMES + SCALE + MARGIN,
        bottom + 30.0,
        html_text(title)
    );
    scale.draw(bottom, &mut svg);
    let mut y = 20.0 + ROW / 2.0;
    for row in rows {
        row.draw(scale, y, &mut svg);
        y += ROW;
    }
    svg + "</svg>"
}

impl PlotRow {
    fn draw(&self, scale: Scale, y: f64, svg: &mut String) {
        let Self { name, value, low, high } = self;
        let short: String = name.chars().take(NAME_CHARS).collect();
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" stroke=\"none\">{}</text><line x1=\"{:.1}\" y1=\"{y:.1}\" \
             x2=\"{:.1}\" y2=\"{y:.1}\" stroke-width=\"2\"/><circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"5\"><title>{}: {value:.1}, \
             95 % from {low:.1} to {high:.1}</title></circle>",
            NAMES - 12.0,
            y + 4.0,
            html_text(&short),
            scale.x(*low),
            scale.x(*high),
            scale.x(*value),
            html_text(name)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_drawn_and_named() {
        let row = |name: &str, value: f64| PlotRow {
            name: name.to_owned(),
            value,
            low: value - 10.0,
            high: value + 20.0,
        };
        let svg = intervals("Elo", &[row("a<b", 0.0), row("c", -137.5)]);
        assert_eq!((svg.matches("<circle").count(), svg.matches("a&lt;b").count()), (2, 2), "{svg}");
        assert!(svg.contains(">-150</text>") && svg.contains(">25</text>"), "{svg}");
        assert!(svg.ends_with("</svg>"));
        assert_eq!(intervals("Elo", &[]), "");
        // One without any width, and one as wide as can be.
        let flat = PlotRow { name: "x".to_owned(), value: 5.0, low: 5.0, high: 5.0 };
        assert!(intervals("Elo", &[flat]).contains("<circle"));
        let wide = PlotRow { name: "x".to_owned(), value: 0.0, low: -1200.0, high: 1200.0 };
        assert!(intervals("Elo", &[wide]).matches("<line").count() < 15);
    }
}
