"""The built-in limit policy `purse` keeps the limit contract."""

from __future__ import annotations

from officellm import Limits, Usage
from officellm.testing.contracts import Bound, LimitPolicyContract

REQUEST = Usage(input=30, output=10, requests=1, cost_usd=0.25)
CALL = Usage(tool_calls=1)


def requests(most):
    settings = {"max_requests": most}
    return Bound(
        name=f"requests-{most}",
        settings=settings,
        spend={"kind": "request"},
        usage=REQUEST,
        allowed=most,
        stop_reason="request_budget",
    )


def calls(most):
    settings = {"max_tool_calls": most}
    return Bound(
        name=f"tool-calls-{most}",
        settings=settings,
        spend={"kind": "tool_call", "call": "f:{}", "tool": "f"},
        usage=CALL,
        allowed=most,
        stop_reason="tool_call_budget",
    )


class TestPurse(LimitPolicyContract):
    name = "purse"
    bounds = (
        *map(requests, (0, 1, 3, None)),
        *map(calls, (0, 1, 3, None)),
        Bound(
            name="tokens",
            settings={"max_total_tokens": 100},
            spend={"kind": "request", "tokens": 40},
            usage=REQUEST,
            allowed=3,
            stop_reason="token_budget",
        ),
        Bound(
            name="an-agent-s-own",
            settings={"max_requests": 9},
            spend={"kind": "request", "limits": Limits(max_requests=2)},
            usage=REQUEST,
            allowed=2,
            stop_reason="request_budget",
        ),
        Bound(
            name="transfers",
            settings={"max_transfers": 2, "max_visits": None},
            spend={"kind": "transfer", "scope": "run", "tool": "writer"},
            allowed=2,
            stop_reason="max_transfers",
            gives_back=False,
        ),
    )
