from __future__ import annotations

import pytest

from officellm import Media, ToolResult, data_url, file_words, result_text


@pytest.mark.parametrize(
    ("media", "url"),
    [
        (Media("image/png", data=b"x"), "data:image/png;base64,eA=="),
        (Media("image/png", url="https://h/a.png"), "https://h/a.png"),
        (Media("image/png"), ""),
    ],
    ids=["bytes", "address", "neither"],
)
def test_media_has_an_address(media, url):
    assert data_url(media) == url


@pytest.mark.parametrize(
    ("media", "words"),
    [
        (Media("text/plain", data=b"a\xff", name="a.txt"), "a.txt:\na\ufffd"),
        (Media("text/csv", data=b"1,2"), "file:\n1,2"),
        (
            Media("text/plain", url="https://h/a"),
            "[a file of type text/plain that this model cannot read: https://h/a]",
        ),
        (Media("audio/wav", data=b"x"), "[a file of type audio/wav that this model cannot read: unnamed]"),
    ],
    ids=["text", "text-without-a-name", "text-elsewhere", "sound"],
)
def test_a_file_is_said_in_words(media, words):
    assert file_words(media) == words


@pytest.mark.parametrize(
    ("content", "is_error", "said"),
    [("ok", False, "ok"), ("no page", True, "Error: no page"), ("error: no page", True, "error: no page")],
    ids=["result", "error", "error-that-says-so"],
)
def test_an_error_says_that_it_is_one(content, is_error, said):
    assert result_text(ToolResult("c", "f", content, is_error)) == said
