"""Outcomes: each stop reason with its exit code, and what a result keeps."""

import pytest

from officellm import Fault, StopReason

EXIT_CODES = {
    0: ["success"],
    1: [
        "truncated", "refused", "empty_reply", "context_overflow", "provider_error_4xx",
        "provider_error_5xx_exhausted", "failed",
    ],
    3: [
        "max_turns", "max_transfers", "request_budget", "tool_call_budget", "token_budget", "cost_budget", "timeout",
        "loop_detected", "invalid_calls",
    ],
    4: ["paused"],
    130: ["cancelled"],
}  # fmt: skip


def test_every_stop_reason_has_the_exit_code_that_is_promised():
    promised = {name: code for code, names in EXIT_CODES.items() for name in names}
    assert {str(reason): reason.exit_code for reason in StopReason} == promised


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault("auth", "no", 401), StopReason.PROVIDER_ERROR_4XX),
        (Fault("quota", "no credit", 429), StopReason.PROVIDER_ERROR_4XX),
        (Fault("rate_limit", "slow", 429, retryable=True), StopReason.PROVIDER_ERROR_5XX_EXHAUSTED),
        (Fault("network", "gone", retryable=True), StopReason.PROVIDER_ERROR_5XX_EXHAUSTED),
        (Fault("refused", "filtered", 400), StopReason.REFUSED),
        (Fault("context_overflow", "long", 400), StopReason.CONTEXT_OVERFLOW),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else "",
)
def test_a_fault_stands_for_an_outcome(fault, reason):
    assert StopReason.of_fault(fault) is reason
