"""The suite of catalogs: tools that any model can be offered, and calls that fail in words."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest
from jsonschema import Draft202012Validator

from officellm.agents import Agent
from officellm.codec import dump_text
from officellm.errors import ToolError
from officellm.kinds import Kind
from officellm.messages import Request, ToolResult, ToolSpec
from officellm.office import Office
from officellm.protocols import Catalog
from officellm.signatures import ArgumentsError
from officellm.testing.contracts.base import Contract, run
from officellm.testing.contracts.playback import Answer, Playback
from officellm.testing.replies import call
from officellm.testing.scripted_model import scripted
from officellm.tools import Context, Tool
from officellm.transcript import LEGAL_NAME

_CONTEXT = Context("contract-run", "contract-agent", "call-1", "key-1")
_CROWD = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A call of one of the catalog's tools that works, and a part of what it answers."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    answer: str


class CatalogContract(Contract):
    """For a driver of `officellm.catalogs`: give it `name`, `settings`, and `uses`: calls that work offline.

    A catalog that speaks HTTP gets its replies from `http`.
    """

    kind: ClassVar[Kind] = Kind.CATALOG
    uses: ClassVar[Sequence[ToolUse]] = ()

    def http(self) -> Playback:
        """The network: without an override it answers every request with an empty 200."""
        return Playback(Answer())

    def make(self, **settings: Any) -> Any:
        """A catalog."""
        host = self.host()
        return host.catalog(self.name, "contract", self.read_settings(host, **settings), self.http())

    def specs(self) -> list[ToolSpec]:
        """What the models are offered."""
        return [_spec(tool) for tool in run(self.make().tools())]

    def test_its_author_shows_a_use(self) -> None:
        """Without one this suite says little."""
        assert self.uses, "give at least one use"

    def test_its_tools_have_legal_names(self) -> None:
        """That every vendor accepts, each once, whatever the case."""
        names = [spec.name for spec in self.specs()]
        assert names
        assert [name for name in names if not LEGAL_NAME.match(name)] == []
        assert len({name.casefold() for name in names}) == len(names)

    def test_its_tools_are_described(self) -> None:
        """A model chooses by the description."""
        assert [spec.name for spec in self.specs() if not spec.description.strip()] == []

    def test_its_schemas_are_json_schemas(self) -> None:
        """Of an object, and JSON through and through."""
        for spec in self.specs():
            Draft202012Validator.check_schema(spec.parameters)
            assert spec.parameters.get("type") == "object", spec.name
            assert dump_text(spec.parameters)

    def test_its_order_is_stable(self) -> None:
        """Vendors cache prompts by their beginning, and tools come first."""

        async def twice() -> list[list[ToolSpec]]:
            catalog = self.make()
            return [[_spec(tool) for tool in await catalog.tools()] for _ in range(2)]

        first, second = run(twice())
        assert first == second == self.specs()

    def test_a_tool_answers(self) -> None:
        """With text, or a value that becomes JSON."""
        for use in self.uses:
            answer = run(self.make().call(use.tool, dict(use.arguments), _CONTEXT))
            assert use.answer in _text(answer)

    def test_an_unknown_tool_is_a_tool_error(self) -> None:
        """In words for the model."""
        with pytest.raises(ToolError) as caught:
            run(self.make().call("no_such_tool", {}, _CONTEXT))
        assert str(caught.value)

    def test_wrong_arguments_are_an_error_in_words(self) -> None:
        """A model invents arguments."""
        for use in self.uses:
            with pytest.raises((ToolError, ArgumentsError)) as caught:
                run(self.make().call(use.tool, {"no_such_argument": [1]}, _CONTEXT))
            assert str(caught.value)

    def test_arguments_are_left_as_they_were(self) -> None:
        """They belong to the history."""
        for use in self.uses:
            arguments = dict(use.arguments)
            run(self.make().call(use.tool, arguments, _CONTEXT))
            assert arguments == dict(use.arguments)

    def test_many_calls_run_at_once(self) -> None:
        """Each gets its own answer."""

        async def crowd(catalog: Catalog) -> list[tuple[ToolUse, Any]]:
            uses = [use for use in self.uses for _ in range(_CROWD)]
            answers = await asyncio.gather(*(catalog.call(use.tool, dict(use.arguments), _CONTEXT) for use in uses))
            return list(zip(uses, answers, strict=True))

        for use, answer in run(crowd(self.make())):
            assert use.answer in _text(answer)

    def test_an_agent_uses_it_in_an_office(self) -> None:
        """Offered by pattern, called by a model, answered in the history."""
        for use in self.uses:
            heard: list[Request] = []

            def answer(request: Request, heard: list[Request] = heard) -> str:
                heard.append(request)
                return "done"

            model = scripted([call(use.tool, dict(use.arguments)), answer])
            result = run(self._in_office(model))
            assert result.success, result.error
            (said,) = [message for message in heard[0].messages if isinstance(message, ToolResult)]
            assert not said.is_error, said.content
            assert use.answer in said.content

    async def _in_office(self, model: Any) -> Any:
        agent = Agent("contract_agent", "Uses the catalog", model=model, tools=["contract.*"])
        async with Office(agent, catalogs={"contract": self.make()}, host=self.host()) as office:
            return await office.run("Use the catalog")


def _spec(tool: ToolSpec | Tool) -> ToolSpec:
    return tool.spec if isinstance(tool, Tool) else tool


def _text(answer: Any) -> str:
    return answer if isinstance(answer, str) else dump_text(answer)
