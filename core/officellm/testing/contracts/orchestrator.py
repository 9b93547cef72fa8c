"""The suite of orchestrators: in a real office with a scripted model, every run is bounded, honest and cancellable."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from officellm.agents import Agent
from officellm.events import Event, ModelRequest
from officellm.kinds import Kind
from officellm.limits import Limits
from officellm.messages import Assistant, Request, ToolResult
from officellm.office import Office
from officellm.results import Result, StopReason
from officellm.testing.contracts.base import Contract, run
from officellm.testing.contracts.clock import FakeClock
from officellm.testing.contracts.grammar import check_grammar
from officellm.testing.replies import ReplyLike, call, calls, fault, reply
from officellm.testing.scripted_model import ScriptedModel, Step, scripted
from officellm.toolset import TRANSFER
from officellm.wire import Fault

_LIMITS: dict[str, Limits] = {
    **{f"max_requests-{most}": Limits(max_requests=most) for most in (0, 1, 2, 3)},
    **{f"max_turns-{most}": Limits(max_turns=most) for most in (1, 2)},
    **{f"max_total_tokens-{most}": Limits(max_total_tokens=most) for most in (0, 1, 40)},
    **{f"max_tool_calls-{most}": Limits(max_tool_calls=most) for most in (0, 1, 2)},
    "max_seconds-0": Limits(max_seconds=0),
    "max_cost-0": Limits(max_cost_usd=0),
    "max_depth-1": Limits(max_depth=1),
    "max_transfers-0": Limits(max_transfers=0),
    "default": Limits(),
}
_TROUBLE: dict[str, Step] = {
    "bad-request": Fault("bad_request", "contract trouble", 400),
    "server": Fault("server", "contract trouble", 500, retryable=True),
    "empty": "",
    "refused": reply("no", stop="refused"),
    "truncated": reply("half an ans", stop="length"),
    "overflow": Fault("context_overflow", "contract trouble", 400),
    "defect": RuntimeError("a defect of the provider"),
}
_MOST = 200


class OrchestratorContract(Contract):
    """For a driver of `officellm.orchestrators`: give it `name`.

    Override `answer` where the orchestrator needs other words of its model (a plan, a transfer), and `agents` where it
    needs other agents; the first one is the entry.
    """

    kind: ClassVar[Kind] = Kind.ORCHESTRATOR

    def make(self, **settings: Any) -> Any:
        """An orchestrator."""
        host = self.host()
        return host.orchestrator(self.name, self.read_settings(host, **settings))

    def agents(self, model: ScriptedModel) -> Sequence[Agent]:
        """The agents of the office: a boss with a tool and a worker, and a colleague."""
        helper = Agent("helper", "Helps the boss", model=model, instructions="You help.")
        boss = Agent("boss", "Leads", model=model, instructions="You lead.", tools=[take_note], workers=[helper])
        return [boss, Agent("writer", "Writes", model=model, instructions="You write.")]

    def answer(self, request: Request) -> ReplyLike:
        """What the model says: it calls everything on offer but transfers, then answers."""
        said = sum(isinstance(message, Assistant) for message in request.messages)
        offered = [spec.name for spec in request.tools if spec.name != TRANSFER]
        if said or not offered:
            return f"answer {said}"
        return calls(*(self.call_of(name) for name in offered))

    def call_of(self, name: str, number: int = 0) -> Any:
        """A call of one of the tools and workers of `agents`."""
        return call(name, text=f"note {number}") if name == "take_note" else call(name, task=f"part {number}")

    def never_done(self, request: Request) -> ReplyLike:
        """What a model says that works for ever: one new call after the other."""
        said = sum(isinstance(message, Assistant) for message in request.messages)
        offered = [spec.name for spec in request.tools if spec.name != TRANSFER]
        return self.call_of(offered[said % len(offered)], said) if offered else f"answer {said}"

    async def work(self, model: ScriptedModel, events: list[Event], limits: Limits | None = None) -> Result:
        """One run of a fresh office."""
        entry, *others = self.agents(model)
        orchestrator = {**self.settings, "name": self.name}
        async with Office(entry, agents=others, host=self.host(), clock=FakeClock(), limits=limits) as office:
            return await office.run("Tide pools", orchestrator=orchestrator, listener=events.append)

    def ran(self, model: ScriptedModel, limits: Limits | None = None) -> tuple[Result, list[Event]]:
        """The result and the events of one run; whatever happened, they are well-formed and honest."""
        events: list[Event] = []
        result = run(self.work(model, events, limits))
        check_grammar(events)
        assert isinstance(result.stop_reason, StopReason)
        assert result.usage.requests == sum(isinstance(event, ModelRequest) for event in events) == len(model.requests)
        if result.success:
            assert result.content.strip()
            assert result.error is None
            assert result.usage.requests, "a success without a model"
        else:
            assert result.error, "a failure without a word"
        return result, events

    def test_it_works_a_task_through(self) -> None:
        """The entry's answer, all tools and workers used, every event in its place."""
        result, events = self.ran(scripted([self.answer] * _MOST))
        assert result.success, result.error
        assert result.agent
        assert {event.agent for event in events if event.agent} <= set(result.by_agent) | {result.agent}

    def test_a_success_says_what_a_model_said(self) -> None:
        """An orchestrator does not make up answers."""
        said: list[str] = []

        def heard(request: Request) -> ReplyLike:
            words = self.answer(request)
            if isinstance(words, str):
                said.append(words)
            return words

        result, _ = self.ran(scripted([heard] * _MOST))
        assert any(words and words in result.content for words in said)

    def test_the_same_replies_make_the_same_run(self) -> None:
        """No clock, chance or order of a set decides: a run that is resumed goes the way it went."""
        runs = [self.ran(scripted([self.answer] * _MOST)) for _ in range(2)]
        traces = [[(event.type, event.agent, event.span) for event in events] for _, events in runs]
        assert traces[0] == traces[1]
        assert runs[0][0].content == runs[1][0].content

    @pytest.mark.parametrize("limits", _LIMITS.values(), ids=_LIMITS)
    @pytest.mark.parametrize("busy", [False, True], ids=["done", "never-done"])
    def test_it_ends_under_every_limit(self, limits: Limits, busy: bool) -> None:
        """Also with a model that never ends by itself, and never beyond the limit."""
        result, _ = self.ran(scripted([self.never_done if busy else self.answer] * _MOST), limits)
        if limits.max_requests is not None:
            assert result.usage.requests <= limits.max_requests
        if limits.max_tool_calls is not None:
            assert result.usage.tool_calls <= limits.max_tool_calls
        if 0 in (limits.max_requests, limits.max_total_tokens, limits.max_seconds, limits.max_cost_usd):
            assert not result.success
            assert not result.content

    @pytest.mark.parametrize("trouble", _TROUBLE.values(), ids=_TROUBLE)
    def test_it_never_calls_a_failure_a_success(self, trouble: Step) -> None:
        """Where no model ever answers."""
        result, _ = self.ran(scripted([trouble] * _MOST), Limits(provider_retries=0))
        assert not result.success

    @pytest.mark.parametrize("after", range(5))
    def test_trouble_in_the_middle_is_no_defect(self, after: int) -> None:
        """A request that fails after others went well; the run ends or goes on, and says so."""
        steps: list[Step] = [self.answer] * after
        self.ran(scripted([*steps, fault("500"), *([self.answer] * _MOST)]), Limits(provider_retries=0))

    @pytest.mark.parametrize("after", range(5))
    def test_it_is_cancelled_at_any_point(self, after: int) -> None:
        """At once; the cancellation is passed on, the events are complete, and no task is left behind."""
        events: list[Event] = []

        async def cancelled() -> bool:
            reached = asyncio.Event()

            async def hang(_: Request) -> ReplyLike:
                reached.set()
                await asyncio.Event().wait()
                return ""

            model = scripted([*([self.answer] * after), hang, *([self.answer] * _MOST)])
            task = asyncio.create_task(self.work(model, events))
            waiting = asyncio.create_task(reached.wait())
            await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            if task.done():
                return task.result().success
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return False

        succeeded = run(cancelled())
        check_grammar(events)
        assert succeeded or events[-1].stop_reason == StopReason.CANCELLED  # type: ignore[attr-defined]

    def test_every_call_of_a_history_is_answered_once(self) -> None:
        """In each request that goes out."""
        model = scripted([self.answer] * _MOST)
        self.ran(model)
        for request in model.requests:
            asked = [one.id for message in request.messages if isinstance(message, Assistant) for one in message.calls]
            answered = [message.call_id for message in request.messages if isinstance(message, ToolResult)]
            assert sorted(asked) == sorted(answered)


def take_note(text: str) -> str:
    """Write something down."""
    return f"noted: {text}"
