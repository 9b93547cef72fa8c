"""A plan: a workflow that a model wrote. It is read with tolerance, checked whole, and only then made a workflow."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from officellm.errors import PlanError, nearest
from officellm.workflows.nodes import Node, OnError
from officellm.workflows.shape import PLACEHOLDER
from officellm.workflows.workflow import Workflow

#: The id of the node whose agent writes the answer.
FINAL = "final"
#: Places in a reply where a plan may begin: more are not tried.
_TRIES = 200
_STEP = re.compile(r"(?:step[_ -]?)?(-?\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One part of a plan. `depends_on` holds ids of earlier steps: `step_0` is the first."""

    agent_id: str
    input: str
    description: str = ""
    depends_on: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Steps, and the agent that answers with their results. `first` is the number of the first step."""

    steps: Sequence[Step]
    final_agent_id: str
    first: int = field(default=0)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        steps = [
            {
                "agent_id": step.agent_id,
                "input": step.input,
                "description": step.description,
                "depends_on": list(step.depends_on),
            }
            for step in self.steps
        ]
        return {"steps": steps, "final_agent_id": self.final_agent_id}

    def ids(self) -> list[str]:
        """The ids of the steps."""
        return [f"step_{number}" for number in range(self.first, self.first + len(self.steps))]

    def agents(self) -> list[str]:
        """The agents of all steps in order, then the final one."""
        return [*(step.agent_id for step in self.steps), self.final_agent_id]

    def workflow(self, *, earlier: Iterable[Node] = (), on_error: OnError = "fail", **options: Any) -> Workflow:
        """The workflow. `earlier` are nodes of steps that an earlier plan has done; `options` are `Workflow`'s."""
        nodes = list(earlier)
        for id, step in zip(self.ids(), self.steps, strict=True):
            nodes.append(
                Node(
                    id,
                    step.agent_id,
                    input=step.input or None,
                    after=step.depends_on,
                    on_error=on_error,
                    description=step.description,
                )
            )
        final = Node(FINAL, self.final_agent_id, after=[node.id for node in nodes])
        return Workflow([*nodes, final], final=FINAL, **options)


def plan_schema(agents: Sequence[str]) -> dict[str, Any]:
    """The JSON Schema of a plan for these agents."""
    agent = {"type": "string", "enum": list(agents)}
    step = {
        "type": "object",
        "properties": {
            "agent_id": agent,
            "input": {"type": "string", "description": "What this agent is to do, with all it needs to know."},
            "description": {"type": "string", "description": "What the step is for, in a few words."},
            "depends_on": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Earlier steps whose results it needs, such as step_0.",
            },
        },
        "required": ["agent_id", "input", "description", "depends_on"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"steps": {"type": "array", "items": step}, "final_agent_id": agent},
        "required": ["steps", "final_agent_id"],
        "additionalProperties": False,
    }


def read_plan(
    text: str,
    agents: Sequence[str],
    *,
    final: str | None = None,
    done: Sequence[str] = (),
    first: int = 0,
    max_steps: int | None = None,
) -> Plan:
    """The plan in a model's reply: plain, in a fence or in prose. `final` answers where the plan names nobody.

    `done` are ids of an earlier plan's steps that are done; `first` is then the number of this plan's first step.
    Raises `PlanError` with every problem.
    """
    found = next(_plans_in(text), None)
    if found is None:
        raise PlanError(["the reply holds no JSON object with a list of steps"], text)
    reading = _Reading(found, agents, done, first)
    plan = reading.plan(final)
    if max_steps is not None and len(plan.steps) > max_steps:
        reading.problems.append(f"it has {len(plan.steps)} steps, and {max_steps} are allowed")
    if reading.problems:
        raise PlanError(reading.problems, text)
    return plan


