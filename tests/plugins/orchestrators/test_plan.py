"""The plan orchestrator in an office: planned by a model, checked, maybe approved, run at once where it can be."""

import asyncio
import json

import pytest

from officellm import Agent, Limits, Office, PlanError, StopReason, UnknownAgentError
from officellm.testing import FakeClock, scripted


def step(agent, text="do", *needs):
    return {"agent_id": agent, "input": text, "description": "d", "depends_on": list(needs)}


def plan(*steps, final="final"):
    return json.dumps({"steps": list(steps), "final_agent_id": final})


class Team:
    """A planner that says `plans`, and workers a, b and final; `told` has what each was told."""

    def __init__(self, *plans, **says):
        self.told = {}
        self.planner = scripted(list(plans))
        self.now = self.peak = 0
        workers = {"a": "A", "b": "B", "final": "the end", **says}
        agents = [Agent(name, f"Does {name}", model=self.model(name, said)) for name, said in workers.items()]
        self.office = Office(agents=agents, model=None, clock=FakeClock())

    def model(self, name, said):
        async def answer(request):
            self.told.setdefault(name, []).append(request.messages[-1].text)
            self.now += 1
            self.peak = max(self.peak, self.now)
            await asyncio.sleep(0.01)
            self.now -= 1
            text = said(request) if callable(said) else said
            if isinstance(text, Exception):
                raise text
            return text

        return scripted([answer] * 20)

    async def run(self, task="the question", *, limits=None, events=None, **settings):
        planner = Agent("planner_model", model=self.planner, entry=False)
        office = Office(planner, agents=list(self.office.agents.values()), clock=FakeClock())
        chosen = {"name": "plan", "agents": ["a", "b", "final"], **settings}
        listener = None if events is None else events.append
        return await office.run(task, orchestrator=chosen, limits=limits, listener=listener)


async def test_a_plan_is_written_run_and_answered():
    team = Team(plan(step("a", "find"), step("b", "sum {{step_0}}", "step_0")))
    result = await team.run()
    assert (result.success, result.content, result.agent) == (True, "the end", "final")
    assert team.told == {
        "a": ["find"],
        "b": ["sum A"],
        "final": ["the question\n\nResult from a (step_0):\nA\n\nResult from b (step_1):\nB"],
    }
    assert result.by_agent["planner"].requests == 1
    assert result.usage.requests == 4


async def test_the_planner_is_told_who_there_is_and_what_is_asked():
    team = Team(plan(step("a")))
    await team.run(instructions="Prefer few steps.")
    (request,) = team.planner.requests
    system, user = request.messages
    assert "- a: Does a\n- b: Does b\n- final: Does final" in system.text
    assert "Prefer few steps." in system.text
    assert user.text == "the question"
    assert request.output.schema["properties"]["final_agent_id"]["enum"] == ["a", "b", "final"]


async def test_steps_that_do_not_need_each_other_run_at_once():
    team = Team(plan(step("a"), step("b")))
    await team.run()
    assert team.peak == 2


async def test_a_plan_that_cannot_work_is_mended_once():
    team = Team(plan(step("ghost")), plan(step("a")))
    result = await team.run()
    assert result.success
    assert "step_0: unknown agent 'ghost'" in team.planner.requests[1].messages[-1].text


@pytest.mark.parametrize("bad", ["I cannot plan.", plan(), plan(step("ghost")), plan(step("a", "x", "step_5"))])
async def test_a_plan_that_stays_wrong_is_a_failure_and_nothing_was_run(bad):
    team = Team(bad, bad)
    result = await team.run()
    assert (result.stop_reason, result.error_type) == (StopReason.FAILED, PlanError.__name__)
    assert (team.told, result.usage.requests) == ({}, 2)


async def test_who_answers_where_the_plan_names_nobody():
    bad = plan(step("a"), final="creative")
    assert not (await Team(bad, bad).run()).success
    assert (await Team(bad, bad).run(final_agent="final")).success


async def test_a_failed_step_ends_the_run_and_keeps_what_was_done():
    team = Team(plan(step("a"), step("b", "x", "step_0")), b=RuntimeError("broke"))
    result = await team.run()
    assert (result.success, "final" in team.told) == (False, False)
    assert "broke" in result.error
    assert (result.nodes["step_0"].text, str(result.nodes["final"].state)) == ("A", "skipped")


async def test_or_the_others_go_on_and_the_answer_is_marked():
    team = Team(plan(step("a"), step("b")), b=RuntimeError("broke"))
    result = await team.run(on_error="continue")
    assert (result.success, [one.agent for one in result.failures]) == (True, ["b"])
    assert "broke" in team.told["final"][0]


