"""Vectors: how they are made, kept as float32 bytes, compared, and put in an order without repetition."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, delete, insert, select

from officellm import OfficeError
from officellm_team.board.store import Board
from officellm_team.board.tables import EMBEDDINGS
from officellm_team.board.texts import chunks

Vector = Sequence[float]
#: How much the relevance weighs in an order by marginal relevance; the rest is how new a hit is beside those before.
MMR_LAMBDA = 0.7


def embedded(board: Board, texts: Sequence[str]) -> list[Vector] | None:
    """A vector of length 1 for each text; None without an embedder, or when it fails: what is kept is kept anyway."""
    embedder = board.helpers.embedder
    if embedder is None or not texts:
        return None
    board.tallies.add("embed_calls")
    board.tallies.add("embed_tokens_est", sum(len(text) for text in texts) // 4 + 1)
    try:
        vectors = [unit(vector) for vector in embedder.embed(texts)]
    except OfficeError:
        return None
    usable = len(vectors) == len(texts) and all(vectors) and len({len(vector) for vector in vectors}) == 1
    return vectors if usable else None


def unit(vector: Vector) -> Vector:
    """The vector with length 1; empty where it has no direction."""
    length = math.sqrt(sum(map(operator.mul, vector, vector)))
    return [value / length for value in vector] if 0 < length < math.inf else []


def packed(vector: Vector) -> bytes:
    """Float32, least significant byte first."""
    return struct.pack(f"<{len(vector)}f", *vector)


def unpacked(data: bytes) -> Vector:
    """The vector that was packed; what is left over of a damaged one is dropped."""
    count = len(data) // 4
    return struct.unpack(f"<{count}f", data[: count * 4])


def cosine(one: Vector, other: Vector) -> float:
    """How alike two vectors of length 1 are, from -1 to 1; 0 where they cannot be compared."""
    return float(sum(map(operator.mul, one, other))) if len(one) == len(other) else 0.0


def diverse(relevance: Mapping[str, float], vectors: Mapping[str, Vector], count: int) -> list[str]:
    """The keys of the best hits, each chosen for its relevance less its likeness to those chosen before."""
    left, chosen = sorted(relevance, key=lambda key: -relevance[key]), list[str]()
    likeness = dict.fromkeys(left, 0.0)
    while left and len(chosen) < count:
        best = max(left, key=lambda key: MMR_LAMBDA * relevance[key] - (1 - MMR_LAMBDA) * likeness[key])
        left.remove(best)
        chosen.append(best)
        mine = vectors.get(best)
        if mine is not None:
            for key in left:
                if key in vectors:
                    likeness[key] = max(likeness[key], cosine(mine, vectors[key]))
    return chosen


def keep(connection: Connection, board: Board, memory_id: str, vector: Vector | None, content_hash: str) -> None:
    """Put this vector in the place of the one a memory had; None removes it."""
    connection.execute(delete(EMBEDDINGS).where(EMBEDDINGS.c.memory_id == memory_id))
    embedder = board.helpers.embedder
    if vector is not None and embedder is not None:
        row = {"memory_id": memory_id, "embedding": packed(vector), "dim": len(vector)}
        connection.execute(insert(EMBEDDINGS).values(**row, model=embedder.model, content_hash=content_hash))


def vectors_of(connection: Connection, ids: Sequence[str], model: str, dim: int | None = None) -> dict[str, Vector]:
    """The vectors of one model that these memories have."""
    found: dict[str, Vector] = {}
    for part in chunks(ids):
        query = select(EMBEDDINGS.c.memory_id, EMBEDDINGS.c.embedding)
        query = query.where(EMBEDDINGS.c.memory_id.in_(part), EMBEDDINGS.c.model == model)
        if dim is not None:
            query = query.where(EMBEDDINGS.c.dim == dim)
        found.update((row.memory_id, unpacked(row.embedding)) for row in connection.execute(query))
    return found
