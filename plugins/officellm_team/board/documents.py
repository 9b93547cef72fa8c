"""Checks one memory of a JSON document before it comes to the board: every field, whoever wrote the document."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from officellm_team.board.embedding import packed, unit, unpacked
from officellm_team.board.errors import BoardError, one_of
from officellm_team.board.links import LINK_TYPES
from officellm_team.board.records import HANDOFF, SCOPES, TYPES, sha256
from officellm_team.board.store import dumped
from officellm_team.board.texts import MAX_CONTENT, MAX_TITLE, checked, clamped, moment

_TEXTS = {
    "title": MAX_TITLE, "content": MAX_CONTENT, "agent_id": 200, "model_id": 200, "change_agent": 200, "source": 200,
    "user_id": 200, "role": 50,
}  # fmt: skip
_TIMES = ("valid_from", "valid_to", "expires_at", "created_at", "updated_at", "last_accessed_at", "read_at")
_ID = 36
MAX_DIMENSIONS = 16_384


@dataclass(frozen=True, slots=True)
class Item:
    """Rows of the tables: the memory, its vector, the links that begin at it."""

    row: dict[str, Any]
    vector: dict[str, Any] | None
    links: list[dict[str, Any]]


def read_item(index: int, item: Any) -> Item:
    """Raises `BoardError`, which names the item and the field."""
    where = f"items[{index}]"
    if not isinstance(item, Mapping):
        raise BoardError("invalid_arguments", f"{where} is not an object.")
    row = _row(where, item)
    links = item.get("relationships") or []
    if not isinstance(links, list):
        raise BoardError("invalid_arguments", f"{where}.relationships is not a list.")
    return Item(
        row, _vector(where, item.get("embedding"), row["id"]),
        [_link(f"{where}.relationships[{at}]", link, row) for at, link in enumerate(links)],
    )  # fmt: skip


def _row(where: str, item: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"id": _id(where, item, "id"), "type": _text(where, item, "type", 30)}
    row |= {name: _text(where, item, name, limit) for name, limit in _TEXTS.items()}
    row |= {name: _time(where, item, name) for name in _TIMES}
    if row["type"] not in (*TYPES, HANDOFF):
        raise one_of(f"{where}.type", row["type"], (*TYPES, HANDOFF))
    row["scope"] = _text(where, item, "scope", 10) or "agent"
    if row["scope"] not in SCOPES:
        raise one_of(f"{where}.scope", row["scope"], SCOPES)
    if row["created_at"] is None:
        raise BoardError("invalid_arguments", f"{where}.created_at is missing.")
    row["updated_at"] = row["created_at"] if row["updated_at"] is None else row["updated_at"]
    row["conversation_id"] = _id(where, item, "conversation_id") if item.get("conversation_id") else None
    row["importance"] = clamped(_number(where, item, "importance", 0.5))
    row["access_count"] = int(max(0, min(2**31 - 1, _number(where, item, "access_count", 0))))
    row["is_deleted"] = item.get("is_deleted") is True
    metadata = item.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise BoardError("invalid_arguments", f"{where}.metadata is not an object.")
    row["metadata"] = checked(f"{where}.metadata", dumped(metadata))
    return {**row, "content_hash": sha256(row["content"])}


def _vector(where: str, said: Any, memory_id: str) -> dict[str, Any] | None:
    if said is None:
        return None
    where = f"{where}.embedding"
    if not isinstance(said, Mapping):
        raise BoardError("invalid_arguments", f"{where} is not an object.")
    try:
        data = base64.b64decode(_text(where, said, "data", MAX_DIMENSIONS * 6), validate=True)
    except (binascii.Error, ValueError):
        raise BoardError("invalid_arguments", f"{where}.data is not base64.") from None
    vector = unpacked(data)
    if not vector or len(data) % 4 or not all(map(math.isfinite, vector)):
        raise BoardError("invalid_arguments", f"{where}.data is not a vector of float32.")
    # Ours have length 1 already, and stay as they are to the last bit.
    length = math.fsum(value * value for value in vector)
    kept = data if abs(length - 1) < 1e-3 else packed(unit(vector))
    if not kept:
        raise BoardError("invalid_arguments", f"{where}.data is a vector of zeros.")
    names = {name: _text(where, said, name, 200) for name in ("model", "content_hash")}
    return {"memory_id": memory_id, "embedding": kept, "dim": len(vector), **names}


def _link(where: str, said: Any, row: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(said, Mapping):
        raise BoardError("invalid_arguments", f"{where} is not an object.")
    type = _text(where, said, "relationship_type", 20)
    if type not in LINK_TYPES:
        raise one_of(f"{where}.relationship_type", type, LINK_TYPES)
    ends = {"from_id": row["id"], "to_id": _id(where, said, "to_id")}
    if ends["to_id"] == row["id"]:
        raise BoardError("invalid_arguments", f"{where} links a memory to itself.")
    at = _time(where, said, "created_at")
    return {"id": _id(where, said, "id"), **ends, "relationship_type": type, "created_at": at or row["created_at"]}


def _id(where: str, item: Mapping[str, Any], name: str) -> str:
    value = _text(where, item, name, _ID)
    if not value:
        raise BoardError("invalid_arguments", f"{where}.{name} is missing.")
    return value


def _text(where: str, item: Mapping[str, Any], name: str, limit: int) -> str:
    value = item.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BoardError("invalid_arguments", f"{where}.{name} is not a text.")
    return checked(f"{where}.{name}", value, limit)


def _time(where: str, item: Mapping[str, Any], name: str) -> float | None:
    return moment(f"{where}.{name}", _text(where, item, name, 40))


def _number(where: str, item: Mapping[str, Any], name: str, default: float) -> float:
    value = item.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
        raise BoardError("invalid_arguments", f"{where}.{name} is not a number.")
    return value
