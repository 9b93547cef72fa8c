"""Takes the reasoning out of text in which a model writes it between `<think>` and `</think>`."""

from __future__ import annotations

OPEN, CLOSE = "<think>", "</think>"


def split_thoughts(text: str) -> tuple[str, str]:
    """Text and reasoning. A lone closing tag ends a thought that began with the text; an open one lasts to its end."""
    if CLOSE in text and OPEN not in text.partition(CLOSE)[0]:
        text = OPEN + text
    splitter = ThoughtSplitter()
    pieces = [*splitter.feed(text), *splitter.close()]
    said = "".join(piece for thought, piece in pieces if not thought)
    return said.strip() if len(said) < len(text) else said, "".join(
        piece for thought, piece in pieces if thought
    ).strip()


class ThoughtSplitter:
    """The same for text that comes in pieces, to show it: tags may be cut anywhere."""

    def __init__(self) -> None:
        self._thinking = False
        self._held = ""

    def feed(self, text: str) -> list[tuple[bool, str]]:
        """Pieces of reasoning (True) and of the answer (False), without what may turn out to be a tag."""
        text = self._held + text
        pieces: list[tuple[bool, str]] = []
        while True:
            before, tag, after = text.partition(CLOSE if self._thinking else OPEN)
            if not tag:
                break
            pieces.append((self._thinking, before))
            self._thinking = not self._thinking
            text = after
        tag = CLOSE if self._thinking else OPEN
        keep = next((size for size in range(len(tag) - 1, 0, -1) if text.endswith(tag[:size])), 0)
        self._held = text[len(text) - keep :]
        pieces.append((self._thinking, text[: len(text) - keep]))
        return [piece for piece in pieces if piece[1]]

    def close(self) -> list[tuple[bool, str]]:
        """What was held back and is no tag after all."""
        return [(self._thinking, self._held)] if self._held else []
