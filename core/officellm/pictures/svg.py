"""A diagram as SVG: by itself, without a script or anything from outside, for light and dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from xml.sax.saxutils import escape

from officellm.pictures.diagram import Arrow, Diagram
from officellm.pictures.layout import LINE, PAD, Layout, Placed, layout

_STYLE = """
text{font:12px system-ui,Helvetica,Arial,sans-serif;fill:#1b1b1b;text-anchor:middle}
.name{font-weight:600}.label{font-size:11px;fill:#555}
.box{fill:#f7f7f9;stroke:#555;stroke-width:1.2}.manager{stroke-width:2.4}.function{stroke-dasharray:4 2}
.arrow{fill:none;stroke:#666;stroke-width:1.3}.transfer{stroke-dasharray:5 4}.back{stroke-dasharray:2 3;stroke:#a05a00}
.route{stroke-width:2}.tip{fill:#666}
.completed{fill:#d8f3dc;stroke:#2d6a4f}.failed{fill:#ffd6d6;stroke:#9b2226}.skipped{fill:#ececec;stroke:#999}
.cancelled{fill:#fff3cd;stroke:#b58900}.running{fill:#d6e6ff;stroke:#1d4e89}
@media(prefers-color-scheme:dark){svg{background:#15171a}text{fill:#eee}.label{fill:#aaa}.box{fill:#23262b;stroke:#9aa}
.arrow{stroke:#9aa}.tip{fill:#9aa}.back{stroke:#e0a050}.completed{fill:#12402a;stroke:#5fcf95}
.failed{fill:#551a1d;stroke:#ff8a8a}.skipped{fill:#2c2c2c;stroke:#777}.cancelled{fill:#4a3b00;stroke:#e6c34a}
.running{fill:#12304f;stroke:#7ab6ff}}
"""
#: What the way of an arrow back adds at the right.
_BACK = 46.0


def svg(diagram: Diagram) -> str:
    """The picture."""
    made = layout(diagram)
    returning = any(arrow.kind == "back" or not _leads_down(made, arrow) for arrow, _ in made.ways)
    width, height = made.width + (_BACK * 2 if returning else 0), made.height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img">',
        f"<title>{escape(_clean(diagram.title))}</title>",
        f"<style>{_STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>',
        *(_arrow(made, arrow, between) for arrow, between in made.ways),
        *(_box(one) for one in made.boxes.values()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _leads_down(made: Layout, arrow: Arrow) -> bool:
    return made.boxes[arrow.source].y + made.boxes[arrow.source].height <= made.boxes[arrow.target].y


def _arrow(made: Layout, arrow: Arrow, between: Sequence[tuple[float, float]]) -> str:
    source, target = made.boxes[arrow.source], made.boxes[arrow.target]
    if arrow.kind == "back" or not _leads_down(made, arrow):
        path, at = _way_round(made, source, target)
    else:
        path, at = _way_down([(source.middle, source.y + source.height), *between, (target.middle, target.y)])
    line = f'<path class="arrow {arrow.kind}" d="{path}" marker-end="url(#tip)"/>'
    if not arrow.label:
        return line
    label = escape(_clean(arrow.label)[:40])
    return f'{line}<text class="label" x="{at[0]:.1f}" y="{at[1]:.1f}">{label}</text>'


def _way_down(points: Sequence[tuple[float, float]]) -> tuple[str, tuple[float, float]]:
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x, y), (to_x, to_y) in pairwise(points):
        half = (to_y - y) / 2
        path += f"C{x:.1f} {y + half:.1f} {to_x:.1f} {to_y - half:.1f} {to_x:.1f} {to_y:.1f}"
    (x, y), (to_x, to_y) = points[0], points[1]
    return path, ((x + to_x) / 2, (y + to_y) / 2 - 3)


def _way_round(made: Layout, source: Placed, target: Placed) -> tuple[str, tuple[float, float]]:
    """Out at the right of one box, and in at the right of the other."""
    x, y = source.x + source.width, source.y + source.height / 2
    to_x, to_y = target.x + target.width, target.y + target.height / 2
    if source is target:
        y, to_y = y + 8, to_y - 8
    out = max(x, to_x) + _BACK
    path = f"M{x:.1f} {y:.1f}C{out:.1f} {y:.1f} {out:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"
    return path, (min(out - 8, made.width + _BACK), (y + to_y) / 2)


def _box(one: Placed) -> str:
    box = one.box
    round_ = 14 if box.kind == "function" else 5
    shape = (
        f'<rect class="box {box.kind} {box.state}" x="{one.x:.1f}" y="{one.y:.1f}" '
        f'width="{one.width:.1f}" height="{one.height:.1f}" rx="{round_}"/>'
    )
    texts = []
    for number, line in enumerate(one.lines):
        style = ' class="name"' if number == 0 else ""
        y = one.y + PAD / 2 + LINE * (number + 0.75)
        texts.append(f'<text{style} x="{one.middle:.1f}" y="{y:.1f}">{escape(_clean(line))}</text>')
    return f"<g><title>{escape(_clean(' '.join(box.lines)))}</title>{shape}{''.join(texts)}</g>"


def _clean(text: str) -> str:
    """Without what XML cannot hold."""
    return "".join(char for char in text if char.isprintable())
