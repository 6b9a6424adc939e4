"""Draws the tables of docs/performance.md as a picture: every case a bar, on a logarithmic axis of ratios to PyTorch's speed.

`scripts/compare.py --svg docs/speed.svg` calls it; it measures nothing. A table is drawn if it is the first one below a heading that ends in
a month, such as `### AMD EPYC (Zen 4), November 2026`: processor and date in the picture are that heading.
"""

import math
import re
from html import escape

HEADING = re.compile(r"### (.+, [A-Z][a-z]+ \d{4})")
SUMMARY = re.compile(r"Against PyTorch: geometric mean ([\d.]+) over (\d+) cases; .* (\d+) below 0\.95\.")
SIDES = re.compile(r"PyTorch ([\d.]+)\s+with (\w+) threads")
ROW = re.compile(r"\| ([^|]+) \| [^|]+ \| [^|]+ \| ([\d.]+) \|")
# The axis, and its labelled ratios.
LEAST, MOST, TICKS = 0.5, 100, (0.5, 1, 2, 5, 10, 20, 50, 100)
WIDTH, MARGIN, GAP, STEP, THICK = 880, 24, 48, 3.7, 2.7
NOTES = (
    "At 2, PyTorch takes twice as long as nomina; at 0.5, half as long.",
    "Cases: operators on 16 to 10 million elements, chains of them, products,",
    "convolutions, attention; gradients and training steps.",
    "All figures, and how they were measured: docs/performance.md",
)
STYLE = """
text { font: 11px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
.back { fill: #ffffff; stroke: #d1d9e0; } .title { font-size: 15px; font-weight: 600; } .name { font-size: 12px; font-weight: 600; }
.quiet { fill: #59636e; } .case { font-size: 10px; fill: #59636e; paint-order: stroke; stroke: #ffffff; stroke-width: 3px; } .grid { stroke: #d1d9e0; } .equal { stroke: #1f2328; }
.faster { fill: #0072b2; } .slower { fill: #d55e00; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; } .back { fill: #0d1117; stroke: #3d444d; } .quiet, .case { fill: #9198a1; } .case { stroke: #0d1117; }
  .grid { stroke: #3d444d; } .equal { stroke: #f0f6fc; } .faster { fill: #56b4e9; } .slower { fill: #f0883e; }
}
"""


class Table:
    """The ratios of a table by case, with its heading and the figures of its summary."""

    def __init__(self, heading, mean, below, ratios):
        self.heading, self.mean, self.below = heading, mean, below
        self.ratios = dict(sorted(ratios.items(), key=lambda case: case[1]))

    def slow(self):
        """Returns the cases below 0.95. One may be rounded to that."""
        return list(self.ratios.items())[: self.below]


def tables(page):
    """Reads the tables of a page. Exits if one disagrees with its summary."""
    found = []
    for part in re.split(r"^(?=#+ )", page, flags=re.MULTILINE):
        heading, summary = HEADING.match(part), SUMMARY.search(part)
        if not heading or not summary:
            continue
        below_summary = part[summary.end() :].strip().split("\n\n")[0]
        ratios = {row[1]: float(row[2]) for row in map(ROW.match, below_summary.splitlines()) if row}
        mean, cases, below = float(summary[1]), int(summary[2]), int(summary[3])
        # Ratios are rounded to two digits after the point; the summary was computed before that.
        computed = math.exp(math.fsum(map(math.log, ratios.values())) / len(ratios))
        sure, possible = (sum(ratio < limit for ratio in ratios.values()) for limit in (0.95, 0.955))
        if len(ratios) != cases or not sure <= below <= possible or abs(computed - mean) > 0.01 * mean:
            raise SystemExit(f"{heading[1]}: the summary is not that of its table")
        found.append(Table(heading[1], mean, below, ratios))
    if not found:
        raise SystemExit("the page has no table below a heading with a month")
    return found


