"""How much room text takes: widths that hold in any common font, and lines that fit a box. No layout here."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from officellm.pictures.diagram import Box
from officellm.pictures.words import short

Style = Literal["name", "line", "note", "label"]
#: Pixels of the font and of a line, for each style.
SIZES: dict[Style, tuple[float, float]] = {
    "name": (13, 18),
    "line": (12, 16),
    "note": (11, 15),
    "label": (11, 13),
}
#: Pixels of a line before it is wrapped; lines of a text, and of a box, before they are cut.
WIDEST, LABEL_WIDEST = 200.0, 150.0
MOST_LINES, MOST_OF_BOX = 3, 9
PAD_X, PAD_Y = 14.0, 9.0
_NARROW = frozenset("iljtfrI.,:;'|!()[]{}/\\ `-")
_BROAD = frozenset("mwMW@%—…")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text and how it is written."""

    text: str
    style: Style


@dataclass(frozen=True, slots=True)
class Words:
    """Lines below each other, and the room that they take."""

    lines: Sequence[Line]
    width: float
    height: float


def words_of(box: Box) -> Words:
    """The text of a box: its name, its lines, its notes."""
    texts: list[tuple[str, Style]] = [(text, "line") for text in box.lines]
    texts[0] = (box.lines[0], "name")
    texts += [(text, "note") for text in box.notes]
    lines = [Line(part, style) for text, style in texts for part in wrapped(text, style)]
    return _measured(lines[:MOST_OF_BOX])


def label_of(text: str) -> Words:
    """The text beside an arrow."""
    return _measured([Line(part, "label") for part in wrapped(text, "label", LABEL_WIDEST)] if text else [])


def _measured(lines: Sequence[Line]) -> Words:
    width = max((text_width(line.text, line.style) for line in lines), default=0.0)
    return Words(lines, width, sum(SIZES[line.style][1] for line in lines))


def wrapped(text: str, style: Style, widest: float = WIDEST) -> list[str]:
    """A text in a few lines; what does not fit is cut with a mark."""
    lines = [""]
    for word in short(text, 400).split() or [" "]:
        for part in _parts(word, style, widest):
            longer = f"{lines[-1]} {part}" if lines[-1] else part
            if not lines[-1] or text_width(longer, style) <= widest:
                lines[-1] = longer
            else:
                lines.append(part)
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"{lines[MOST_LINES - 1]}…"]
    return lines


def _parts(word: str, style: Style, widest: float) -> list[str]:
    """A word that is too long for a line, in pieces."""
    if text_width(word, style) <= widest:
        return [word]
    parts, width = [""], 0.0
    for char in word:
        more = text_width(char, style)
        if width + more > widest:
            parts.append("")
            width = 0.0
        parts[-1] += char
        width += more
    return parts


def text_width(text: str, style: Style) -> float:
    """Pixels, rather too many than too few."""
    em = sum(map(_em, text))
    return em * SIZES[style][0] * (1.06 if style == "name" else 1.0)


@lru_cache(maxsize=4096)
def _em(char: str) -> float:
    if char in _NARROW:
        return 0.36
    if char in _BROAD or unicodedata.east_asian_width(char) in "WF":
        return 1.0
    return 0.58 if char.islower() or char.isdigit() or char in "_$?" else 0.72
