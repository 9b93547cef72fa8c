"""Events as lines, and text made safe for a terminal."""

import pytest

from officellm import Usage, events as ev
from officellm.cli.lines import TextLines, line_of, money
from officellm.cli.output import clean, one_line

HEAD = {"seq": 1, "at": 0.0, "run_id": "r", "agent": "boss", "span": "1:boss"}
USAGE = Usage(input=1000, output=234, requests=1, tool_calls=1, cost_usd=0.0123)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (
            ev.RouteEvent(**HEAD, by="llm", choice="writer", reason="it writes", confidence=0.8),
            "router llm chose writer (it writes, confidence 0.80)",
        ),
        (ev.RouteEvent(**HEAD, by="llm", choice="writer"), "router llm chose writer (no reason given)"),
        (ev.AgentStart(**HEAD, depth=1, model="m"), "boss: start, m"),
        (
            ev.ModelReply(**HEAD, turn=2, text="", calls=2, stop="length", usage=USAGE),
            "boss: turn 2: 1,234 tokens (1,000 in, 234 out), $0.0123, 2 calls, stop length",
        ),
        (
            ev.ModelRetry(**HEAD, attempt=1, fault="rate_limit", message="slow\ndown", seconds=0.5, status=429),
            "boss: retry 1 in 0.5 s after HTTP 429 rate_limit: slow down",
        ),
        (
            ev.ToolCallEvent(**HEAD, id="c", name="find", kind="tool", arguments={"q": "a\nb", "n": [1]}),
            "boss: tool find(q='a\\nb', n=[1])",
        ),
        (
            ev.ToolCallEvent(**HEAD, id="c", name="find", kind="tool", arguments=None),
            "boss: tool find(unreadable arguments)",
        ),
        (
            ev.ToolResultEvent(**HEAD, id="c", name="find", content="x" * 1500, seconds=1.25),
            "boss: find gave 1,500 characters, 1.2 s",
        ),
        (
            ev.ToolResultEvent(**HEAD, id="c", name="find", content="no\x1b[2J!", is_error=True),
            "boss: find gave 7 characters, 0.0 s, error: no!",
        ),
        (ev.TransferEvent(**HEAD, target="writer", reason="better"), "boss: transfer to writer (better)"),
        (ev.LimitEvent(**HEAD, which="max_turns", message="20 of 20"), "boss: limit max_turns: 20 of 20"),
        (ev.WarningEvent(**HEAD, message="half\x07way"), "boss: halfway"),
        (
            ev.AgentEnd(**HEAD, stop_reason="failed", turns=1, usage=USAGE, error="x\ny"),
            "boss: failed after 1 turn: x y",
        ),
        (
            ev.RunEnd(**HEAD, stop_reason="success", usage=USAGE, seconds=61.04),
            "success: 1 request, 1 tool call, 1,234 tokens (1,000 in, 234 out), $0.0123, 61.0 s",
        ),
        (
            ev.RunEnd(**HEAD, stop_reason="cancelled", usage=Usage(complete=False)),
            "cancelled: 0 requests, 0 tool calls, at least 0 tokens (0 in, 0 out), cost unknown, 0.0 s",
        ),
        (ev.TextDeltaEvent(**HEAD, text="piece"), None),
        (ev.ModelRequest(**HEAD, turn=1), None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, ev.Event) else "",
)
def test_an_event_is_one_line_or_none(event, line):
    assert line_of(event) == line


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("plain ünï\tcode\n", "plain ünï\tcode\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bcreset\x1b(B", "creset(B"),
        ("bell\x07 back\x08 \x9b31m del\x7f", "bell back 31m del"),
        ("one\r\ntwo\rthree", "one\ntwothree"),
        ("abc\u202etxt.exe", "abctxt.exe"),
        ("lone \ud800", "lone ?"),
        ("open \x1b]0;never ends", "open "),
    ],
    ids=["text", "colours", "title", "hyperlink", "reset", "controls", "line ends", "reordering", "surrogate", "open"],
)
def test_nothing_that_drives_a_terminal_is_left(text, wanted):
    assert clean(text) == wanted


def test_a_long_text_is_cut_to_one_line():
    assert one_line("a\n" * 500, 20) == "a a a a a a a a a..."
    assert one_line("short\ntext") == "short text"


@pytest.mark.parametrize(
    ("dollars", "shown"), [(0, "$0.0000"), (0.00001, "<$0.0001"), (0.0123, "$0.0123"), (12.5, "$12.50")]
)
def test_money_shows_the_digits_that_matter(dollars, shown):
    assert money(dollars) == shown


def test_texts_written_at_the_same_time_do_not_mix():
    def said(span, text):
        return ev.TextDeltaEvent(**{**HEAD, "span": span, "agent": span}, text=text)

    lines = TextLines()
    assert lines.add(said("a", "one ")) == []
    assert lines.add(said("b", "two\nthree")) == ["b | two"]
    assert lines.add(said("a", "line\n")) == ["a | one line"]
    assert lines.end(ev.ModelReply(**{**HEAD, "span": "b"}, turn=1, text="", calls=0, stop="stop", usage=USAGE)) == [
        "boss | three"
    ]