def description(page):
    """Returns the picture's figures as text, which is also its alternative text in the README."""
    torch, threads = SIDES.search(page).groups()
    said = [
        f"{t.heading}: {len(t.ratios)} cases, geometric mean {t.mean:.2f}, {t.below} below 0.95, "
        f"from {min(t.ratios.values()):.2f} to {max(t.ratios.values()):.2f}"
        for t in tables(page)
    ]
    return f"PyTorch {torch}'s time divided by nomina's, {threads} threads. " + "; ".join(said) + "."


class Panel:
    """A table at a place of the picture."""

    def __init__(self, table, left, top, width):
        self.table, self.left, self.top, self.width = table, left, top, width
        self.first = top + 32
        self.bottom = self.first + STEP * len(table.ratios)

    def x(self, ratio):
        span = math.log(MOST / LEAST)
        return self.left + self.width * math.log(ratio / LEAST) / span

    def draw(self):
        t = self.table
        out = [
            text(self.left, self.top + 10, t.heading, "name"),
            text(self.left, self.top + 25, f"{len(t.ratios)} cases, geometric mean {t.mean:.2f}; {t.below} below 0.95:", "quiet"),
        ]
        for ratio in TICKS:
            kind, x = ("equal" if ratio == 1 else "grid"), self.x(ratio)
            out.append(f'<path class="{kind}" d="M{x:.1f} {self.first - 3:.1f}V{self.bottom + 3:.1f}"/>')
            out.append(text(x, self.bottom + 15, f"{ratio:g}", "quiet", "middle"))
        for at, (case, ratio) in enumerate(t.ratios.items()):
            begin, end = sorted((self.x(1), self.x(ratio)))
            kind = "slower" if ratio < 1 else "faster"
            size = f'y="{self.first + STEP * at:.1f}" width="{max(end - begin, 1):.1f}" height="{THICK}"'
            out.append(f'<rect class="{kind}" x="{begin:.1f}" {size}><title>{escape(case)}: {ratio:.2f}</title></rect>')
        # The slow cases by name, to the right of the bars of that height.
        lines = t.slow()
        covered = list(t.ratios.values())[: math.ceil((len(lines) * 12 + 12) / STEP)]
        x = self.x(max(covered)) + 12
        for at, (case, ratio) in enumerate(lines):
            out.append(text(x, self.first + 9 + 12 * at, f"{ratio:.2f}  {case}", "case"))
        return out


def text(x, y, words, kind="", anchor=""):
    anchor = f' text-anchor="{anchor}"' if anchor else ""
    kind = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{kind}{anchor}>{escape(words)}</text>'


def draw(page):
    """Returns the picture of a page's tables, in two columns."""
    torch, threads = SIDES.search(page).groups()
    width = (WIDTH - 2 * MARGIN - GAP) / 2
    panels, tops = [], [62, 62]
    for table in tables(page):
        column = tops.index(min(tops))
        panels.append(Panel(table, MARGIN + column * (width + GAP), tops[column], width))
        tops[column] = panels[-1].bottom + 36
    height = max(tops) - 8
    # Below the shorter column.
    column = tops.index(min(tops))
    notes = [text(MARGIN + column * (width + GAP), tops[column] + 25 + 17 * at, note, "quiet") for at, note in enumerate(NOTES)]
    body = [
        text(MARGIN, 26, f"Speed of nomina beside PyTorch {torch} on {threads} threads", "title"),
        f'<rect class="faster" x="{MARGIN}" y="37" width="10" height="10"/>',
        text(MARGIN + 15, 46, "nomina is faster"),
        f'<rect class="slower" x="{MARGIN + 115}" y="37" width="10" height="10"/>',
        text(MARGIN + 130, 46, "nomina is slower"),
        text(MARGIN + 235, 46, "PyTorch's time divided by nomina's, one bar for each case, sorted; logarithmic axis", "quiet"),
        *(line for panel in panels for line in panel.draw()),
        *notes,
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}" '
        'role="img" aria-labelledby="title desc">\n'
        f'<title id="title">Speed of nomina beside PyTorch</title>\n<desc id="desc">{escape(description(page))}</desc>\n'
        f"<style>{STYLE}</style>\n"
        f'<rect class="back" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1:.0f}" rx="6"/>\n'
    )
    return head + "\n".join(body) + "\n</svg>\n"
