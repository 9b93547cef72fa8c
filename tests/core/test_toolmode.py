"""Tools for models without tool calls: how steps are asked for, read and offered, through real offices."""

import json

import jsonschema
import pytest

from officellm import Agent, Finished, Office, Request, Task, Tool, ToolError, ToolSpec, User, tool
from officellm.messages import Assistant, System, TextDelta, ToolCall, ToolResult
from officellm.steps import read_step, step_schema
from officellm.testing import scripted
from officellm.toolmode import ANSWER_NOW, adapted


def weak(steps, mode="schema", **attributes):
    """A scripted model that has no tool calls of its own."""
    model = scripted(steps)
    model.tool_mode = mode
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


def written(name, **arguments):
    return json.dumps({"tool": name, "arguments": arguments})


@tool
def search(query: str, limit: int = 3) -> str:
    """Finds notes."""
    return f"note about {query}"


@tool
def count(words: list[str]) -> int:
    """Counts words."""
    return len(words)


@tool
def broken(query: str) -> str:
    """Never works."""
    raise ToolError("no notes today")


def office(model, *tools):
    return Office(Agent("clerk", model=model, tools=tools, instructions="Be brief."))


def specs(*names):
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    return [ToolSpec(name, f"Tool {name}.", schema) for name in names]


def offered(request):
    """Names of the tools that the schema of a request allows, and whether an answer is allowed."""
    schema = request.output.schema
    branches = schema.get("anyOf", [schema])
    names = [branch["properties"]["tool"]["const"] for branch in branches if "tool" in branch["properties"]]
    return names, any("answer" in branch["properties"] for branch in branches)


async def ask(model, *, tools=(), messages=None, **more):
    request = Request(model="m", messages=messages or [User("Which bee?")], tools=tools, **more)
    deltas = [delta async for delta in adapted(model).stream(request)]
    assert isinstance(deltas[-1], Finished)
    return deltas[-1].reply, [delta.text for delta in deltas if isinstance(delta, TextDelta)]


@pytest.mark.parametrize("mode", ["schema", "prompt"])
def test_a_written_call_runs_the_tool_and_a_written_answer_ends_the_run(mode):
    model = weak([written("search", query="bees"), '{"answer": "Bees fly."}'], mode)
    result = office(model, search).run_sync("What do bees do?")
    assert result.success
    assert result.content == "Bees fly."
    assert "note about bees" in model.requests[1].messages[-1].text


def test_schema_mode_sends_a_schema_that_holds_exactly_the_tools_and_the_answer():
    model = weak(['{"answer": "done"}'])
    office(model, search, count).run_sync("Go")
    sent = model.requests[0]
    assert sent.tools == ()
    assert offered(sent) == (["search", "count"], True)
    jsonschema.validate({"tool": "search", "arguments": {"query": "x"}}, sent.output.schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"tool": "search", "arguments": {}}, sent.output.schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"tool": "other", "arguments": {}}, sent.output.schema)


def test_prompt_mode_sends_no_schema_and_describes_each_tool_in_words():
    model = weak(['{"answer": "done"}'], "prompt")
    office(model, search, count).run_sync("Go")
    sent = model.requests[0]
    assert sent.output is None
    assert sent.tools == ()
    assert sent.messages[0].text.startswith("Be brief.")
    assert "search: Finds notes." in sent.messages[0].text
    assert "count: Counts words." in sent.messages[0].text


