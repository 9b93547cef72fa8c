"""What a fault in a model's reply does to an agent: `python bench/faults.py [--peers NAME,…] [CASE…]`.

Every cell is an agent in a process of its own against a fake vendor of its own; the judge knows the rules and not whose
run it judges. Exits with 1 where officellm fails a case; what peers do changes nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from probe.cases import CASES, Case
from probe.judge import verdict
from probe.peer import MODES, WIRES, Peer, find_peer
from probe.report import Cell, Report, as_json, as_markdown, as_text
from probe.trial import attempt

HERE = Path(__file__).resolve().parent
OURS = "officellm"


def _arguments(arguments: Sequence[str] | None) -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ", ".join(case.name for case in CASES)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {names}; all without one")
    parser.add_argument("--peers", default="", metavar="NAME,…", help="beside officellm, modules of bench/peers")
    parser.add_argument("--wire", choices=[*WIRES, "all"], default="all")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH", help="a peer's interpreter")
    parser.add_argument("--install", action="store_true", help="make the environments that are missing, from PyPI")
    parser.add_argument("--venvs", type=Path, default=HERE / ".venvs", metavar="DIR", help="where they are")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="of one cell")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="cells at the same time")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--markdown", action="store_true")
    return parser, parser.parse_args(arguments)


def _peers(parser: argparse.ArgumentParser, options: argparse.Namespace, folder: Path) -> list[Peer]:
    names = [OURS, *dict.fromkeys(name for name in options.peers.split(",") if name and name != OURS)]
    pythons = dict(one.partition("=")[::2] for one in options.python)
    unknown = set(pythons) - set(names)
    if unknown:
        parser.error(f"--python names {', '.join(sorted(unknown))}, which is not among the peers")
    try:
        python = {name: Path(path).absolute() for name, path in pythons.items()}
        peers = [find_peer(name, folder, options.venvs.absolute(), python.get(name)) for name in names]
    except LookupError as error:
        parser.error(error.args[0])
    for peer in peers:
        if peer.installed:
            continue
        if not options.install or peer.name in pythons:
            parser.error(f"peer {peer.name} has no interpreter at {peer.python}: --install makes it")
        try:
            peer.install()
        except subprocess.CalledProcessError as error:
            parser.error(f"peer {peer.name} could not be installed: pip ended with {error.returncode}")
    return peers


async def try_one(case: Case, peer: Peer, wire: str, mode: str, seconds: float) -> Cell:
    """Try it, judge it."""
    if mode not in case.where.get(wire, ()) or wire not in peer.wires or mode not in peer.modes:
        return Cell(case=case.name, peer=peer.name, wire=wire, mode=mode, verdict="n/a")
    trial = await attempt(peer, case.script(), wire, mode == "streamed", seconds)
    reason = verdict(case.checks, trial)
    return Cell(
        case=case.name,
        peer=peer.name,
        wire=wire,
        mode=mode,
        verdict="ok" if reason is None else "FAIL",
        reason=reason or "",
        requests=len(trial.requests),
        seconds=trial.seconds,
        version=trial.version,
    )


async def try_all(
    cases: Sequence[Case], peers: Sequence[Peer], wires: Sequence[str], jobs: int, seconds: float
) -> Report:
    """Every cell, some at the same time."""
    gate = asyncio.Semaphore(jobs)

    async def gated(case: Case, peer: Peer, wire: str, mode: str) -> Cell:
        async with gate:
            return await try_one(case, peer, wire, mode, seconds)

    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(gated(case, peer, wire, mode))
            for peer in peers
            for case in cases
            for wire in wires
            for mode in MODES
        ]
    return Report(cases, peers, [task.result() for task in tasks])


def main(arguments: Sequence[str] | None = None, folder: Path = HERE / "peers") -> int:
    """Print the table; the exit code."""
    parser, options = _arguments(arguments)
    unknown = set(options.cases) - {case.name for case in CASES}
    if unknown:
        parser.error(f"unknown case {', '.join(sorted(unknown))}")
    if options.jobs < 1:
        parser.error("--jobs must be 1 or more")
    cases = [case for case in CASES if case.name in options.cases or not options.cases]
    wires = WIRES if options.wire == "all" else (options.wire,)
    peers = _peers(parser, options, folder)
    report = asyncio.run(try_all(cases, peers, wires, options.jobs, options.timeout))
    if options.json:
        print(json.dumps(as_json(report), indent=2))
    else:
        print(as_markdown(report) if options.markdown else as_text(report))
    return int(report.failed(OURS))


if __name__ == "__main__":
    sys.exit(main())
