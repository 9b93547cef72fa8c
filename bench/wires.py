"""CPU of the wire formats: `python bench/wires.py [--rounds N] [FORMAT...]`, no network.

Streams: a reply of 1 MB goes the way it goes in a run (bytes, framing, stream parser, deltas, the whole reply at the
end) in chunks of 16 KB and again an event a chunk, against `json.loads` of the standard library over the JSON texts of
the same events. Not in it: the HTTP client, and what the loop does with a delta. In frames of InvokeModel both JSON
texts count, the frame's and the event inside. Gemini, Mistral and Ollama have no pieces of arguments: there a call is
an event, and the ratio holds what the yardstick does not, the arguments read from a text or written as one.

Requests: the body for a history of tool calls, built for the first time (cold) and again (warm), and what twice the
history costs in comparison. Rounds are interleaved and the least CPU counts; ratios hold on any machine, milliseconds
on none but this.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable
from typing import Any

from streams import FORMATS, Stream, stream

from officellm import Assistant, ConfigError, Host, Request, System, ToolCall, ToolResult, ToolSpec, User, WireFormat
from officellm.framing import new_decoder
from officellm.wireformats import wire_format

SIZE = 1_000_000
CHUNK = 16 * 1024
HISTORIES = (50, 100, 200, 400)
URL = "https://api.example.com"
#: What a format's settings must say.
OPTIONS = {name: {"region": "us-east-1"} for name in ("bedrock_converse", "anthropic_bedrock_invoke")}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}}}
TOOLS = [ToolSpec(name, f"What {name} is good for.", SCHEMA) for name in ("read", "write", "search")]


def parse(wire: WireFormat, chunks: list[bytes]) -> int:
    """Read a streamed reply as a provider does; the number of deltas."""
    decoder, parser = new_decoder(wire), wire.stream_parser(Request(model="m", messages=(), tools=TOOLS, stream=True))
    count = 0
    for chunk in chunks:
        for event in decoder.feed(chunk):
            for _ in parser.feed(event):
                count += 1
    for event in decoder.close():
        count += len(parser.feed(event))
    parser.finish()
    return count


def load(payloads: list[str]) -> None:
    """The yardstick."""
    for payload in payloads:
        json.loads(payload)


def history(size: int) -> list[Any]:
    """So many messages: a question, then calls and their results in turn."""
    messages: list[Any] = [System("You are a clerk."), User("Read all files and write a report about them.")]
    for number in range(1, size // 2):
        call = ToolCall.parse(f"call_{number:08}", "read", f'{{"path": "/data/{number}.txt", "lines": 20}}')
        messages.append(Assistant(f"Now file {number}.", (call,)))
        messages.append(ToolResult(call.id, "read", f"File {number}: " + "a line of the file\n" * 10))
    return messages


def cpu(work: Callable[[], object]) -> float:
    """CPU milliseconds, with garbage of earlier work out of the way."""
    gc.collect()
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000


def least(rounds: int, *works: Callable[[], object]) -> list[float]:
    """The least CPU of each, taken in turns."""
    found = [[cpu(work) for work in works] for _ in range(rounds)]
    return [min(column) for column in zip(*found, strict=True)]


def show_streams(wires: dict[str, WireFormat], rounds: int) -> None:
    """The table of streams."""
    titles = f"{'events':>8}{'loads ms':>10}{'16 KB ms':>10}{'ratio':>7}{'each ms':>10}{'ratio':>7}"
    print(f"{'stream of 1 MB':<33}{titles}")
    for name, wire in wires.items():
        for kind in ("text", "calls"):
            made: Stream = stream(name, kind, SIZE)
            chunks = made.chunks(CHUNK)
            base, large, small = least(
                rounds,
                lambda: load(made.payloads),  # noqa: B023 - called before the next turn
                lambda: parse(wire, chunks),  # noqa: B023
                lambda: parse(wire, made.events),  # noqa: B023
            )
            print(
                f"{name:<26}{kind:<7}{len(made.events):>8}{base:>10.2f}"
                f"{large:>10.2f}{large / base:>7.2f}{small:>10.2f}{small / base:>7.2f}",
                flush=True,
            )


def build_twice(wire: WireFormat, size: int) -> tuple[float, float]:
    """CPU of a first build of a fresh history, and of a second one."""
    request = Request(model="m", messages=history(size), tools=TOOLS, stream=True)
    return cpu(lambda: wire.build(request, URL)), cpu(lambda: wire.build(request, URL))


def show_builds(wires: dict[str, WireFormat], rounds: int) -> None:
    """The table of requests."""
    print(f"\n{'build, ms':<33}{''.join(f'{size:>9}' for size in HISTORIES)}{'400/200':>9}")
    for name, wire in wires.items():
        found = [[build_twice(wire, size) for size in HISTORIES] for _ in range(rounds)]
        for place, label in enumerate(("cold", "warm")):
            best = [min(turn[at][place] for turn in found) for at in range(len(HISTORIES))]
            figures = "".join(f"{one:>9.3f}" for one in best)
            print(f"{name:<26}{label:<7}{figures}{best[-1] / best[-2]:>9.2f}", flush=True)


def installed(names: list[str]) -> dict[str, WireFormat]:
    """The formats by name; one whose package is missing is named and left out."""
    host, found = Host(), {}
    for name in names:
        try:
            found[name] = wire_format(host, name, OPTIONS.get(name))
        except ConfigError as error:
            print(f"left out: {error}")
    return found


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help=f"of {', '.join(FORMATS)}; all without one")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    if unknown := set(options.formats) - set(FORMATS):
        parser.error(f"unknown format {', '.join(sorted(unknown))}")
    wires = installed(options.formats or list(FORMATS))
    show_streams(wires, options.rounds)
    show_builds(wires, options.rounds)


if __name__ == "__main__":
    main()