@pytest.mark.parametrize("mode", ["schema", "prompt"])
def test_examples_come_before_the_task_and_fit_the_schemas_of_the_tools(mode):
    model = weak(['{"answer": "done"}'], mode)
    office(model, search, count).run_sync("Go")
    *shown, last = model.requests[0].messages[1:]
    assert last.text == "Go"
    assert [type(message) for message in shown] == [User, Assistant] * 3
    schemas = {one.spec.name: one.spec.parameters for one in (Tool(search), Tool(count))}
    for message in shown[1::2]:
        step = json.loads(message.text)
        jsonschema.validate(step["arguments"], schemas[step["tool"]])
    assert {json.loads(message.text)["tool"] for message in shown[1::2]} == {"search", "count"}


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ('{"tool": "search", "arguments": {"query": "bees"}}', "search", {"query": "bees"}),
        ('```json\n{"tool": "search", "arguments": {"query": "bees"}}\n```', "search", {"query": "bees"}),
        ('I will look.\n{"tool": "search", "arguments": {"query": "{x}"}} Good.', "search", {"query": "{x}"}),
        ('{broken {"tool": "search", "arguments": {"query": "bees"}}', "search", {"query": "bees"}),
        ('{"tool": "search", "arguments": "{\\"query\\": \\"bees\\"}"}', "search", {"query": "bees"}),
        ('{"tool": "search", "parameters": {"query": "bees"}}', "search", {"query": "bees"}),
        ('{"name": "search", "arguments": {"query": "bees"}}', "search", {"query": "bees"}),
        ('{"tool": "search", "query": "bees"}', "search", {"query": "bees"}),
        ('{"tool": "search"}', "search", {}),
        ('{"tool": "invented", "arguments": {}}', "invented", {}),
        ('{"tool": "search", "arguments": {}}\nResult: a lie\n{"answer": "a lie"}', "search", {}),
    ],
    ids=["plain", "fence", "words", "brace", "text", "parameters", "name", "flat", "missing", "unknown", "first"],
)
def test_a_call_is_read_however_it_is_wrapped(text, name, arguments):
    step = read_step(text, ["search"], "c")
    assert (step.name, step.arguments) == (name, arguments)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"answer": "yes"}', "yes"),
        ('Well: {"answer": {"n": 1}}', '{"n":1}'),
        ("plain words", None),
        ('{"name": "Ada"}', None),
        ('{"name": "Ada", "arguments": {}}', None),
        ("[1, 2]", None),
        ("{" * 5000, None),
        ('{"a":' * 5000, None),
    ],
    ids=["text", "value", "words", "object", "person", "list", "braces", "deep"],
)
def test_an_answer_is_read_and_anything_else_is_left_alone(text, answer):
    assert read_step(text, ["search"], "c") == answer


@pytest.mark.parametrize("arguments", ["5", "[1]", '"words"'], ids=["number", "list", "text"])
def test_arguments_that_are_no_object_become_a_problem_that_the_model_reads(arguments):
    model = weak([f'{{"tool": "search", "arguments": {arguments}}}', '{"answer": "done"}'])
    result = office(model, search).run_sync("Go")
    assert result.success
    assert "Error" in model.requests[1].messages[-1].text


def test_an_unknown_tool_is_answered_and_the_model_may_go_on():
    model = weak([written("serach", query="x"), '{"answer": "done"}'])
    result = office(model, search).run_sync("Go")
    assert result.content == "done"
    assert "serach" in model.requests[1].messages[-1].text


def test_text_without_a_step_is_the_answer():
    assert office(weak(["Bees fly."]), search).run_sync("Go").content == "Bees fly."


async def test_a_choice_of_tools_is_respected():
    tools = specs("a", "b")
    for choice, expected in {"auto": (["a", "b"], True), "required": (["a", "b"], False), "b": (["b"], False)}.items():
        model = weak([written("b", query="x")])
        reply, _ = await ask(model, tools=tools, tool_choice=choice)
        assert offered(model.requests[0]) == expected
        assert reply.message.calls[0].name == "b"
        assert reply.stop == "tool_calls"


async def test_no_tool_is_offered_where_the_choice_is_none():
    model = weak(["words"])
    reply, _ = await ask(model, tools=specs("a"), tool_choice="none")
    assert model.requests[0].output is None
    assert model.requests[0].tools == ()
    assert reply.message.text == "words"


def test_a_typed_output_is_the_answer_branch():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    model = weak([written("search", query="x"), '{"answer": {"n": 2}}'])
    result = office(model, search).run_sync("Go", output_type=schema)
    assert result.output == {"n": 2}
    jsonschema.validate({"answer": {"n": 1}}, model.requests[0].output.schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"answer": {"n": "one"}}, model.requests[0].output.schema)


def test_a_typed_output_is_asked_for_itself_once_every_tool_has_answered():
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    model = weak([written("search", query="x"), '{"answer": "42"}'], offer_once=True)
    result = office(model, search).run_sync("Go", output_type=schema)
    assert model.requests[1].output.schema == schema
    assert result.output == {"answer": "42"}


