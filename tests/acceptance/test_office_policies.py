"""Limit policies of an office beside the built-in ones."""

import types

import pytest

from officellm import Agent, Host, Kind, LimitReached, Office, StopReason, Task, hookimpl
from officellm.testing import scripted


def with_policy(policy):
    host = Host(discover=False)
    plugin = types.ModuleType("mine")
    plugin.make_limit_policy = hookimpl(lambda name: policy)
    host.add_driver(Kind.LIMIT, "mine", plugin)
    return host


class UrgentOnly:
    """Lets only urgent work spend."""

    def reserve(self, spend):
        if spend.kind == "request" and spend.priority != "high":
            raise LimitReached("urgent_only", 0, 0, StopReason.REQUEST_BUDGET, agent=spend.agent)

    def settle(self, reservation, spend, spent):
        return None


@pytest.mark.parametrize(("priority", "ended"), [("high", "success"), ("low", "request_budget")])
async def test_a_policy_sees_the_priority_of_the_task(priority, ended):
    office = Office(Agent("a", model=scripted(["done"])), policies={"mine": {}}, host=with_policy(UrgentOnly()))
    assert (await office.run(Task(title="x", priority=priority))).stop_reason == ended


class Defective:
    """Breaks while it is asked."""

    def reserve(self, spend):
        raise ZeroDivisionError("a bug")

    def settle(self, reservation, spend, spent):
        return None


async def test_a_policy_that_breaks_stops_the_run_before_anything_is_sent():
    model = scripted(["done"])
    office = Office(Agent("a", model=model), policies={"mine": {}}, host=with_policy(Defective()))
    result = await office.run("x")
    assert (result.stop_reason, len(model.requests)) == (StopReason.FAILED, 0)
    assert "a bug" in result.error