def _plans_in(text: str) -> Iterator[Mapping[str, Any]]:
    """Each JSON object in a text that has a list of steps, wherever it stands; braces in prose are passed over."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(_TRIES):
        if start < 0:
            return
        end = start + 1
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            pass
        else:
            if isinstance(value, Mapping) and isinstance(value.get("steps"), list):
                yield value
        start = text.find("{", end)


class _Reading:
    """Makes a plan of one JSON object, and collects what is wrong with it."""

    def __init__(self, found: Mapping[str, Any], agents: Sequence[str], done: Sequence[str], first: int) -> None:
        self._found = found
        self._agents = agents
        self._done = tuple(done)
        self._raw = [step if isinstance(step, Mapping) else {} for step in found["steps"]]
        self._first = first
        self.problems: list[str] = []

    def plan(self, final: str | None) -> Plan:
        if not self._raw:
            self.problems.append("it has no steps")
        steps = [self._step(number, raw) for number, raw in enumerate(self._raw, start=self._first)]
        named = self._found.get("final_agent_id")
        if named not in self._agents and final is not None:
            named = final
        if named not in self._agents:
            self.problems.append(f"final_agent_id: unknown agent {named!r}.{nearest(str(named), self._agents)}")
        return Plan(steps=steps, final_agent_id=str(named), first=self._first)

    def _step(self, number: int, raw: Mapping[str, Any]) -> Step:
        agent = raw.get("agent_id")
        if agent not in self._agents:
            self._wrong(number, f"unknown agent {agent!r}.{nearest(str(agent), self._agents)}")
        text = raw.get("input")
        if not isinstance(text, str):
            text = "" if text is None else json.dumps(text, ensure_ascii=False)
        wanted = raw.get("depends_on") or []
        if not isinstance(wanted, list):
            wanted = [wanted]
        needs = [self._step_id(number, one) for one in wanted]
        text = self._filled(number, text, needs)
        return Step(
            agent_id=str(agent),
            input=text,
            description=str(raw.get("description") or ""),
            depends_on=tuple(dict.fromkeys(need for need in needs if need)),
        )

    def _filled(self, number: int, text: str, needs: list[str]) -> str:
        """The input with placeholders in one spelling; one that was not declared is a dependency all the same."""

        def fill(found: re.Match[str]) -> str:
            name = found[1]
            if name == "task":
                return found[0]
            if not _STEP.fullmatch(name) and name not in self._agents:
                return f"{{{{ {name} }}}}"  # another language's template: blanks keep it from being ours
            id = self._step_id(number, name)
            needs.append(id)
            return f"{{{{{id}}}}}" if id else found[0]

        return PLACEHOLDER.sub(fill, text)

    def _step_id(self, number: int, name: Any) -> str:
        """The id of an earlier step that a plan names by number, id or agent; empty, with a problem, for another."""
        said = str(name).strip()
        found = _STEP.fullmatch(said)
        if found is None:
            return self._step_of_agent(number, said)
        index = int(found[1])
        if index < self._first and f"step_{index}" in self._done:
            return f"step_{index}"
        if not self._first <= index < self._first + len(self._raw):
            self._wrong(number, f"it depends on {said!r}, and there is no such step")
        elif index == number:
            self._wrong(number, "it depends on itself")
        elif index > number:
            self._wrong(number, f"it depends on step_{index}, which comes later")
        else:
            return f"step_{index}"
        return ""

    def _step_of_agent(self, number: int, name: str) -> str:
        by = [index for index, raw in enumerate(self._raw, start=self._first) if raw.get("agent_id") == name]
        earlier = [index for index in by if index < number]
        if not by:
            known = [f"step_{index}" for index in range(number)]
            self._wrong(number, f"it depends on {name!r}, and there is no such step.{nearest(name, known)}")
        elif len(by) > 1:
            self._wrong(number, f"it depends on {name!r}, who has several steps: name one of them")
        elif not earlier:
            self._wrong(number, f"it depends on {name!r}, whose step does not come before it")
        else:
            return f"step_{earlier[0]}"
        return ""

    def _wrong(self, number: int, what: str) -> None:
        self.problems.append(f"step_{number}: {what}")
