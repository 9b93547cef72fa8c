"""Images, documents, films and sounds as Converse's blocks. Nothing here knows about turns."""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any

from officellm import (
    Media,
    file_words,
)

_WORD = "application/vnd.openxmlformats-officedocument"
#: For each media type: the kind of block, and the service's word for the format.
_FORMATS = {
    "image/png": ("image", "png"),
    "image/jpeg": ("image", "jpeg"),
    "image/jpg": ("image", "jpeg"),
    "image/gif": ("image", "gif"),
    "image/webp": ("image", "webp"),
    "application/pdf": ("document", "pdf"),
    "text/csv": ("document", "csv"),
    "application/msword": ("document", "doc"),
    f"{_WORD}.wordprocessingml.document": ("document", "docx"),
    "application/vnd.ms-excel": ("document", "xls"),
    f"{_WORD}.spreadsheetml.sheet": ("document", "xlsx"),
    "text/html": ("document", "html"),
    "text/markdown": ("document", "md"),
    "application/json": ("document", "txt"),
    "video/x-matroska": ("video", "mkv"),
    "video/quicktime": ("video", "mov"),
    "video/mp4": ("video", "mp4"),
    "video/webm": ("video", "webm"),
    "video/mpeg": ("video", "mpeg"),
    "audio/mpeg": ("audio", "mp3"),
    "audio/wav": ("audio", "wav"),
    "audio/flac": ("audio", "flac"),
    "audio/ogg": ("audio", "ogg"),
}
_ILLEGAL_IN_NAME = re.compile(r"[^a-zA-Z0-9()\[\]-]+")


def media_block(media: Media, number: int) -> dict[str, Any]:
    """One content block; what the API has no block for is named in words instead of being dropped.

    `number` is the file's place in the conversation: no two documents of it may share a name.
    """
    kind, form = _form(media.media_type)
    source = _source(media)
    if not kind or source is None:
        return {"text": file_words(media)}
    named = {"name": _name(media.name, number)} if kind == "document" else {}
    return {kind: {"format": form, **named, "source": source}}


def _form(media_type: str) -> tuple[str, str]:
    plain = media_type.partition(";")[0].strip().lower()
    return _FORMATS.get(plain) or (("document", "txt") if plain.startswith("text/") else ("", ""))


def _source(media: Media) -> dict[str, Any] | None:
    if media.data is not None:
        return {"bytes": b64encode(media.data).decode()}
    if media.url is not None and media.url.startswith("s3://"):
        return {"s3Location": {"uri": media.url}}
    return None


def _name(name: str | None, number: int) -> str:
    """A name of the few characters that the service takes."""
    plain = _ILLEGAL_IN_NAME.sub(" ", (name or "").rpartition(".")[0] or name or "").strip()[:150].strip()
    return f"{plain or 'document'} {number}"
