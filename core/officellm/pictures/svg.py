"""A diagram as SVG: by itself, without a script or anything from outside, for light and dark pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from xml.sax.saxutils import escape

from officellm.pictures.diagram import Diagram
from officellm.pictures.layout import MARGIN, layout
from officellm.pictures.measure import PAD_Y, SIZES, text_width, wrapped
from officellm.pictures.ways import Placed, Point, Way

#: State: fill, edge, and the same on dark pages.
_STATES = {
    "completed": ("#e3f6e8", "#2f855a", "#143626", "#56c38a"),
    "failed": ("#fde4e4", "#c53030", "#451a1d", "#f58585"),
    "skipped": ("#f1f1f1", "#9a9a9a", "#25272a", "#70757a"),
    "cancelled": ("#fff4d6", "#b7791f", "#3d3210", "#dbb04a"),
    "running": ("#e1efff", "#2b6cb0", "#15304d", "#6cb0f5"),
}
_STYLE = """
.ol{font-family:system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
.ol .page{fill:#fff}.ol text{fill:#1f2328;text-anchor:middle}
.ol .title{font-size:14px;font-weight:600;text-anchor:start}
.ol .name{font-size:13px;font-weight:600}.ol .line{font-size:12px}.ol .note{font-size:11px;fill:#59636e}
.ol .label{font-size:11px;fill:#59636e;stroke:#fff;stroke-width:6px;paint-order:stroke;stroke-linejoin:round}
.ol .start{text-anchor:start}
.ol .box{fill:#f6f8fa;stroke:#6e7781;stroke-width:1.2}.ol .frame{fill-opacity:.45}.ol .bar{fill:none}
.ol .manager{stroke-width:2.6}.ol .entry{fill:#e8e6fb;stroke:#6b5fd0}
.ol .skipped{stroke-dasharray:4 3}.ol .arrow{fill:none;stroke:#6e7781;stroke-width:1.4}.ol .tip{fill:#6e7781}
.ol .transfer{stroke-dasharray:6 4}.ol .condition{stroke-dasharray:9 3}
.ol .route{stroke:#6b5fd0}.ol .route.tip{fill:#6b5fd0}
.ol .back{stroke:#b35900;stroke-dasharray:3 3}.ol .tip.back{fill:#b35900}.ol .tip{stroke:none}
"""
_DARK = """
.ol .page{fill:#0d1117}.ol text{fill:#e6edf3}.ol .note{fill:#9aa4ae}.ol .label{fill:#9aa4ae;stroke:#0d1117}
.ol .box{fill:#1c2128;stroke:#8b949e}.ol .entry{fill:#2a2550;stroke:#a89df5}
.ol .arrow{stroke:#8b949e}.ol .tip{fill:#8b949e}.ol .route{stroke:#a89df5}.ol .route.tip{fill:#a89df5}
.ol .back{stroke:#e8a04c}.ol .tip.back{fill:#e8a04c}
"""
#: What an arrow without a label means.
_LEGEND = {"call": "calls", "transfer": "may hand over to"}
_TITLE_HEIGHT, _LEGEND_HEIGHT = 30.0, 26.0


def svg(diagram: Diagram) -> str:
    """The picture."""
    made = layout(diagram)
    heading = wrapped(diagram.title, "name", max(made.width - 2 * MARGIN, 300.0)) if diagram.title.strip() else []
    kinds = [kind for kind in _LEGEND if any(way.arrow.kind == kind and not way.arrow.label for way in made.ways)]
    top = _TITLE_HEIGHT + 18.0 * (len(heading) - 1) if heading else 0.0
    wide = [text_width(line, "name") * 1.1 + 2 * MARGIN for line in heading] + [MARGIN + 170.0 * len(kinds)]
    width = max(made.width, *wide)
    height = top + made.height + (_LEGEND_HEIGHT if kinds else 0.0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ol" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img">',
        f"<title>{_escaped(diagram.title)}</title>",
        f"<style>{_style()}</style>",
        '<rect class="page" width="100%" height="100%"/>',
        *(
            f'<text class="title" x="{MARGIN:.0f}" y="{MARGIN + 10 + 18 * number:.0f}">{_escaped(line)}</text>'
            for number, line in enumerate(heading)
        ),
        f'<g transform="translate({(width - made.width) / 2:.1f} {top:.1f})">',
        *(_box(one) for one in made.boxes if one.is_frame),
        *(_arrow(way) for way in made.ways),
        *(_box(one) for one in made.boxes if not one.is_frame),
        *(_label(way) for way in made.ways if way.label.lines),
        "</g>",
        *_legend(kinds, height - 16.0),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _style() -> str:
    light = "".join(f".ol .{name}{{fill:{a};stroke:{b}}}" for name, (a, b, _, _) in _STATES.items())
    dark = "".join(f".ol .{name}{{fill:{c};stroke:{d}}}" for name, (_, _, c, d) in _STATES.items())
    return f"{_STYLE}{light}\n@media (prefers-color-scheme:dark){{{_DARK}{dark}}}\n"


def _box(one: Placed) -> str:
    box = one.box
    state = f" {box.state}" if box.state in _STATES else ""
    style = f"box {'frame' if one.is_frame else box.kind}{state}"
    corner = min(one.height / 2, 22.0) if box.kind in ("function", "entry") and not one.is_frame else 7.0
    x, y, width, height = one.x, one.y, one.width, one.height
    shape = (
        f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{corner:.0f}"/>'
    )
    if box.kind == "workflow" and not one.is_frame:
        bars = f"M{x + 6:.1f} {y:.1f}v{height:.1f}M{x + width - 6:.1f} {y:.1f}v{height:.1f}"
        shape += f'<path class="{style} bar" d="{bars}"/>'
    told = _escaped("\n".join([*box.lines, *box.notes]))
    return f"<g><title>{told}</title>{shape}{''.join(_texts(one))}</g>"


def _texts(one: Placed) -> Iterator[str]:
    y = one.y + PAD_Y
    if not one.is_frame:
        y = one.y + (one.height - one.words.height) / 2
    for line in one.words.lines:
        size, height = SIZES[line.style]
        base = y + (height + size * 0.7) / 2
        yield f'<text class="{line.style}" x="{one.x + one.width / 2:.1f}" y="{base:.1f}">{_escaped(line.text)}</text>'
        y += height


def _arrow(way: Way) -> str:
    kind, points = way.arrow.kind, way.points
    path = _round_path(points) if way.back else _down_path(points)
    tips = _tip(points[-1], "left" if way.back else "down")
    if way.arrow.both:
        tips += _tip(points[0], "left" if way.back else "up")
    return f'<path class="arrow {kind}" d="{path}"/><path class="tip {kind}" d="{tips}"/>'


def _down_path(points: Sequence[Point]) -> str:
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for number, ((x, y), (to_x, to_y)) in enumerate(pairwise(points)):
        if number % 2 == 0:
            path += f"V{to_y:.1f}" if to_y - y > 0.05 else ""
        else:
            half = (y + to_y) / 2
            path += f"C{x:.1f} {half:.1f} {to_x:.1f} {half:.1f} {to_x:.1f} {to_y:.1f}"
    return path


def _round_path(points: Sequence[Point]) -> str:
    """Out to the lane, up along it, and in again, with round corners."""
    (x, y), (lane, _), *between, (last_lane, to_y), (to_x, _) = points
    corner = max(min(abs(y - to_y) / 2, 10.0), 0.0)
    turn = corner if y >= to_y else -corner
    path = f"M{x:.1f} {y:.1f}H{lane - corner:.1f}Q{lane:.1f} {y:.1f} {lane:.1f} {y - turn:.1f}"
    ups = [(lane, y - turn), *between, (last_lane, to_y + turn)]
    for (at, from_y), (to_at, up_y) in pairwise(ups):
        half = (from_y + up_y) / 2
        path += f"C{at:.1f} {half:.1f} {to_at:.1f} {half:.1f} {to_at:.1f} {up_y:.1f}" if at != to_at else f"V{up_y:.1f}"
    return f"{path}Q{last_lane:.1f} {to_y:.1f} {last_lane - corner:.1f} {to_y:.1f}H{to_x:.1f}"


def _tip(at: Point, towards: str) -> str:
    x, y = at
    if towards == "left":
        return f"M{x:.1f} {y:.1f}l8 -4v8z"
    back = -8 if towards == "down" else 8
    return f"M{x:.1f} {y:.1f}l-4 {back}h8z"


def _label(way: Way) -> str:
    x, bottom = way.label_at
    side = " start" if way.back else ""
    height = SIZES["label"][1]
    first = bottom - way.label.height + height - 3.0
    return "".join(
        f'<text class="label{side}" x="{x:.1f}" y="{first + height * number:.1f}">{_escaped(line.text)}</text>'
        for number, line in enumerate(way.label.lines)
    )


def _legend(kinds: Sequence[str], y: float) -> Iterator[str]:
    x = MARGIN
    for kind in kinds:
        yield f'<path class="arrow {kind}" d="M{x:.0f} {y:.0f}h26"/>'
        yield f'<path class="tip {kind}" d="M{x + 32:.0f} {y:.0f}l-8 -4v8z"/>'
        yield f'<text class="note start" x="{x + 40:.0f}" y="{y + 4:.0f}">{_LEGEND[kind]}</text>'
        x += 60.0 + text_width(_LEGEND[kind], "note")


def _escaped(text: str) -> str:
    """Without what XML cannot hold."""
    return escape("".join(char if char.isprintable() else " " if char != "\n" else "\n" for char in text))
