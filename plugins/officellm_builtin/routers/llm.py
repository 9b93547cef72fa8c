"""The `llm` router: a model chooses the agent that starts, from a constrained list."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from officellm import (
    Ask,
    Candidate,
    Choice,
    OutputSchema,
    Request,
    RouteError,
    System,
    Task,
    UnknownAgentError,
    User,
    hookimpl,
    loads,
)


class LlmSettings(BaseModel):
    """`model` is `provider:name` (the entry agent's without it); `default` starts where the model chooses nobody."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str | None = None
    default: str | None = None
    minimum_confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    instructions: str = ""


class LlmRouter:
    """Asks once, and once more where the answer is not on offer."""

    def __init__(self, settings: LlmSettings, ask: Ask) -> None:
        self._settings = settings
        self._ask = ask

    async def route(self, task: Task, agents: Sequence[Candidate]) -> Choice:
        """The model's choice. One candidate is chosen without asking. Raises `RouteError`."""
        names = [agent.name for agent in agents]
        default = self._settings.default
        if default is not None and default not in names:
            raise UnknownAgentError(default, names)
        if len(names) == 1:
            return Choice(names[0], "the only agent", 1.0)
        messages: list[Any] = [System(self._instructions(agents)), User(task.prompt())]
        said = ""
        for _ in range(2):
            output = _schema(agents, self._wants_confidence)
            reply = await self._ask(Request(model="", messages=messages, output=output))
            said = reply.message.text
            choice = _read(said, names)
            if choice is not None:
                return self._confident(choice, said, names)
            messages = [
                *messages,
                reply.message,
                User(f"That names no agent. Answer with one of: {', '.join(names)}."),
            ]
        if default is not None:
            return Choice(default, "the model chose no agent on offer")
        raise RouteError(said, names)

    @property
    def _wants_confidence(self) -> bool:
        return self._settings.minimum_confidence is not None

    def _confident(self, choice: Choice, said: str, names: Sequence[str]) -> Choice:
        least = self._settings.minimum_confidence
        if least is None or (choice.confidence is not None and choice.confidence >= least):
            return choice
        if self._settings.default is not None:
            return Choice(self._settings.default, f"confidence {choice.confidence} is below {least}", choice.confidence)
        raise RouteError(f"confidence {choice.confidence} is below {least}: {said}", names)

    def _instructions(self, agents: Sequence[Candidate]) -> str:
        listed = "\n".join(f"- {agent.name}: {agent.description}" for agent in agents)
        asked = self._settings.instructions or "Choose the one agent that is best placed to start on the user's task."
        return (
            f"{asked} Do not work on the task yourself.\n\nAgents:\n{listed}\n\n"
            'Answer with JSON: {"agent": "<name>", "reason": "<short>"}.'
        )


def _schema(agents: Sequence[Candidate], confidence: bool) -> OutputSchema:
    names = [agent.name for agent in agents]
    properties: dict[str, Any] = {"agent": {"type": "string", "enum": names}, "reason": {"type": "string"}}
    if confidence:
        properties["confidence"] = {"type": "number", "description": "How sure you are, from 0 to 1."}
    return OutputSchema(
        "choice",
        {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        },
        choice="agent",
        choices={agent.name: agent.description for agent in agents},
    )


def _read(said: str, names: Sequence[str]) -> Choice | None:
    """The choice in a reply: JSON, or one name with the quotes, bullets, case and full stop that models add."""
    start, end = said.find("{"), said.rfind("}")
    if 0 <= start < end:
        try:
            value = loads(said[start : end + 1])
        except ValueError:
            value = None
        if isinstance(value, Mapping):
            name = _known(str(value.get("agent", "")), names)
            if name is None:
                return None
            confidence = value.get("confidence")
            sure = float(confidence) if isinstance(confidence, (int, float)) and 0 <= confidence <= 1 else None
            return Choice(name, str(value.get("reason", "")), sure)
    name = _known(said, names)
    return None if name is None else Choice(name)


def _known(said: str, names: Sequence[str]) -> str | None:
    folded = {name.casefold(): name for name in names}
    plain = re.sub(r"^[\s\-*•>`\"'(\[]+|[\s`\"'.,;:!)\]*]+$", "", said).casefold()
    return folded.get(plain)


@hookimpl
def settings_model(kind: str, name: str) -> type[BaseModel]:
    return LlmSettings


@hookimpl
def make_router(name: str, settings: LlmSettings, ask: Ask) -> LlmRouter:
    return LlmRouter(settings, ask)
