"""The table, in three forms: aligned text, Markdown, JSON. It adds up verdicts and judges nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, Literal

from probe.cases import Case
from probe.judge import EVERY_CASE
from probe.peer import Peer

Verdict = Literal["ok", "FAIL", "n/a"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One case of one peer on one wire, streamed or not."""

    case: str
    peer: str
    wire: str
    mode: str
    verdict: Verdict
    reason: str = ""
    requests: int = 0
    seconds: float = 0.0
    version: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All cells, by the cases and peers that were asked for."""

    cases: Sequence[Case]
    peers: Sequence[Peer]
    cells: Sequence[Cell]

    def of(self, peer: str, case: str | None = None) -> list[Cell]:
        """The cells of a peer that could be tried."""
        found = [one for one in self.cells if one.peer == peer and case in (None, one.case)]
        return [one for one in found if one.verdict != "n/a"]

    def failed(self, peer: str) -> bool:
        """Whether anything of that peer's did."""
        return any(one.verdict == "FAIL" for one in self.of(peer))

    def verdict(self, peer: str, case: str) -> Verdict:
        """One word for all wires and modes."""
        said = {one.verdict for one in self.of(peer, case)}
        return "FAIL" if "FAIL" in said else "ok" if said else "n/a"

    def reasons(self, peer: str, case: str) -> list[str]:
        """Why it failed, and where unless it is everywhere."""
        tried = self.of(peer, case)
        where: dict[str, list[Cell]] = {}
        for one in tried:
            if one.verdict == "FAIL":
                where.setdefault(one.reason, []).append(one)
        return [
            reason if len(cells) == len(tried) else f"{', '.join(f'{one.wire} {one.mode}' for one in cells)}: {reason}"
            for reason, cells in where.items()
        ]

    def title(self, peer: Peer) -> str:
        """Its name and version."""
        versions = {one.version for one in self.of(peer.name)} - {""}
        return " ".join([peer.package or peer.name, *sorted(versions)])

    def score(self, peer: str) -> str:
        """How many of its cells are ok."""
        tried = self.of(peer)
        return f"{sum(one.verdict == 'ok' for one in tried)} of {len(tried)}"


def as_text(report: Report) -> str:
    """Verdicts in columns; the reasons and the rules below."""
    names = [peer.name for peer in report.peers]
    head = ["case", *names]
    rows = [[case.name, *(report.verdict(name, case.name) for name in names)] for case in report.cases]
    rows.append(["cells ok", *map(report.score, names)])
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    table = ["  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)) for row in [head, *rows]]
    failures = [
        f"{case.name}, {name}: {reason}"
        for case in report.cases
        for name in names
        for reason in report.reasons(name, case.name)
    ]
    legend = [EVERY_CASE, *(f"{case.name}: {case.title}. Rule: {case.rule}." for case in report.cases)]
    peers = [f"{report.title(peer)}: {_tried(peer)}. {peer.setup}" for peer in report.peers]
    blocks = [[line.rstrip() for line in table]]
    for title, lines in (("failures", failures), ("cases", legend), ("peers", peers)):
        if lines:
            blocks.append([title, *(fill(line, 116, initial_indent="  ", subsequent_indent="    ") for line in lines)])
    return "\n\n".join("\n".join(block) for block in blocks)


def as_markdown(report: Report) -> str:
    """A table with the reasons in it, then the rules and the peers as lists."""
    names = [peer.name for peer in report.peers]
    lines = [f"| | {' | '.join(map(report.title, report.peers))} |", "|---" * (len(names) + 1) + "|"]
    for case in report.cases:
        cells = []
        for name in names:
            reasons = "; ".join(report.reasons(name, case.name)).replace("|", "\\|").replace("<", "&lt;")
            cells.append(f"FAIL: {reasons}" if reasons else report.verdict(name, case.name))
        lines.append(f"| {case.name} | {' | '.join(cells)} |")
    lines.append(f"| cells ok | {' | '.join(map(report.score, names))} |")
    rules = [f"- `{case.name}`: {case.title}. Rule: {case.rule}." for case in report.cases]
    peers = [f"- {report.title(peer)}: {_tried(peer)}. {peer.setup}" for peer in report.peers]
    return "\n".join([*lines, "", EVERY_CASE, "", *rules, "", *peers])


def as_json(report: Report) -> dict[str, Any]:
    """Everything, one object a cell."""
    return {
        "everyCase": EVERY_CASE,
        "cases": {case.name: {"title": case.title, "rule": case.rule} for case in report.cases},
        "peers": {
            peer.name: {"title": report.title(peer), "setup": peer.setup, "score": report.score(peer.name)}
            for peer in report.peers
        },
        "cells": [
            {
                "case": one.case,
                "peer": one.peer,
                "wire": one.wire,
                "mode": one.mode,
                "verdict": one.verdict,
                "reason": one.reason,
                "requests": one.requests,
                "seconds": round(one.seconds, 2),
            }
            for one in report.cells
        ],
    }


def _tried(peer: Peer) -> str:
    return f"{', '.join(peer.wires)}; {', '.join(peer.modes)}"
