"""Pictures of finished runs: their nodes with states, times and cost, or the chain of their agents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from officellm.pictures.diagram import Arrow, Box, Diagram
from officellm.pictures.words import number_of, seconds_of, short, spent
from officellm.replyjson import as_mapping, as_sequence, as_text

#: What a node's name gets in a later round, for an item of a list, in a further attempt.
_AGAIN = re.compile(r"(?:#\d+)?(?:\[\d+\])?(?:~\d+|~fallback)?$")
#: Prefixes of a name that are looked up: nobody nests deeper by hand.
_DEEPEST = 200
_ENDED = {"success": "completed", "cancelled": "cancelled", "paused": "running"}


def of_run(result: Mapping[str, Any]) -> Diagram:
    """How a run went, from the JSON form of its result; whatever is missing or odd in it is left out."""
    head = ", ".join(filter(None, (seconds_of(result.get("seconds")), spent(as_mapping(result.get("usage"))))))
    reason = as_text(result.get("stopReason"))
    diagram = Diagram(" ".join(filter(None, ("run", as_text(result.get("runId")), reason, head and f"({head})"))))
    nodes = {str(id): as_mapping(node) for id, node in as_mapping(result.get("nodes")).items() if id}
    if nodes:
        _Nodes(diagram, nodes).add()
    else:
        _add_chain(diagram, result)
    return diagram


class _Nodes:
    """The nodes of a run; those of a workflow inside are named `outer/inner`."""

    def __init__(self, diagram: Diagram, nodes: Mapping[str, Mapping[str, Any]]) -> None:
        self._diagram = diagram
        self._nodes = nodes
        self._frames = {id: self._frame(id) for id in nodes}

    def add(self) -> None:
        framing = set(self._frames.values())
        for frame in sorted(framing - self._nodes.keys() - {""}):
            outer = _AGAIN.sub("", frame)
            self._diagram.boxes.append(
                Box(id=frame, lines=[frame.removeprefix(self._prefix(outer))], kind="workflow", inside=outer)
            )
        framing |= {box.inside for box in self._diagram.boxes}
        for id, node in self._nodes.items():
            frame = self._frames[id]
            name, agent = id[len(frame) + 1 :] if frame else id, as_text(node.get("agent"))
            is_frame = id in framing
            self._diagram.boxes.append(
                Box(
                    id=id,
                    lines=[name, *([agent] if agent not in ("", name) and not is_frame else [])],
                    kind="workflow" if is_frame else "agent" if agent else "function",
                    notes=_notes(node),
                    state=as_text(node.get("state")),
                    inside=frame,
                )
            )
            for other in as_sequence(node.get("after")):
                source = f"{frame}/{other}" if frame else str(other)
                if self._frames.get(source) == frame and source != id:
                    self._diagram.arrows.append(Arrow(source, id))

    def _frame(self, id: str) -> str:
        """The node, or the round or item of one, that this one stands in; empty for none."""
        prefix = id
        for _ in range(_DEEPEST):
            prefix = prefix.rpartition("/")[0]
            if not prefix or prefix in self._nodes or _AGAIN.sub("", prefix) in self._nodes:
                return prefix
        return ""

    def _prefix(self, id: str) -> str:
        frame = self._frames.get(id, "")
        return f"{frame}/" if frame else ""


def _notes(node: Mapping[str, Any]) -> list[str]:
    state = as_text(node.get("state"))
    if state == "skipped" and not node.get("error"):
        state = "skipped by a condition"
    counts = [
        f"{number_of(node.get(many)):.0f} {many}" for many in ("rounds", "attempts") if number_of(node.get(many)) > 1
    ]
    if len(counts) == 2 and node.get("rounds") == node.get("attempts"):
        counts.pop()
    head = ", ".join(filter(None, (state, seconds_of(node.get("seconds")), *counts)))
    return [line for line in (head, spent(as_mapping(node.get("usage"))), as_text(node.get("error"))) if line]


def _add_chain(diagram: Diagram, result: Mapping[str, Any]) -> None:
    """Who worked, one after the other and why, and who worked besides: workers, under the one agent that led."""
    chain = [as_mapping(hop) for hop in as_sequence(result.get("chain"))]
    names = [as_text(hop.get("agent")) for hop in chain]
    usage = as_mapping(result.get("byAgent"))
    failed = {
        as_text(one.get("agent")): as_text(one.get("error"))
        for one in map(as_mapping, as_sequence(result.get("failures")))
    }
    reason = as_text(result.get("stopReason"))
    if names:
        diagram.boxes.append(Box(id="entry:", lines=["task"], kind="entry"))
        first = ": ".join(filter(None, (as_text(chain[0].get("by")), as_text(chain[0].get("reason")))))
        diagram.arrows.append(Arrow("entry:", f"agent:{names[0]}", "route", "" if first == "entry" else first))
    for name in dict.fromkeys([*names, *map(str, usage)]):
        state = "completed" if not failed.get(name) else "failed"
        if names and name == names[-1]:
            state = _ENDED.get(reason, "failed")
        ended = reason if names and name == names[-1] else ""
        notes = [ended, spent(as_mapping(usage.get(name))), short(failed.get(name, ""))]
        if ended and not failed.get(name):
            notes.append(as_text(result.get("error")))
        lines = [name, *(["manager"] if len(names) == 1 and name == names[0] and len(usage) > 1 else [])]
        diagram.boxes.append(
            Box(
                id=f"agent:{name}",
                lines=lines,
                kind="manager" if len(lines) > 1 else "agent",
                notes=[note for note in notes if note],
                state=state,
            )
        )
        if len(set(names)) == 1 and name not in names:
            diagram.arrows.append(Arrow(f"agent:{names[0]}", f"agent:{name}", "call"))
    diagram.arrows += _transfers(chain, names)


def _transfers(chain: list[Mapping[str, Any]], names: list[str]) -> list[Arrow]:
    """An arrow for each pair that handed over, with the numbers of the transfers and the first reason."""
    pairs: dict[tuple[str, str], list[int]] = {}
    for number, pair in enumerate(pairwise(names), start=1):
        pairs.setdefault(pair, []).append(number)
    arrows = []
    for (source, target), numbers in pairs.items():
        said = ", ".join(map(str, numbers[:3])) + (", …" if len(numbers) > 3 else "")
        reason = as_text(chain[numbers[0]].get("reason"))
        label = (f"{said}: {reason}" if len(names) > 2 else reason) if reason else said
        arrows.append(Arrow(f"agent:{source}", f"agent:{target}", "transfer", label))
    return arrows
