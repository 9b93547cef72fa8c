"""Agents called directly, results as values, and what is refused before anything is sent."""

import asyncio

import pytest
from pydantic import BaseModel, ValidationError

from officellm import Agent, ConfigError, Office, StopReason, Task, ToolDefinitionError, UnknownAgentError, Usage
from officellm.testing import call, calls, scripted

from .reading import boss, last_result, tools, users, worker


class Brief(BaseModel):
    topic: str
    words: int


@pytest.mark.parametrize(
    "priority", [{"priority": "urgent"}, {"title": " "}, {"title": None}], ids=["priority", "blank", "none"]
)
def test_a_task_that_is_wrong_is_refused_by_name(priority):  # case 4
    with pytest.raises(ValidationError) as raised:
        Task(**{"title": "t", **priority})
    text = str(raised.value)
    assert next(iter(priority)) in text
    if "priority" in priority:
        assert "'low', 'medium' or 'high'" in text


@pytest.mark.parametrize("task", ["", "  ", None, {"title": "t"}, 3], ids=repr)
async def test_what_is_no_task_is_refused_before_any_request(task):  # case 4
    model = scripted([])
    with pytest.raises(ConfigError, match="task"):
        await Office(worker(model)).run(task)
    assert model.requests == []


async def test_a_worker_with_parameters_of_its_own_shows_them_and_reads_them():  # case 29
    helper = scripted(["W"])
    lead = scripted([call("research_agent", topic="tides", words=300), "F"])
    await Office(boss(lead), workers=[worker(helper, params=Brief)]).run("hi")
    schema = tools(lead.requests[0])["research_agent"].parameters
    assert set(schema["properties"]) == {"topic", "words"}
    assert schema["required"] == ["topic", "words"]
    (text,) = users(helper.requests[0])
    assert "topic: tides" in text
    assert "words: 300" in text


async def test_a_worker_with_a_json_schema_for_parameters_checks_it():  # case 29
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "default": 2}, "q": {"type": "string"}},
        "required": ["q"],
    }
    helper = scripted(["W"])
    lead = scripted([call("research_agent", n=1), call("research_agent", q="x"), "F"])
    await Office(boss(lead), workers=[worker(helper, params=schema)]).run("hi")
    assert "'q' is a required property" in last_result(lead, 1)
    assert users(helper.requests[0]) == ["n: 2\n\nq: x"]


async def test_a_direct_call_runs_one_worker_and_no_manager():  # case 31
    lead, helper = scripted([]), scripted(["W"])
    result = await Office(boss(lead), workers=[worker(helper)]).call("research_agent", task="t", priority="high")
    assert (result.success, result.content, result.agent, lead.requests) == (True, "W", "research_agent", [])
    assert users(helper.requests[0]) == ["Task: t\n\nPriority: high"]
    assert result.usage.requests == 1


async def test_the_priority_of_a_direct_call_is_inherited_by_workers():
    helper = scripted(["W"])
    lead = scripted([call("research_agent", task="x"), "F"])
    await Office(boss(lead), workers=[worker(helper)]).call("boss", task="t", priority="low")
    assert "Priority: low" in users(helper.requests[0])[0]


async def test_an_unknown_agent_is_the_callers_mistake():  # case 32
    office = Office(boss(scripted([])), workers=[worker(scripted([]))])
    for attempt in (office.call("nobody", task="t"), office.run("t", agent="nobody")):
        with pytest.raises(UnknownAgentError, match="research_agent"):
            await attempt
    with pytest.raises(UnknownAgentError, match="Did you mean 'research_agent'"):
        office.stream("t", agent="reserch_agent")


@pytest.mark.parametrize(
    "params",
    [{}, {"task": ""}, {"task": "t", "priority": "urgent"}, {"task": "t", "color": "red"}, {"task": 5}],
    ids=["nothing", "blank", "priority", "unknown", "type"],
)
async def test_wrong_parameters_are_refused_before_any_request(params):  # case 33
    helper = scripted([])
    with pytest.raises(ConfigError, match="research_agent"):
        await Office(worker(helper)).call("research_agent", **params)
    assert helper.requests == []


