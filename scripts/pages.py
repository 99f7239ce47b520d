# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables as text, as Markdown and as HTML pages: what scripts/tables and bench/all write.

A table is a Table; a page is a name, tables, and sentences at its end. All pages look alike, in light and in
dark, and link back to the folder's index.
"""
import datetime
import html
import os
import platform
import re

NUMBER = re.compile(r"[-+]?[\d.,]*[\d][\d.,]*(\s?(%|K|M|x|MB))?(/[\d.]+)?$")


class Table:
    """One table. `chart` is an SVG element that stands above it in HTML."""

    def __init__(self, title, notes, header, rows, chart=None):
        self.title = title
        self.notes = notes
        self.header = header
        self.rows = rows
        self.chart = chart

    def is_text(self, column):
        """Whether a column is words rather than numbers; those stand on the left."""
        cells = [row[column] for row in self.rows if column < len(row) and row[column] not in ("", "-", "not yet")]
        return 2 * sum(not NUMBER.match(cell) for cell in cells) > len(cells)


def machine_name():
    model = platform.machine()
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"Made on {datetime.date.today()} on {os.cpu_count()} processors ({model}), {platform.system()} {platform.release()}."


# -- text ---------------------------------------------------------------------


def text_table(table):
    cells = [table.header, *table.rows]
    widths = [max((len(row[i]) for row in cells if i < len(row)), default=0) for i in range(len(table.header))]
    left = [i == 0 or table.is_text(i) for i in range(len(table.header))]
    return "\n".join("  ".join(text.ljust(width) if on_left else text.rjust(width)
                               for text, width, on_left in zip(row, widths, left)).rstrip() for row in cells)


# -- Markdown -----------------------------------------------------------------


def markdown_table(table):
    def row(cells):
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = "|" + "|".join("---" if i == 0 or table.is_text(i) else "---:" for i in range(len(table.header))) + "|"
    return "\n".join([row(table.header), rule, *map(row, table.rows)])


def markdown(title, tables, ending=()):
    lines = [f"# {title}", ""]
    for table in tables:
        if table.title != title:
            lines += [f"## {table.title}", ""]
        for note in table.notes:
            lines += [note, ""]
        if table.rows:
            lines += [markdown_table(table), ""]
    for sentence in ending:
        lines += [sentence, ""]
    return "\n".join(lines[:-1]) + "\n"


# -- HTML ---------------------------------------------------------------------

STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --dim: #59636e; --paper: #ffffff; --line: #d1d9e0; --ours: #ddebfa;
  --head: #f3f5f8; --good: #1a7f37; --bad: #b3261e; --link: #0a58ca; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --dim: #9198a1; --paper: #0d1117; --line: #30363d;
  --ours: #172b45; --head: #161b22; --good: #3fb950; --bad: #ff7b72; --link: #6cb0ff; } }
* { box-sizing: border-box; }
body { font: 15px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto; max-width: 84rem;
  padding: 1.5rem 1.25rem 3rem; }
h1 { font-size: 1.6rem; margin: .6rem 0 .4rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .4rem; }
p { max-width: 52rem; margin: .5rem 0; } a { color: var(--link); } nav, footer { color: var(--dim); font-size: .9rem; }
footer { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: .6rem; }
.scroll { overflow-x: auto; margin: 1rem 0; border: 1px solid var(--line); border-radius: 6px; width: fit-content;
  max-width: 100%; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
tr:last-child td { border-bottom: 0; }
th { background: var(--head); font-weight: 600; vertical-align: bottom; white-space: normal; min-width: 3.2rem; }
th.text, td.text { text-align: left; } tr.ours td, td.mine { background: var(--ours); } tr.total td { font-weight: 600; }
td.yes { color: var(--good); } td.no { color: var(--bad); font-weight: 600; } td.none { color: var(--dim); }
code { font-size: .92em; } svg { max-width: 100%; height: auto; display: block; margin: .8rem 0; }
"""


def prose(text):
    """Escaped, with `code` marked; links are [words](address)."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", lambda m: f'<a href="{m[2].replace(".md", ".html")}">{m[1]}</a>', text)


def is_ours(text):
    """Whether a row or a column of this name is atomsan's, beside those of others."""
    return text.split(" (")[0].endswith("atomsan")


def html_table(table):
    words = [i == 0 or table.is_text(i) for i in range(len(table.header))]
    mine = [is_ours(heading) for heading in table.header]

    def cell(i, text, tag):
        kinds = ["text"] if words[i] else []
        kinds += ["mine"] if mine[i] else []
        kinds += {"yes": ["yes"], "NO": ["no"], "not yet": ["none"]}.get(text, [])
        mark = f' class="{" ".join(kinds)}"' if kinds else ""
        return f"<{tag}{mark}>{prose(text)}</{tag}>"

    def row(cells):
        kind = "ours" if any(map(is_ours, cells[:3])) else "total" if cells[0] == "Total" else ""
        return (f'<tr class="{kind}">' if kind else "<tr>") + "".join(cell(i, text, "td") for i, text in enumerate(cells)) + "</tr>"

    head = "<tr>" + "".join(cell(i, text, "th") for i, text in enumerate(table.header)) + "</tr>"
    return "\n".join(['<div class="scroll"><table>', f"<thead>{head}</thead>", "<tbody>", *map(row, table.rows), "</tbody>",
                      "</table></div>"])


def page(title, tables, ending=(), home="index.html"):
    lines = ["<!doctype html>", '<html lang="en">', "<head>", f'<meta charset="utf-8"><title>{html.escape(title)}</title>',
             '<meta name="viewport" content="width=device-width, initial-scale=1">', f"<style>{STYLE}</style>", "</head>",
             "<body>"]
    if home:
        lines.append(f'<nav><a href="{home}">All results</a></nav>')
    lines.append(f"<h1>{html.escape(title)}</h1>")
    for table in tables:
        if table.title != title:
            lines.append(f"<h2>{html.escape(table.title)}</h2>")
        lines += [f"<p>{prose(note)}</p>" for note in table.notes]
        if table.chart:
            lines.append(table.chart)
        if table.rows:
            lines.append(html_table(table))
    lines += ["<footer>", *(f"<p>{prose(sentence)}</p>" for sentence in ending), "</footer>", "</body>", "</html>", ""]
    return "\n".join(lines)
