"""What a wire format writes where it has no place of its own for a file or for an error. No vendor here."""

from __future__ import annotations

from base64 import b64encode

from officellm.messages import Media, ToolResult


def data_url(media: Media) -> str:
    """Its url, or its bytes as one."""
    if media.data is None:
        return media.url or ""
    return f"data:{media.media_type};base64,{b64encode(media.data).decode()}"


def file_words(media: Media) -> str:
    """A text file as text, and any other by its name: nothing that a user sent is dropped in silence."""
    if media.media_type.startswith("text/") and media.data is not None:
        return f"{media.name or 'file'}:\n{media.data.decode('utf-8', 'replace')}"
    return f"[a file of type {media.media_type} that this model cannot read: {media.url or media.name or 'unnamed'}]"


def result_text(result: ToolResult) -> str:
    """The content, which says of an error that it is one."""
    if result.is_error and result.content[:5].lower() != "error":
        return f"Error: {result.content}"
    return result.content
