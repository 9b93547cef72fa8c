"""How runs end: the stop reasons with their exit codes, an agent's result, a run's result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from officellm.errors import RunError
from officellm.messages import Message, Usage

if TYPE_CHECKING:
    from officellm.wire import Fault
    from officellm.workflows.nodes import NodeResult


class StopReason(StrEnum):
    """How a run ended. Only `success` is a success."""

    SUCCESS = "success"
    MAX_TURNS = "max_turns"
    MAX_TRANSFERS = "max_transfers"
    REQUEST_BUDGET = "request_budget"
    TOOL_CALL_BUDGET = "tool_call_budget"
    TOKEN_BUDGET = "token_budget"
    COST_BUDGET = "cost_budget"
    TIMEOUT = "timeout"
    LOOP_DETECTED = "loop_detected"
    INVALID_CALLS = "invalid_calls"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    EMPTY_REPLY = "empty_reply"
    CONTEXT_OVERFLOW = "context_overflow"
    PROVIDER_ERROR_4XX = "provider_error_4xx"
    PROVIDER_ERROR_5XX_EXHAUSTED = "provider_error_5xx_exhausted"
    FAILED = "failed"
    CANCELLED = "cancelled"
    PAUSED = "paused"

    @classmethod
    def of_fault(cls, fault: Fault) -> StopReason:
        """The outcome that a failed model request stands for."""
        by_kind = {"context_overflow": cls.CONTEXT_OVERFLOW, "refused": cls.REFUSED}
        return by_kind.get(fault.kind) or (
            cls.PROVIDER_ERROR_5XX_EXHAUSTED if fault.retryable else cls.PROVIDER_ERROR_4XX
        )

    @property
    def exit_code(self) -> int:
        """What the command line exits with."""
        return _EXIT.get(self, 1)


_LIMITS = (
    StopReason.MAX_TURNS,
    StopReason.MAX_TRANSFERS,
    StopReason.REQUEST_BUDGET,
    StopReason.TOOL_CALL_BUDGET,
    StopReason.TOKEN_BUDGET,
    StopReason.COST_BUDGET,
    StopReason.TIMEOUT,
    StopReason.LOOP_DETECTED,
    StopReason.INVALID_CALLS,
)
_EXIT = {
    StopReason.SUCCESS: 0,
    StopReason.CANCELLED: 130,
    StopReason.PAUSED: 4,
    **dict.fromkeys(_LIMITS, 3),
}


@dataclass(frozen=True, slots=True)
class TransferRequest:
    """An agent's wish to hand the conversation over. The orchestrator decides."""

    target: str
    reason: str = ""
    query: str = ""


@dataclass(slots=True, kw_only=True)
class AgentResult:
    """How one agent run ended. `content` is the last text, also where the run did not succeed."""

    agent: str
    stop_reason: StopReason
    content: str = ""
    output: Any = None
    error: str | None = None
    error_type: str | None = None
    #: Why the model request failed that ended it, if one did.
    fault: Fault | None = None
    #: This agent run's own requests and calls, its workers' not included.
    usage: Usage = field(default_factory=Usage)
    messages: Sequence[Message] = ()
    transfer: TransferRequest | None = None
    turns: int = 0
    #: Whether the whole run must end with this result (a fatal tool error).
    ends_run: bool = False

    @property
    def success(self) -> bool:
        """Whether the agent answered."""
        return self.stop_reason is StopReason.SUCCESS


@dataclass(slots=True, kw_only=True)
class Hop:
    """One agent of a run's chain: who worked, who passed the work on, and why."""

    agent: str
    by: str = ""
    reason: str = ""


@dataclass(slots=True, kw_only=True)
class Result:
    """How a run ended. Never a success unless the model answered; partial text and usage are kept in every case."""

    run_id: str
    stop_reason: StopReason
    content: str = ""
    output: Any = None
    error: str | None = None
    error_type: str | None = None
    #: Why the model request failed that ended the run, if one did.
    fault: Fault | None = None
    usage: Usage = field(default_factory=Usage)
    by_agent: Mapping[str, Usage] = field(default_factory=dict)
    agent: str | None = None
    chain: Sequence[Hop] = ()
    #: Workers that did not finish, also in a run that succeeded.
    failures: Sequence[AgentResult] = ()
    messages: Sequence[Message] = ()
    #: Where each node of a workflow or step of a plan stands; those of a workflow inside are named `outer/inner`.
    nodes: Mapping[str, NodeResult] = field(default_factory=dict)
    events_dropped: int = 0
    seconds: float = 0.0

    @property
    def success(self) -> bool:
        """Whether the run succeeded."""
        return self.stop_reason is StopReason.SUCCESS

    def raise_for_error(self) -> Result:
        """Return the result of a success; raise `RunError` (which carries this result) otherwise."""
        if self.success:
            return self
        raise RunError(self.error or f"the run ended with {self.stop_reason}", self)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: success, content, usage, error where there is one, and more keys beside them."""
        out: dict[str, Any] = {"success": self.success, "content": self.content, "usage": self.usage.to_dict()}
        if self.error is not None:
            out["error"] = self.error
            out["errorType"] = self.error_type
        out["stopReason"] = str(self.stop_reason)
        out["runId"] = self.run_id
        out["agent"] = self.agent
        out["chain"] = [{"agent": hop.agent, "by": hop.by, "reason": hop.reason} for hop in self.chain]
        out["byAgent"] = {name: usage.to_dict() for name, usage in self.by_agent.items()}
        if self.failures:
            out["failures"] = [
                {"agent": one.agent, "stopReason": str(one.stop_reason), "error": one.error} for one in self.failures
            ]
        if self.nodes:
            out["nodes"] = {id: node.to_dict() for id, node in self.nodes.items()}
        if self.output is not None:
            out["output"] = _plain(self.output)
        out["eventsDropped"] = self.events_dropped
        out["seconds"] = round(self.seconds, 3)
        return out


def _plain(value: Any) -> Any:
    """A typed output as JSON-ready values."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value, by_alias=True, bytes_mode="base64")