async def test_or_the_rest_is_planned_again_and_nothing_done_is_done_twice():
    first = plan(step("a", "find"), step("b", "use {{0}}", 0))
    second = plan(step("a", "other way, from {{step_0}}"))
    team = Team(first, second, b=RuntimeError("broke"))
    result = await team.run(on_error="replan")
    assert (result.success, result.content) == (True, "the end")
    assert team.told["a"] == ["find", "other way, from A"]
    assert len(team.told["b"]) == 1
    assert "step_1 (b) failed: " in team.planner.requests[1].messages[-1].text
    assert "Result from a (step_0):\nA" in team.told["final"][0]
    assert str(result.nodes["step_1"].state) == "failed"
    assert result.usage.requests == 6


async def test_what_is_done_keeps_what_it_cost_when_the_rest_is_planned_again():
    team = Team(plan(step("a"), step("b")), plan(step("a", "other way")), b=RuntimeError("broke"))
    result = await team.run(on_error="replan")
    assert result.success
    assert result.nodes["step_0"].usage.requests == 1
    worked = sum(node.usage.requests for node in result.nodes.values())
    assert worked + result.by_agent["planner"].requests == result.usage.requests


async def test_planning_again_is_bounded():
    team = Team(*[plan(step("b"))] * 5, b=RuntimeError("broke"))
    result = await team.run(on_error="replan", max_replans=2)
    assert (result.success, len(team.planner.requests)) == (False, 3)


async def test_a_plan_alone_costs_one_request_and_says_what_it_could_come_to():
    team = Team(plan(step("a"), step("b", "x", "step_0")))
    result = await team.run(plan_only=True, limits=Limits(max_turns=7))
    assert (result.success, team.told, result.usage.requests) == (True, {}, 1)
    assert result.output["steps"][1]["depends_on"] == ["step_0"]
    assert result.output["worst_case"] == {"requests": 22, "costUsd": None}
    assert result.content.startswith("flowchart")
    assert json.loads(result.content[result.content.index("\n{") :]) == result.output


async def test_the_worst_case_follows_the_purse_and_known_prices():
    team = Team(plan(step("a")))
    result = await team.run(plan_only=True, limits=Limits(max_requests=5, max_cost_usd=0.5))
    assert result.output["worst_case"] == {"requests": 5, "costUsd": 0.5}


async def _later(plan):
    await asyncio.sleep(0)
    return True


@pytest.mark.parametrize("approve", [lambda plan: True, _later], ids=["sync", "async"])
async def test_a_person_may_accept_a_plan(approve):
    assert (await Team(plan(step("a"))).run(approve=approve)).success


async def test_a_person_may_refuse_a_plan_and_sees_it_in_the_result():
    team = Team(plan(step("a")))
    result = await team.run(approve=lambda plan: False)
    assert (result.success, result.error_type, team.told) == (False, "PlanRefused", {})
    assert result.output["steps"][0]["agent_id"] == "a"


async def test_a_person_may_change_a_plan_and_what_cannot_work_is_refused():
    def change(made):
        return {**made.to_dict(), "steps": [step("b", "instead")]}

    team = Team(plan(step("a")))
    assert (await team.run(approve=change)).success
    assert (team.told["b"], "a" in team.told) == (["instead"], False)
    wrong = await Team(plan(step("a"))).run(approve=lambda made: {"steps": [step("ghost")]})
    assert wrong.error_type == PlanError.__name__


async def test_a_person_who_never_answers_does_not_hold_the_run_beyond_its_time():
    async def never(made):
        await asyncio.sleep(30)

    team = Team(plan(step("a")))
    result = await team.run(approve=never, limits=Limits(max_seconds=0.05))
    assert (result.stop_reason, team.told) == (StopReason.TIMEOUT, {})
    assert result.output["steps"][0]["agent_id"] == "a"


async def test_an_approval_that_breaks_is_a_failure_and_nothing_is_run():
    async def breaks(made):
        raise TimeoutError("the form was closed")

    team = Team(plan(step("a")))
    result = await team.run(approve=breaks, limits=Limits(max_seconds=5))
    assert (result.stop_reason, result.error_type, team.told) == (StopReason.FAILED, "TimeoutError", {})


async def test_agents_that_are_not_there_are_refused_before_anything_is_sent():
    team = Team(plan(step("a")))
    with pytest.raises(UnknownAgentError, match="'c'"):
        await team.run(agents=["a", "c"])
    assert team.planner.requests == []


async def test_a_plan_is_told_as_an_event_before_it_is_run():
    events = []
    await Team(plan(step("a"))).run(events=events)
    kinds = [event.type for event in events]
    assert kinds.index("plan") < kinds.index("node")
    (told,) = [event for event in events if event.type == "plan"]
    assert told.plan["final_agent_id"] == "final"


class _Setting:
    """Takes events, and says when the first agent begins."""

    def __init__(self, begun):
        self.begun = begun

    def append(self, event):
        if event.type == "agent.start":
            self.begun.set()


async def test_a_run_that_is_cancelled_between_steps_runs_no_more():
    team = Team(plan(step("a"), step("b", "x", "step_0")))
    begun = asyncio.Event()
    run = asyncio.create_task(team.run(events=_Setting(begun)))
    await begun.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert "b" not in team.told
