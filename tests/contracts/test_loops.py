"""The built-in limit policy `loops` keeps the limit contract."""

from __future__ import annotations

from officellm import Usage
from officellm.testing.contracts import Bound, LimitPolicyContract

CALL = {"kind": "tool_call", "call": 'search:{"q":"x"}', "tool": "search"}


def window(name, size, allowed, stop_reason="", **spend):
    return Bound(
        name=name,
        settings={"loop_window": size},
        spend={**CALL, **spend},
        usage=Usage(tool_calls=1),
        allowed=allowed,
        stop_reason=stop_reason,
        gives_back=False,
    )


class TestLoops(LimitPolicyContract):
    name = "loops"
    bounds = (
        window("identical", 4, 3, "loop_detected"),
        window("two-identical", 2, 1, "loop_detected"),
        window("unusable", 3, 2, "invalid_calls", problem="no such tool"),
        window("off", None, None),
    )
