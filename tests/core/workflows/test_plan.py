"""Reading a model's plan: found wherever it stands, checked whole, every problem named."""

import json

import pytest
from hypothesis import given, strategies as st

from officellm import PlanError, plan_schema, read_plan
from officellm.schemas import checker

AGENTS = ["r", "s"]


def step(agent="r", text="do", *needs):
    return {"agent_id": agent, "input": text, "description": "d", "depends_on": list(needs)}


def plan(*steps, final="s"):
    return {"steps": list(steps), "final_agent_id": final}


ONE = plan(step())
TEXT = json.dumps(ONE)


@pytest.mark.parametrize(
    "said",
    [
        TEXT,
        f"```json\n{TEXT}\n```",
        f"```\n{TEXT}\n```",
        f"Here is my plan:\n{TEXT}\nGood luck!",
        f"use {{x}} then {TEXT}",
        f'{{"note": 1}} {TEXT}',
        f"```json5\n{TEXT}\n```",
        f'{{"steps": "none"}} {TEXT}',
    ],
    ids=["plain", "json fence", "fence", "prose", "braces before", "object before", "json5", "steps no list"],
)
def test_a_plan_is_found_in_fences_and_prose(said):
    assert read_plan(said, AGENTS).to_dict() == ONE


@pytest.mark.parametrize("said", ["", "no plan", "{", "[]", '{"steps": 3}', "{" * 10_000], ids=range(6))
def test_a_reply_without_a_plan_is_an_error_that_carries_it(said):
    with pytest.raises(PlanError, match="holds no JSON object") as caught:
        read_plan(said, AGENTS)
    assert caught.value.reply == said


def test_the_first_of_two_plans_is_taken_whole():
    second = json.dumps(plan(step("s")))
    assert read_plan(f"{TEXT}\n{second}", AGENTS).to_dict() == ONE


def test_fences_inside_a_text_are_part_of_it():
    text = "write ```python\nx = 1\n``` please"
    assert read_plan(f"```json\n{json.dumps(plan(step('r', text)))}\n```", AGENTS).steps[0].input == text


@pytest.mark.parametrize("need", ["0", 0, "step_0", "Step 0", "r"])
def test_a_step_may_name_another_by_number_id_or_agent(need):
    made = read_plan(json.dumps(plan(step(), step("s", "sum {{0}}", need))), AGENTS)
    assert made.steps[1].depends_on == ("step_0",)
    assert made.steps[1].input == "sum {{step_0}}"


def test_a_result_that_is_used_is_waited_for_also_undeclared():
    made = read_plan(json.dumps(plan(step(), step("s", "sum {{step_0}}"))), AGENTS)
    assert made.steps[1].depends_on == ("step_0",)


def test_templates_of_other_languages_stay_words():
    made = read_plan(json.dumps(plan(step("r", "Write {{name}} for {{task}}"))), AGENTS)
    assert made.steps[0].input == "Write {{ name }} for {{task}}"
    made.workflow()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (plan(), "it has no steps"),
        (plan(step("ghost")), "step_0: unknown agent 'ghost'. Available: r, s."),
        (plan(step(), final="gost"), "final_agent_id: unknown agent 'gost'"),
        (plan(step("r", "x", "step_1"), step("s")), "step_0: it depends on step_1, which comes later"),
        (plan(step("r", "x", "step_0")), "step_0: it depends on itself"),
        (plan(step("r", "x", "step_7")), "step_0: it depends on 'step_7', and there is no such step"),
        (plan(step("r", "x", "-1")), "step_0: it depends on '-1', and there is no such step"),
        (plan(step(), step("s", "x", "ghost")), "step_1: it depends on 'ghost', and there is no such step"),
        (plan(step(), step(), step("s", "x", "r")), "step_2: it depends on 'r', who has several steps"),
        (plan(step("r", "x", "s"), step("s")), "step_0: it depends on 's', whose step does not come before it"),
        (plan(step("r", "use {{step_1}}"), step("s")), "step_0: it depends on step_1, which comes later"),
        ({"steps": ["words"], "final_agent_id": "r"}, "step_0: unknown agent None"),
    ],
    ids=lambda value: None if isinstance(value, dict) else value[:30],
)
def test_a_plan_that_cannot_work_says_why(wrong, said):
    with pytest.raises(PlanError) as caught:
        read_plan(json.dumps(wrong), AGENTS)
    assert any(said in problem for problem in caught.value.problems), caught.value.problems


def test_every_problem_is_named_at_once():
    with pytest.raises(PlanError) as caught:
        read_plan(json.dumps(plan(step("a"), step("b", "x", "9"), final="c")), AGENTS)
    assert len(caught.value.problems) == 4


def test_a_plan_may_be_too_long():
    with pytest.raises(PlanError, match="3 steps, and 2 are allowed"):
        read_plan(json.dumps(plan(step(), step(), step())), AGENTS, max_steps=2)


def test_a_plan_that_names_nobody_to_answer_may_have_a_fallback():
    assert read_plan(json.dumps(plan(step(), final="creative")), AGENTS, final="s").final_agent_id == "s"


def test_the_plan_of_the_rest_goes_on_after_what_is_done():
    made = read_plan(json.dumps(plan(step("r", "{{step_0}}"))), AGENTS, done=["step_0"], first=2)
    assert (made.ids(), made.steps[0].depends_on) == (["step_2"], ("step_0",))
    with pytest.raises(PlanError, match="no such step"):
        read_plan(json.dumps(plan(step("r", "x", "step_1"))), AGENTS, done=["step_0"], first=2)


def test_the_schema_takes_what_a_plan_is():
    check = checker(plan_schema(AGENTS))
    assert check(read_plan(TEXT, AGENTS).to_dict())


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_a_reply_of_anything_else_is_an_error(said):
    with pytest.raises(PlanError) as caught:
        read_plan(said, AGENTS)
    assert caught.value.problems


values = st.none() | st.integers(-2, 3) | st.sampled_from(["r", "s", "step_0", "{{0}}", "{{step_1}} {{r}}", "x"])


@given(
    st.lists(
        st.fixed_dictionaries(
            {}, optional={"agent_id": values, "input": values, "depends_on": st.lists(values, max_size=3) | values}
        ),
        max_size=4,
    ),
    values,
)
def test_every_plan_that_is_taken_is_a_workflow(steps, final):
    try:
        made = read_plan(json.dumps({"steps": steps, "final_agent_id": final}), AGENTS)
    except PlanError:
        return
    workflow = made.workflow()
    assert workflow.final == "final"
    assert len(workflow.nodes) == len(steps) + 1