def test_definitions_of_several_schemas_do_not_collide():
    def part(kind):
        return {
            "type": "object",
            "properties": {"x": {"$ref": "#/$defs/X"}},
            "required": ["x"],
            "$defs": {"X": {"type": kind}},
        }

    schema = step_schema([ToolSpec("a", "", part("string")), ToolSpec("b", "", part("integer"))], part("boolean"))
    for good in ({"tool": "a", "arguments": {"x": "t"}}, {"tool": "b", "arguments": {"x": 1}}, {"answer": {"x": True}}):
        jsonschema.validate(good, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"tool": "a", "arguments": {"x": 1}}, schema)


def test_a_tool_that_answered_is_offered_once_where_the_provider_says_so():
    model = weak([written("search", query="x"), written("count", words=["a"]), "It is so."], offer_once=True)
    result = office(model, search, count).run_sync("Go")
    assert offered(model.requests[0]) == (["search", "count"], True)
    assert offered(model.requests[1]) == (["count"], True)
    assert model.requests[2].output is None
    assert ANSWER_NOW in model.requests[2].messages[0].text
    assert result.content == "It is so."


def test_a_tool_that_failed_is_offered_again():
    model = weak([written("broken", query="x"), '{"answer": "no luck"}'], offer_once=True)
    office(model, broken).run_sync("Go")
    assert offered(model.requests[1]) == (["broken"], True)


async def test_tools_are_offered_again_for_the_next_question():
    earlier = [
        User("one"),
        Assistant("", (ToolCall("c1", "a", {"query": "x"}),)),
        ToolResult("c1", "a", "found"),
        Assistant("so it is"),
        User("two"),
    ]
    model = weak(['{"answer": "done"}'], offer_once=True)
    await ask(model, tools=specs("a"), messages=earlier)
    assert offered(model.requests[0]) == (["a"], True)
    assert '{"answer":"so it is"}' in [message.text for message in model.requests[0].messages]


def test_every_tool_is_offered_each_turn_where_the_provider_says_nothing():
    model = weak([written("search", query="x"), '{"answer": "done"}'])
    office(model, search).run_sync("Go")
    assert offered(model.requests[1]) == (["search"], True)


def test_the_instructions_and_examples_stay_the_same_while_tools_are_used_up():
    model = weak([written("search", query="x"), written("count", words=[]), "end"], offer_once=True)
    office(model, search, count).run_sync("Go")
    first, second = (request.messages for request in model.requests[:2])
    assert second[: len(first)] == first


def test_a_provider_that_reads_results_gets_them_as_they_are():
    model = weak([written("search", query="x"), "read"], offer_once=True, reads_results=True)
    office(model, search).run_sync("Go")
    assert isinstance(model.requests[1].messages[-1], ToolResult)
    assert model.requests[1].messages[0] == System("Be brief.")


async def test_the_text_of_a_last_answer_streams_and_that_of_a_step_does_not():
    results = [User("q"), Assistant("", (ToolCall("c", "a", {}),)), ToolResult("c", "a", "found")]
    reply, shown = await ask(
        weak(["It was found there."], offer_once=True), tools=specs("a"), messages=results, stream=True
    )
    assert "".join(shown) == reply.message.text == "It was found there."
    reply, shown = await ask(weak([written("a", query="x")]), tools=specs("a"), stream=True)
    assert shown == []
    assert reply.message.calls


async def test_a_request_without_tools_passes_through_untouched():
    model = weak(['{"answer": "typed"}'])
    reply, shown = await ask(model, messages=[System("s"), User("q")], stream=True)
    assert reply.message.text == "".join(shown) == '{"answer": "typed"}'
    assert model.requests[0].messages == [System("s"), User("q")]


def test_a_manager_calls_each_worker_and_then_answers():
    def step(request):
        names, _ = offered(request) if request.output else ([], True)
        return written(names[0], task="look") if names else "All said."

    boss = weak([step] * 3, offer_once=True)
    workers = [Agent(name, f"Does {name}", model=scripted([f"{name} did it"])) for name in ("one", "two")]
    result = Office(Agent("boss", model=boss), workers=workers).run_sync(Task(title="Do it"))
    assert result.content == "All said."
    assert {"one", "two"} <= set(result.by_agent)