def test_an_agent_runs_by_itself_without_office_network_or_key():  # case 34
    def web_search(query: str) -> str:
        """Find."""
        return f"about {query}"

    model = scripted([call("web_search", query="x"), "done"])
    agent = Agent("a", tools=[web_search], transfers=["b"], model="openai:gpt-4.1-mini")
    assert agent.but(model=model).run_sync(task="t").content == "done"
    assert last_result(model) == "about x"


async def test_calls_can_be_chained_and_gathered_and_their_usage_summed():  # case 35
    office = Office(worker(scripted(["facts"])), agents=[worker(scripted(["draft", "other"]), "writer_agent")])
    facts = await office.call("research_agent", task="tides")
    both = await asyncio.gather(*(office.call("writer_agent", task=facts.content) for _ in range(2)))
    total = sum((one.usage for one in (facts, *both)), Usage())
    assert ({one.content for one in both}, total.requests, total.total) == ({"draft", "other"}, 3, 45)


async def test_guidance_is_added_only_where_it_was_asked_for():  # case 37
    for guidance in (False, True):
        lead = scripted(["ok"])
        agent = boss(lead, instructions="Lead well.", guidance=guidance)
        await Office(agent, workers=[worker(scripted([]))]).run("hi")
        text = lead.requests[0].messages[0].text
        assert text.startswith("Lead well.")
        assert ("research_agent" in text, "answer without calling" in text) == (guidance, guidance)
        assert guidance or text == "Lead well."


async def test_the_json_form_of_a_result():  # case 43
    good = (await Office(boss(scripted(["hi"]))).run("t")).to_dict()
    assert (good["success"], good["content"], "error" in good) == (True, "hi", False)
    assert {key: good["usage"][key] for key in ("promptTokens", "completionTokens", "totalTokens")} == {
        "promptTokens": 10,
        "completionTokens": 5,
        "totalTokens": 15,
    }
    bad = (await Office(boss(scripted(["", ""]))).run("t")).to_dict()
    assert (bad["success"], bad["stopReason"], bool(bad["error"])) == (False, "empty_reply", True)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["boss"], "the agent name 'boss' stands twice"),
        (["w", "w"], "the agent name 'w' stands twice"),
        (["w", "W"], "differ only in case"),
    ],
    ids=["like the manager", "twice", "case"],
)
def test_names_that_clash_are_refused(names, said):  # case 45
    with pytest.raises(ConfigError, match=said):
        Office(boss(scripted([])), workers=[worker(scripted([]), name) for name in names])


def test_the_agents_of_an_office_are_in_order_and_what_is_done_to_the_mapping_changes_nothing():
    office = Office(agents=[Agent(name, model=scripted([])) for name in ("c", "a", "b")])
    shown = office.agents
    shown.clear()
    assert list(office.agents) == ["c", "a", "b"]


