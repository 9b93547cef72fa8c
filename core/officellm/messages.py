"""The neutral history: what any wire format translates to and from. Plain slotted values, encoded once per format.

A message keeps the bytes that each wire format made of it (`encoded`), so a turn costs what is new, not the history.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from officellm.codec import TOO_DEEP, dump_text, is_too_deep, parse_arguments

T = TypeVar("T")

#: Why a model stopped. `pause` means: send the turn back as it is. `other` is a value that the format does not know.
Stop = Literal["stop", "tool_calls", "length", "refused", "error", "pause", "other"]
#: `auto`, `none`, `required`, or the name of one tool.
ToolChoice = str


class _Encoded:
    """Mixin of values that keep what each wire format made of them."""

    __slots__ = ()
    _wire: dict[Any, Any]

    def encoded(self, key: Any, encode: Callable[[], T]) -> T:
        """What `encode` made the first time for `key`, which names the format and all that the bytes depend on."""
        try:
            return self._wire[key]  # type: ignore[no-any-return]
        except KeyError:
            made = self._wire[key] = encode()
            return made


@dataclass(frozen=True, slots=True)
class Text:
    """A text part of a user message."""

    text: str


@dataclass(frozen=True, slots=True)
class Media:
    """An image or a file of a user message: `data` (bytes) or `url`, with its media type such as `image/png`."""

    media_type: str
    data: bytes | None = None
    url: str | None = None
    name: str | None = None


Part = Text | Media


@dataclass(frozen=True, slots=True)
class System(_Encoded):
    """Instructions; the first message where there are any."""

    text: str
    _wire: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class User(_Encoded):
    """What the user, or whoever called the agent, says: a text, or parts in order."""

    content: str | tuple[Part, ...]
    _wire: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def text(self) -> str:
        """All text parts, joined."""
        if isinstance(self.content, str):
            return self.content
        return "".join(part.text for part in self.content if isinstance(part, Text))


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's request to run a tool.

    `arguments` is a mapping, or None with `problem` saying why; `raw` is the model's own text. `extra` is what the
    vendor wants back with this call.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    raw: str = ""
    problem: str | None = None
    extra: Mapping[str, Any] | None = None

    @classmethod
    def parse(
        cls, id: str, name: str, raw: str | Mapping[str, Any] | None, extra: Mapping[str, Any] | None = None
    ) -> ToolCall:
        """A call from what the wire had: argument text (maybe empty or broken), or an object."""
        if isinstance(raw, Mapping):
            try:
                text = dump_text(raw)
            except RecursionError:
                return cls(id, name, None, "", TOO_DEEP, extra)
            except (ValueError, TypeError) as error:
                return cls(id, name, None, str(raw), f"the arguments cannot be written as JSON ({error})", extra)
            if is_too_deep(raw, text):
                return cls(id, name, None, "", TOO_DEEP, extra)
            return cls(id, name, raw, text, None, extra)
        arguments, problem = parse_arguments(raw)
        return cls(id, name, arguments, raw or "", problem, extra)

    @property
    def sendable(self) -> Mapping[str, Any]:
        """Arguments as they may go back to a vendor: always an object, also for a call that could not be read."""
        return self.arguments if self.arguments is not None else {}


@dataclass(frozen=True, slots=True)
class Assistant(_Encoded):
    """A model's reply. `native` is what the vendor must get back unchanged, for `origin` (format and model) only."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    native: Any = None
    origin: tuple[str, str] | None = None
    _wire: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ToolResult(_Encoded):
    """The answer to one call. Every call of a history has exactly one."""

    call_id: str
    name: str
    content: str
    is_error: bool = False
    _wire: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)


Message = System | User | Assistant | ToolResult


@dataclass(frozen=True, slots=True)
class ToolSpec(_Encoded):
    """A tool as a model sees it: name, description, JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    _wire: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and requests. `input` includes cached tokens, `output` includes reasoning tokens.

    `complete` is False as soon as one request came without a count. `cost_usd` is None while the price is unknown.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    requests: int = 0
    tool_calls: int = 0
    cost_usd: float | None = None
    complete: bool = True

    @property
    def total(self) -> int:
        """Input and output tokens."""
        return self.input + self.output

    # The names that the JSON form and most vendors use.
    @property
    def prompt_tokens(self) -> int:
        """Input tokens, cached ones included."""
        return self.input

    @property
    def completion_tokens(self) -> int:
        """Output tokens, reasoning included."""
        return self.output

    @property
    def total_tokens(self) -> int:
        """Input and output tokens."""
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.reasoning + other.reasoning,
            self.requests + other.requests,
            self.tool_calls + other.tool_calls,
            sum(costs) if costs else None,
            self.complete and other.complete,
        )

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: promptTokens, completionTokens, totalTokens, and more keys beside them."""
        return {
            "promptTokens": self.input,
            "completionTokens": self.output,
            "totalTokens": self.total,
            "cachedTokens": self.cached,
            "reasoningTokens": self.reasoning,
            "requests": self.requests,
            "toolCalls": self.tool_calls,
            "costUsd": self.cost_usd,
            "complete": self.complete,
        }


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """A JSON Schema that the final text must satisfy.

    Where it is a choice, `choice` names the property that holds it and `choices` says what each value stands for, so
    that a provider may weigh the values instead of writing one.
    """

    name: str
    schema: Mapping[str, Any]
    choice: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Request:
    """One model request in neutral terms. `settings` is only what the user set; `deadline` is on the run's clock."""

    model: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    tool_choice: ToolChoice = "auto"
    parallel_calls: bool | None = None
    output: OutputSchema | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    stream: bool = False
    deadline: float | None = None
    #: How often a failed request is sent again.
    retries: int = 3
    #: Told about each retry, before the wait: `on_retry(attempt, fault, seconds)`.
    on_retry: Callable[[int, Any, float], None] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model request came to. `usage.complete` is False where the vendor sent no counts."""

    message: Assistant
    stop: Stop
    usage: Usage
    raw_stop: str | None = None
    raw_usage: Mapping[str, Any] | None = None
    model: str | None = None
    id: str | None = None
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A piece of a call; `index` is the call's position in the reply. For display: facts come with `Finished`."""

    index: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The last delta: the whole reply."""

    reply: Reply


Delta = TextDelta | ReasoningDelta | CallDelta | Finished
