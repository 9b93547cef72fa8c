"""What the board may be given from outside: vectors, a model that sums up, a vector store. None of it is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

#: Sums up a text, or answers a short question about it. Raises `OfficeError` when it cannot.
Summarizer = Callable[[str], str]


class Embedder(Protocol):
    """Turns texts into vectors of one length. Raises `OfficeError` when it cannot."""

    @property
    def model(self) -> str:
        """The name of the model: vectors of two models are never compared."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order."""


class Collection(Protocol):
    """What is needed of a Chroma collection."""

    def get(self, **options: Any) -> Mapping[str, Any]:
        """`ids`, and what `include` names, of the given `ids` or of a page (`limit`, `offset`)."""

    def upsert(self, **columns: Any) -> None:
        """Add or replace by id: `ids`, `documents`, `metadatas`, `embeddings`."""


@dataclass(slots=True)
class Helpers:
    """What a board was given. May be filled in after the board was opened."""

    embedder: Embedder | None = None
    summarizer: Summarizer | None = None
    collection: Collection | None = None