@pytest.mark.parametrize("name", ["", "a b", "é", "1st", "a" * 65, "a.b", "a\n"], ids=repr)
def test_an_illegal_name_is_refused(name):  # case 45
    with pytest.raises(ConfigError, match="not legal"):
        Agent(name)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tools": "web_search"}, "tools must be a list"),
        ({"workers": "w"}, "workers must be a list"),
        ({"transfers": "w"}, "transfers must be a list"),
        ({"deny": 5}, "deny must be a list"),
        ({"workers": [5]}, "workers must be agents or their names"),
        ({"description": 5}, "description must be a text"),
        ({"settings": 5}, "settings must be a mapping"),
        ({"params": "x"}, "params must be a pydantic model or a JSON Schema"),
        ({"context_window": "10"}, "context_window must be a whole number"),
        ({"limits": {"max_turns": 3}}, "limits must be a Limits"),
        ({"on_limit": "summarise"}, "'stop' or 'summarize'"),
        ({"context_window": 3}, "at least 4"),
        ({"name": 5}, "not legal"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_an_agent_that_cannot_work_is_refused_when_it_is_made(options, said):  # section 6, 4
    with pytest.raises(ConfigError, match=said):
        Agent(**{"name": "a", **options})


@pytest.mark.parametrize(
    "options",
    [{"limits": {"max_turns": 3}}, {"router": 5}, {"orchestrator": 5}, {"orchestrator": {"x": 1}}, {"output_type": 5}],
    ids=lambda value: next(iter(value)),
)
async def test_wrong_options_of_a_run_are_refused_before_any_request(options):
    model = scripted([])
    with pytest.raises(ConfigError):
        await Office(boss(model)).run("t", **options)
    assert model.requests == []


def test_a_worker_named_twice_is_refused():  # case 45
    one = worker(scripted([]))
    with pytest.raises(ConfigError, match="two workers share the name 'research_agent'"):
        Office(boss(scripted([]), workers=[one]), workers=[one])


def test_a_worker_and_a_tool_of_one_name_are_refused():  # DESIGN 13
    def research_agent(query: str) -> str:
        """Find."""
        return query

    with pytest.raises(ConfigError, match="share the name 'research_agent'"):
        Office(boss(scripted([]), tools=[research_agent]), workers=[worker(scripted([]))])


def test_worker_cycles_and_unknown_names_are_refused():  # DESIGN 13
    model = scripted([])
    with pytest.raises(ConfigError, match="cycle: a -> b -> a"):
        Office(Agent("a", model=model, workers=["b"]), agents=[Agent("b", model=model, workers=["a"])])
    with pytest.raises(ConfigError, match="its own worker"):
        Agent("a", workers=["a"])
    with pytest.raises(ConfigError, match="unknown worker 'c'"):
        Office(Agent("a", model=model, workers=["c"]))
    with pytest.raises(ConfigError, match="cannot transfer to 'c'"):
        Office(Agent("a", model=model, transfers=["c"]), agents=[Agent("b", model=model)])


async def test_a_tool_name_that_nobody_implements_is_refused_with_the_agents_name():  # case 21, the Python side
    class Empty:
        async def tools(self):
            return []

        async def call(self, name, arguments, context):
            raise AssertionError

    office = Office(worker(scripted([]), tools=["web_search"]), catalogs={"none": Empty()})
    with pytest.raises(ConfigError, match=r'research_agent.*Tool "web_search" has no implementation provided\.'):
        await office.run("t")


def test_a_provider_format_that_is_not_installed_hints_at_its_package():  # case 49, the Python side
    with pytest.raises(ConfigError, match="officellm-provider-acme") as raised:
        Office(Agent("a", model="mine:m"), providers={"mine": {"format": "acme", "base_url": "http://127.0.0.1:1"}})
    assert "gemini" in str(raised.value)


@pytest.mark.parametrize("block", [5, {"format": 5}], ids=["no mapping", "format"])
def test_a_provider_block_of_a_wrong_type_is_refused_by_name(block):
    with pytest.raises(ConfigError, match="provider 'mine'"):
        Office(Agent("a", model="mine:m"), providers={"mine": block})


def test_an_office_of_anything_but_agents_is_refused():
    with pytest.raises(ConfigError, match="made of agents, not of 'boss'"):
        Office("boss")


def test_run_sync_inside_a_loop_says_what_to_do():  # section 8.2
    async def inside():
        Office(boss(scripted([]))).run_sync("t")

    with pytest.raises(ConfigError, match=r"await office\.run"):
        asyncio.run(inside())


async def test_a_conversation_can_be_continued_with_its_history():  # section 6, 16
    model = scripted(["first answer", "second answer"])
    office = Office(boss(model, instructions="Lead."))
    first = await office.run("first")
    second = await office.run("second", history=first.messages)
    assert second.content == "second answer"
    assert [(type(m).__name__, m.text) for m in model.requests[1].messages] == [
        ("System", "Lead."),
        ("User", "first"),
        ("Assistant", "first answer"),
        ("User", "second"),
    ]


def test_a_function_that_cannot_be_a_tool_is_refused_with_its_place():  # section 8.2
    def bad(query) -> str:
        """Find."""
        return query

    with pytest.raises(ToolDefinitionError, match=r"test_office_direct\.py:\d+.*'query' has no type hint"):
        worker(scripted([]), tools=[bad])


async def test_many_runs_of_one_office_at_once_do_not_mix():  # section 6, 15
    def echo(text: str) -> str:
        """Echo."""
        return text

    def answer(request):
        last = request.messages[-1]
        said = users(request)[0]
        return last.content if hasattr(last, "call_id") else calls(call("echo", text=said))

    office = Office(worker(scripted([answer] * 100), tools=[echo]))
    ran = await asyncio.gather(*(office.run(f"task {n}") for n in range(50)))
    assert [one.content for one in ran] == [f"task {n}" for n in range(50)]
    assert {one.stop_reason for one in ran} == {StopReason.SUCCESS}
    assert {one.usage.requests for one in ran} == {2}
