"""Small curves side by side as one SVG: what `soak.py` has measured, for docs/performance.md. Standard library alone."""

import math
from html import escape

PANEL_W, PANEL_H, GAP, LEFT, TOP, BOTTOM = 330, 150, 24, 56, 30, 24
COLUMNS = 2
POINTS_MAX = 300
# Readable on white and on black.
INK, LINE, GRID = "#7a7f87", "#2f81f7", "#8c959f55"


def nice_step(span):
    """A round distance between lines, of which three to six fit."""
    rough = max(span, 1e-9) / 4
    unit = 10 ** math.floor(math.log10(rough))
    return next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)


def thinned(values):
    """At most so many of them as there are places to see them at, and the last."""
    each = math.ceil(len(values) / POINTS_MAX)
    return [value for at, value in enumerate(values) if at % each == 0 or at == len(values) - 1]


def panel(title, xs, ys, x, y):
    """One curve with its axes, its upper left corner at x, y."""
    width, height = PANEL_W - LEFT - 8, PANEL_H - TOP - BOTTOM
    step = nice_step(max(ys))
    top = step * max(1, math.ceil(max(ys) / step))
    x_step = nice_step(xs[-1])
    at_x = lambda value: x + LEFT + width * value / xs[-1]
    at_y = lambda value: y + TOP + height * (1 - value / top)
    parts = [f'<text x="{x + LEFT}" y="{y + 18}" font-weight="600">{escape(title)}</text>']
    for number in range(round(top / step) + 1):
        value = number * step
        parts.append(f'<path d="M{x + LEFT} {at_y(value):.1f}h{width}" stroke="{GRID}"/>')
        parts.append(f'<text x="{x + LEFT - 6}" y="{at_y(value) + 4:.1f}" text-anchor="end">{value:,.6g}</text>')
    for number in range(int(xs[-1] / x_step) + 1):
        value = number * x_step
        parts.append(f'<text x="{at_x(value):.1f}" y="{y + PANEL_H - 8}" text-anchor="middle">{value:g}</text>')
    points = " ".join(f"{at_x(a):.1f},{at_y(b):.1f}" for a, b in zip(thinned(xs), thinned(ys)))
    parts.append(f'<polyline points="{points}" fill="none" stroke="{LINE}" stroke-width="1.6"/>')
    return "\n".join(parts)


def draw(heading, panels):
    """An SVG of `panels`, each a title, minutes and values."""
    rows = math.ceil(len(panels) / COLUMNS)
    width = COLUMNS * PANEL_W + (COLUMNS + 1) * GAP
    height = 40 + rows * (PANEL_H + GAP)
    drawn = []
    for number, (title, xs, ys) in enumerate(panels):
        x = GAP + (number % COLUMNS) * (PANEL_W + GAP)
        y = 40 + (number // COLUMNS) * (PANEL_H + GAP)
        drawn.append(panel(title, xs, ys, x, y))
    said = ", ".join(title for title, *_ in panels)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="11" fill="{INK}">\n'
        f"<title>{escape(heading)}: {escape(said)}</title>\n"
        f'<text x="{GAP}" y="26" font-size="14">{escape(heading)}</text>\n' + "\n".join(drawn) + "\n</svg>\n"
    )
