"""Replies that a test writes down: what a model shall answer, in neutral terms. No wire format and no I/O here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from officellm.codec import dump_text
from officellm.errors import ConfigError, nearest
from officellm.messages import Stop, Usage
from officellm.testing.faults import fault_named

#: What a reply costs where the script does not say.
DEFAULT_USAGE = Usage(input=10, output=5)
STOPS: tuple[str, ...] = get_args(Stop)
#: The longest that a scripted reply may wait, in seconds: a script must not hang a test run.
LONGEST_WAIT = 60.0


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A call the model makes. `arguments` is a mapping, the model's own (maybe broken) text, or None for a JSON null.

    `id` None means that the server makes one; an empty `id` is sent as it is.
    """

    name: str
    arguments: Mapping[str, Any] | str | None = field(default_factory=dict)
    id: str | None = None

    @property
    def raw(self) -> str:
        """The arguments as the model's text; empty for null."""
        if self.arguments is None:
            return ""
        return self.arguments if isinstance(self.arguments, str) else dump_text(self.arguments)


@dataclass(frozen=True, slots=True)
class ScriptedFault:
    """A named fault with its parameters; `officellm.testing.FAULTS` lists the names."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = fault_named(self.name)
        for key, value in self.params.items():
            if key not in known.params:
                raise ConfigError(f"fault {self.name!r} has no parameter {key!r}.{nearest(key, known.params)}")
            which = f"parameter {key!r} of fault {self.name!r}"
            if isinstance(known.params[key], str):
                if not isinstance(value, str):
                    raise ConfigError(f"{which} must be a text, not {value!r}")
            elif not isinstance(value, (int, float)) or isinstance(value, bool) or value < 0:
                raise ConfigError(f"{which} must be a number, 0 or more, not {value!r}")
            elif key in ("seconds", "delay") and value > LONGEST_WAIT:
                raise ConfigError(f"{which} may be at most {LONGEST_WAIT:g} seconds")

    def __getitem__(self, key: str) -> Any:
        return self.params.get(key, fault_named(self.name).params[key])


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply:
    """One reply. `stop` None follows from the calls; `usage` None means that the vendor sends no counts."""

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    reasoning: str = ""
    stop: Stop | None = None
    usage: Usage | None = DEFAULT_USAGE
    latency: float = 0.0
    fault: ScriptedFault | None = None
    #: Where it is the last reply of its list: give it again and again.
    repeat: bool = False

    def __post_init__(self) -> None:
        if self.stop is not None and self.stop not in STOPS:
            raise ConfigError(f"unknown stop {self.stop!r}.{nearest(str(self.stop), STOPS)}")
        if not 0 <= self.latency <= LONGEST_WAIT:
            raise ConfigError(f"latency must be between 0 and {LONGEST_WAIT:g} seconds, not {self.latency!r}")
        if self.fault and fault_named(self.fault.name).needs_calls and not self.calls:
            raise ConfigError(f"fault {self.fault.name!r} does something to calls, and this reply has none")

    @property
    def ending(self) -> Stop:
        """Why the model stopped."""
        return self.stop or ("tool_calls" if self.calls else "stop")

    @property
    def fault_name(self) -> str:
        """The fault's name; empty where there is none."""
        return self.fault.name if self.fault else ""

    @property
    def delivers(self) -> bool:
        """Whether the client gets a turn of the model out of it, rather than a reason to ask again."""
        return self.fault is None or fault_named(self.fault.name).delivers

    def as_said(self) -> ScriptedReply:
        """This reply after a fault that changes what the model says has done its work."""
        return _CHANGES.get(self.fault_name, _unchanged)(self)


#: Anything that stands for a reply in a script. A function gets what was asked and returns one of the others.
ReplyLike = str | ScriptedCall | ScriptedReply | ScriptedFault
ReplyFunction = Callable[[Any], ReplyLike | Awaitable[ReplyLike]]


def call(
    tool: str, arguments: Mapping[str, Any] | str | None = None, /, *, id: str | None = None, **keywords: Any
) -> ScriptedCall:
    """A call to `tool`: `call("search", query="x")`, or `call("search", {"query": "x"}, id="c1")`.

    `id` is always the call's own id; an argument of that name goes into the mapping. A text is sent as it is.
    """
    if isinstance(arguments, str):
        if keywords:
            raise TypeError("call() takes argument text or keywords, not both")
        return ScriptedCall(tool, arguments, id)
    return ScriptedCall(tool, {**(arguments or {}), **keywords}, id)


def calls(*made: ScriptedCall, text: str = "") -> ScriptedReply:
    """A reply that makes several calls at once."""
    return ScriptedReply(text=text, calls=made)


def reply(
    text: str = "",
    *,
    calls: Iterable[ScriptedCall] = (),
    stop: Stop | None = None,
    usage: Usage | None = DEFAULT_USAGE,
    reasoning: str = "",
    latency: float = 0.0,
    fault: str | ScriptedFault | None = None,
    repeat: bool = False,
) -> ScriptedReply:
    """A reply with all there is to say about it. `usage=None`: the vendor sends no counts."""
    named = ScriptedFault(fault) if isinstance(fault, str) else fault
    return ScriptedReply(
        text=text,
        calls=tuple(calls),
        stop=stop,
        usage=usage,
        reasoning=reasoning,
        latency=latency,
        fault=named,
        repeat=repeat,
    )


def fault(name: str, **params: Any) -> ScriptedFault:
    """A reply that goes wrong: `fault("429", retry_after=0.05)`; one about calls is `reply(calls=..., fault=...)`."""
    return ScriptedFault(name, params)


def as_reply(value: ReplyLike) -> ScriptedReply:
    """The reply that `value` stands for. Raises `ConfigError` for anything else."""
    if isinstance(value, ScriptedReply):
        return value
    if isinstance(value, str):
        return ScriptedReply(text=value)
    if isinstance(value, ScriptedCall):
        return ScriptedReply(calls=(value,))
    if isinstance(value, ScriptedFault):
        return ScriptedReply(fault=value)
    raise ConfigError(f"a scripted reply must be a text, call(), calls(), reply() or fault(), not {value!r}")


def _unchanged(said: ScriptedReply) -> ScriptedReply:
    return said


def _each_call(**changes: Any) -> Callable[[ScriptedReply], ScriptedReply]:
    return lambda said: replace(said, calls=tuple(replace(one, **changes) for one in said.calls))


def _cut_arguments(said: ScriptedReply) -> ScriptedReply:
    last = said.calls[-1]
    cut = last.raw[: max(1, len(last.raw) * 2 // 3)]
    return replace(said, calls=(*said.calls[:-1], replace(last, arguments=cut)), stop="length")


def _glued_arguments(said: ScriptedReply) -> ScriptedReply:
    return replace(said, calls=tuple(replace(one, arguments=one.raw + one.raw) for one in said.calls))


_CHANGES: dict[str, Callable[[ScriptedReply], ScriptedReply]] = {
    "cut_arguments": _cut_arguments,
    "duplicate_ids": _each_call(id="call_same"),
    "empty_ids": _each_call(id=""),
    "empty_reply": lambda said: replace(said, text="", calls=(), reasoning="", stop="stop"),
    "glued_arguments": _glued_arguments,
    "no_usage": lambda said: replace(said, usage=None),
    "null_arguments": _each_call(arguments=None),
    "stop_with_calls": lambda said: replace(said, stop="stop"),
}
