"""Reads recorded exchanges with every installed wire format: `python bench/recordings.py [FORMAT...]`.

One table: for each format and vendor, how many replies come to what the vendor's own SDK read, and how many requests,
read back and built again, come to what was sent. Below it stands what differs, by reason. Exit code 1 for a difference
that no reason is known for. The recordings are in the folder OFFICELLM_RECORDINGS, or in ../shared/recordings.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from officellm import Host, PluginNotFoundError
from officellm.testing import finder, load_exchange, misread, play, rebuilt
from officellm.testing.recorded.expected import READ_BY_US_ALONE, is_read_by_us_alone
from officellm.testing.recorded.rebuilding import READERS, UNREAD, Find, holds_request, rules_of
from officellm.wireformats import driver_of

ROOT = Path(__file__).parents[1]
FOLDER = Path(os.environ.get("OFFICELLM_RECORDINGS") or ROOT.parent / "shared" / "recordings")
ROW = "{:<26}{:<16}{:>10}{:>13}{:>10}{:>9}{:>8}"


@dataclass
class Count:
    """The row of one vendor."""

    exchanges: int = 0
    as_expected: int = 0
    requests: int = 0
    rebuilt: int = 0
    known: int = 0

    def add(self, other: Count) -> None:
        """Sums up."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def cells(self) -> tuple[int, ...]:
        """The numbers, in the order of the table."""
        return (self.exchanges, self.as_expected, self.requests, self.rebuilt, self.known)


@dataclass
class Findings:
    """What all exchanges of one format came to. Names are those of the files."""

    rows: dict[str, Count] = field(default_factory=lambda: defaultdict(Count))
    known: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    wrong: list[str] = field(default_factory=list)
    reasons: set[str] = field(default_factory=set)

    def look_at(self, path: Path, find: Find) -> None:
        """Reads one exchange both ways."""
        exchange = load_exchange(path)
        row, wire = self.rows[str(exchange.file.get("vendor"))], find(driver_of(exchange.format), {})
        row.exchanges += 1
        reply = play(wire, exchange)
        wrong = misread(wire, exchange, reply)
        row.as_expected += not wrong
        self.wrong += [f"{path.stem}: {one}" for one in wrong]
        if is_read_by_us_alone(wire, exchange, reply):
            self.known[READ_BY_US_ALONE[str(exchange.file["vendor"])]].append(path.stem)
        if not holds_request(exchange):
            self.known[UNREAD.get(exchange.format, "the request was not recorded")].append(path.stem)
            return
        row.requests += 1
        found = rebuilt(exchange, find)
        row.rebuilt += found.is_same
        row.known += not found.is_same and not found.differences
        self.wrong += [f"{path.stem}: {one}" for one in found.differences]
        self.reasons |= found.known | found.equal_because
        for reason in found.known:
            self.known[reason].append(path.stem)


def print_table(all_findings: dict[str, Findings]) -> None:
    """The counts."""
    print(ROW.format("format", "vendor", "exchanges", "as expected", "requests", "rebuilt", "known"))
    total = Count()
    for format, found in all_findings.items():
        for vendor, count in sorted(found.rows.items()):
            print(ROW.format(format, vendor, *count.cells()))
            total.add(count)
    print(ROW.format("all", "", *total.cells()))


def print_reasons(all_findings: dict[str, Findings]) -> None:
    """What is known to differ, and where."""
    for format, found in all_findings.items():
        for reason, names in sorted(found.known.items(), key=lambda one: -len(one[1])):
            shown = ", ".join(name.partition(".")[2] for name in names)
            print(f"\n{format}, {len(names)}: {reason}\n  {shown}")


def main(formats: list[str]) -> int:
    """0 where every difference has a known reason, and every rule is needed by some recording."""
    paths = sorted(path for path in FOLDER.glob("*/*.json") if not formats or path.stem.split(".")[0] in formats)
    if not paths:
        print(f"no recordings of {', '.join(formats) or 'any format'} in {FOLDER} (set OFFICELLM_RECORDINGS)")
        return 2
    find, findings, missing = finder(Host()), defaultdict[str, Findings](Findings), dict[str, str]()
    for path in paths:
        format = path.stem.split(".")[0]
        try:
            find(driver_of(format), {})
        except PluginNotFoundError as error:
            missing[format] = str(error)
            continue
        findings[format].look_at(path, find)
    print_table(findings)
    print_reasons(findings)
    for format, reason in missing.items():
        print(f"\n{format}: left out, {reason}")
    wrong = [one for found in findings.values() for one in found.wrong]
    if not missing and not formats:
        wrong += unneeded(findings)
    print("\nwithout a known reason: " + ("nothing" if not wrong else "".join(f"\n  {one}" for one in wrong)))
    return 1 if wrong else 0


def unneeded(all_findings: dict[str, Findings]) -> list[str]:
    """Rules that no recording needs any more: they could hide what they were not made for."""
    used = {reason for found in all_findings.values() for reason in found.reasons}
    reasons = {rule.reason for format in READERS for rule in rules_of(format)}
    return [f"no recording needs the rule: {reason}" for reason in sorted(reasons - used)]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
