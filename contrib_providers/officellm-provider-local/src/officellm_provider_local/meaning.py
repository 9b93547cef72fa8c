"""Chooses by meaning: which description is nearest to a text in the model's own hidden state. Nothing is written.

A small model asked to write its choice is right little more often than chance; what it has understood by the end of
`this text means in one word: "` tells far more.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence

from officellm_provider_local.model import Counts, Model, clean

_PROMPTS = ('This text: "{}" means in one word:"', '"{}"\n\nThe kind of work described above, in one word: "')
#: Their mean is what any office sentence has in common; without it everything is alike.
_NEUTRAL = (
    "The meeting is on Monday.",
    "Please take care of this.",
    "I need your help with something.",
    "Can you do this by tomorrow?",
    "Here is a short description of the task.",
    "Let me know when it is finished.",
    "This is important for our team.",
    "Thank you for your work.",
    "We have a new request.",
    "What do you think about it?",
)
#: Makes scores shares. At 25 the mean share of what was chosen (0.92) was about how often that was right (67 of 72).
_SHARPNESS = 25.0
_KEPT = 256
#: Longer texts are cut: a word of English is about six bytes, and no script has more tokens than bytes.
_BYTES = 1200

Vector = list[float]


class Meanings:
    """Compares texts by what one model understands of them. Blocks: for the model's worker thread."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._middle: list[Vector] = []
        self._known: dict[str, list[Vector]] = {}

    def shares(self, text: str, choices: Mapping[str, str], stop: threading.Event) -> tuple[dict[str, float], Counts]:
        """How near `text` is to each choice's description, as shares of 1. Raises `FaultError` and `Stopped`."""
        spent = self._learn_middle(stop)
        asked, counts = self._directions(text, stop)
        spent += counts
        scores: dict[str, float] = {}
        for name, description in choices.items():
            known = self._known.get(description)
            if known is None:
                known, counts = self._directions(description or name, stop)
                spent += counts
                if len(self._known) >= _KEPT:
                    self._known.clear()
                self._known[description] = known
            scores[name] = sum(_dot(a, b) for a, b in zip(asked, known, strict=True)) / len(_PROMPTS)
        top = max(scores.values())
        weights = {name: math.exp(_SHARPNESS * (score - top)) for name, score in scores.items()}
        total = sum(weights.values())
        return {name: weight / total for name, weight in weights.items()}, spent

    def _learn_middle(self, stop: threading.Event) -> Counts:
        spent = Counts()
        for prompt in _PROMPTS[len(self._middle) :]:
            vectors, counts = self._model.meanings([prompt.format(text) for text in _NEUTRAL], stop)
            self._middle.append([sum(column) / len(vectors) for column in zip(*vectors, strict=True)])
            spent += counts
        return spent

    def _directions(self, text: str, stop: threading.Event) -> tuple[list[Vector], Counts]:
        shown = clean(text).encode()[:_BYTES].decode(errors="ignore")
        vectors, counts = self._model.meanings([prompt.format(shown) for prompt in _PROMPTS], stop)
        return [_unit(vector, middle) for vector, middle in zip(vectors, self._middle, strict=True)], counts


def _unit(vector: Sequence[float], middle: Sequence[float]) -> Vector:
    moved = [a - b for a, b in zip(vector, middle, strict=True)]
    length = math.sqrt(_dot(moved, moved)) or 1.0
    return [value / length for value in moved]


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))
