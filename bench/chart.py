# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dot plots as SVG, readable on light and on dark paper.

A chart has one line for each thing that was measured and on it one mark for each way: colour and shape both
tell which, so that it can be read without colours. Marks carry their value as a title.
"""
import html
import math

WIDTH = 860
LEFT, RIGHT, LINE, HEAD, FOOT = 150, 40, 24, 62, 34

# Told apart by people who do not see red and green, on white and on black.
COLOURS = ["#2f7fd0", "#d9822b", "#2a9d72", "#b65fc0", "#c9a227", "#8a8f98"]

STYLE = """<style>
.c-paper { fill: #ffffff } .c-ink { fill: #1f2328 } .c-dim { fill: #59636e } .c-grid { stroke: #d1d9e0 }
.c-text { font: 13px system-ui, sans-serif } .c-title { font: 600 15px system-ui, sans-serif }
@media (prefers-color-scheme: dark) {
.c-paper { fill: #0d1117 } .c-ink { fill: #e6edf3 } .c-dim { fill: #9198a1 } .c-grid { stroke: #30363d } }
</style>"""


class Chart:
    """rows: [(label, {series: value})]; a value that is missing has no mark. marks: {series: number of its mark}, where a
    series should look the same in several charts."""

    def __init__(self, title, unit, series, rows, log=False, marks=None):
        self.title = title
        self.unit = unit
        self.series = series
        self.rows = rows
        self.log = log
        self.marks = marks or {name: i for i, name in enumerate(series)}

    def height(self):
        return HEAD + LINE * len(self.rows) + FOOT


def shape(number, x, y, title):
    """The mark of a series."""
    colour = COLOURS[number % len(COLOURS)]
    points = {
        1: [(-5, -5), (5, -5), (5, 5), (-5, 5)],
        2: [(0, -7), (7, 0), (0, 7), (-7, 0)],
        3: [(0, -7), (6.5, 5), (-6.5, 5)],
        4: [(0, 7), (6.5, -5), (-6.5, -5)],
        5: [(-6, -2), (-2, -2), (-2, -6), (2, -6), (2, -2), (6, -2), (6, 2), (2, 2), (2, 6), (-2, 6), (-2, 2), (-6, 2)],
    }.get(number % 6)
    told = f"<title>{html.escape(title)}</title>" if title else ""
    if not points:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="{colour}">{told}</circle>'
    where = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in points)
    return f'<polygon points="{where}" fill="{colour}">{told}</polygon>'


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def steps(low, high, log):
    """Where the grid's lines stand."""
    if log:
        found = [base * 10 ** power for power in range(-4, 10) for base in (1, 2, 5)]
        inside = [step for step in found if low <= step <= high]
        return inside if len(inside) < 9 else [step for step in inside if f"{step:e}"[0] == "1"]
    size = 10 ** math.floor(math.log10(high))
    size = next(size * part for part in (0.1, 0.2, 0.5, 1, 2) if high / (size * part) <= 8)
    return [size * i for i in range(int(high / size) + 1)]


def draw(chart, top=0):
    """The chart's elements, without the svg around them."""
    values = [value for _, marks in chart.rows for value in marks.values() if value and value > 0]
    low, high = (min(values) / 1.15, max(values) * 1.15) if chart.log else (0, max(values) * 1.06)

    def place(value):
        part = math.log(value / low) / math.log(high / low) if chart.log else value / high
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def text(x, y, words, kind="c-ink", anchor="start"):
        return f'<text class="c-text {kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'

    out = [f'<text class="c-title c-ink" x="16" y="{top + 24}">{html.escape(chart.title)}</text>']
    x = LEFT
    for name in chart.series:
        out += [shape(chart.marks[name], x, top + 43, ""), text(x + 11, top + 47.5, name)]
        x += 30 + 7.2 * len(name)
    bottom = top + HEAD + LINE * len(chart.rows)
    for step in steps(low, high, chart.log):
        out.append(f'<line class="c-grid" x1="{place(step):.1f}" x2="{place(step):.1f}" y1="{top + HEAD}" y2="{bottom}"/>')
        out.append(text(place(step), bottom + 17, number(step), "c-dim", "middle"))
    out.append(text(WIDTH - 6, bottom + 17, chart.unit, "c-dim", "end"))
    for i, (label, marks) in enumerate(chart.rows):
        y = top + HEAD + LINE * (i + 0.5)
        out.append(f'<line class="c-grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke-dasharray="1 4"/>')
        out.append(text(LEFT - 12, y + 4.5, label, anchor="end"))
        out += [shape(chart.marks[name], place(marks[name]), y, f"{label}, {name}: {number(marks[name])} {chart.unit}")
                for name in chart.series if marks.get(name)]
    return "\n".join(out)


def svg(charts, words):
    """One picture of charts, one below the other; `words` are for who cannot see it."""
    height = sum(chart.height() for chart in charts)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
             f'role="img" aria-label="{html.escape(words)}">', STYLE,
             f'<rect class="c-paper" width="{WIDTH}" height="{height}"/>']
    top = 0
    for chart in charts:
        lines.append(draw(chart, top))
        top += chart.height()
    return "\n".join([*lines, "</svg>", ""])
