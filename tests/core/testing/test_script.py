"""Which reply a request gets: rules, turns, faults between them, placeholders."""

import pytest

from officellm.errors import ConfigError
from officellm.testing import Heard, Rule, Said, Script, ScriptExhausted, call, fault, read_script, reply, rule


def heard(*said, system="You help.", model="m", tools=("search",), wire="openai"):
    """A conversation: user texts, `a:` turns of the model, `t:` tool results."""
    roles = {"a:": "assistant", "t:": "tool"}
    turns = tuple(Said(roles.get(one[:2], "user"), one[2:] if one[:2] in roles else one) for one in said)
    return Heard(wire=wire, model=model, stream=False, system=system, said=turns, tools=tools, body={})


async def texts(script, *conversations):
    return [(await script.choose(one)).text for one in conversations]


async def test_by_turn_the_conversation_decides_and_not_the_order_of_arrival():
    script = read_script(["zero", "one", "two"])
    got = await texts(script, heard("q", "a:zero", "q2", "a:one", "q3"), heard("q"), heard("other", "a:x", "more"))
    assert got == ["two", "zero", "one"]


async def test_the_same_request_gets_the_same_reply_however_often_it_comes():
    script = read_script(["zero", "one"])
    assert await texts(script, *[heard("q")] * 3) == ["zero"] * 3


async def test_by_order_arrival_decides():
    script = read_script([rule("first", "second", by="order")])
    assert await texts(script, heard("q"), heard("q")) == ["first", "second"]


async def test_by_conversation_a_rule_counts_from_where_it_came_in():
    script = read_script([rule("first", "second", system="B", by="conversation"), rule("a", system="A")])
    moved = heard("q", "a:handed over", system="B")
    assert await texts(script, moved, heard("q", "a:handed over", "a:first", system="B")) == ["first", "second"]


async def test_a_rule_for_a_later_turn_starts_with_its_first_reply():
    script = read_script([rule("late", "later", tool_results=2), rule("early")])
    assert await texts(script, heard("q"), heard("q", "a:", "t:1", "t:2")) == ["early", "late"]


@pytest.mark.parametrize(
    ("condition", "meets", "misses"),
    [
        ({"system": "Ada"}, heard("q", system="You are Ada."), heard("q")),
        ({"model": "mini"}, heard("q", model="gpt-mini"), heard("q")),
        ({"user": "tide"}, heard("about tide pools"), heard("tide", "a:x", "pools")),
        ({"matches": r"\d{3}"}, heard("number 123"), heard("number 12")),
        ({"tool": "search"}, heard("q"), heard("q", tools=())),
        ({"wire": "gemini"}, heard("q", wire="gemini"), heard("q")),
        ({"turn": 1}, heard("q", "a:x", "more"), heard("q")),
        ({"tool_results": 1}, heard("q", "a:x", "t:r"), heard("q")),
        ({"test": lambda one: one.task == "now"}, heard("now"), heard("q")),
    ],
    ids=["system", "model", "user", "matches", "tool", "wire", "turn", "tool_results", "test"],
)
async def test_a_condition_chooses_the_rule(condition, meets, misses):
    script = Script([rule("met", reply("met", repeat=True), **condition), rule(reply("else", repeat=True))])
    assert await texts(script, meets, misses) == ["met", "else"]


async def test_all_conditions_of_a_rule_must_hold():
    script = Script([rule("both", system="Ada", tool="search"), rule(reply("else", repeat=True))])
    assert await texts(script, heard("q", system="Ada", tools=()), heard("q", system="Ada")) == ["else", "both"]


async def test_faults_are_given_once_a_conversation_and_the_turn_follows():
    script = read_script([fault("429"), fault("503"), "zero", "one"])
    got = [await script.choose(heard("q")) for _ in range(4)]
    assert [one.fault_name for one in got] == ["429", "503", "", ""]
    assert await texts(script, heard("q", "a:zero", "more")) == ["one"]
    assert (await script.choose(heard("another"))).fault_name == "429"


async def test_a_conversation_that_is_first_seen_late_gets_the_faults_of_its_turn():
    script = read_script([fault("429"), "zero", fault("503"), "one"])
    late = heard("q", "a:zero", "more")
    assert [(await script.choose(late)).fault_name for _ in range(2)] == ["503", ""]


@pytest.mark.parametrize("kept", [True, False], ids=["kept in the history", "left out of the history"])
async def test_an_empty_reply_is_followed_by_the_next_whatever_the_client_does_with_it(kept):
    script = read_script([reply(fault="empty_reply"), "answer"])
    assert (await script.choose(heard("q"))).fault_name == "empty_reply"
    again = heard("q", "a:", "please answer") if kept else heard("q", "please answer")
    assert await texts(script, again) == ["answer"]


async def test_reset_starts_again():
    script = read_script([fault("429"), "zero"])
    await script.choose(heard("q"))
    script.reset()
    assert (await script.choose(heard("q"))).fault_name == "429"


async def test_the_last_reply_may_repeat():
    script = read_script(["zero", reply("again", repeat=True)])
    assert await texts(script, heard("q", *["a:x", "go on"] * 7)) == ["again"]


async def test_placeholders_are_filled_in_texts_and_nested_arguments_and_nothing_else_is():
    said = reply(
        "{task}|{last_user}|{last_tool}|{tools}|{other}|{}|{task",
        calls=[call("f", a=["{task}", {"b": "{last_tool}"}], n=1)],
    )
    got = await read_script([said]).choose(heard("T {tools}", "t:one", "t:two", "last"))
    assert got.text == "T {tools}|last|two|one\ntwo|{other}|{}|{task"
    assert got.calls[0].arguments == {"a": ["T {tools}", {"b": "two"}], "n": 1}


async def test_ids_are_the_first_of_the_task_and_of_the_last_result():
    one, two, three = (f"{digit * 8}-0000-4000-8000-{digit * 12}" for digit in "12a")
    script = read_script(["{task_id}|{last_id}"])
    asked = heard(f"task {one}, not {two}", f't:{{"id": "{three}", "of": "{one}"}}')
    assert (await script.choose(asked)).text == f"{one}|{three}"
    assert (await read_script(["<{task_id}{last_id}>"]).choose(heard("none"))).text == "<>"


async def test_raw_arguments_are_filled_too():
    got = await read_script([call("f", '{"q": "{task}"')]).choose(heard("T"))
    assert got.calls[0].arguments == '{"q": "T"'


async def test_exhaustion_names_the_rule_and_the_conversation():
    with pytest.raises(
        ScriptExhausted, match=r"rule 0 has 1 replies, and request 2 came \(by turn; the conversation has 1"
    ):
        await read_script(["only"]).choose(heard("q", "a:only", "more"))


async def test_no_rule_lists_the_rules():
    with pytest.raises(ScriptExhausted, match=r"no rule for this request \(model 'm'.*Rules: \{'system': 'Ada'\}"):
        await read_script([rule("x", system="Ada")]).choose(heard("q"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rule("x", sistem="a"), "unknown condition 'sistem'. Did you mean 'system'?"),
        (lambda: rule("x", turn="1"), "condition 'turn' must be a whole number, not '1'"),
        (lambda: rule("x", turn=True), "must be a whole number"),
        (lambda: rule("x", user=1), "condition 'user' must be a text"),
        (lambda: rule("x", matches="("), "is not a regular expression"),
        (lambda: rule("x", by="turns"), "unknown `by` 'turns'. Did you mean 'turn'?"),
        (lambda: rule(), "a rule needs at least one reply"),
        (lambda: rule(5), "a scripted reply must be a text"),
        (lambda: Rule(replies=()), "a rule needs at least one reply"),
    ],
    ids=["name", "number", "bool", "text", "regex", "by", "none", "reply", "empty"],
)
def test_a_rule_that_cannot_work_is_a_config_error(make, message):
    with pytest.raises(ConfigError) as error:
        make()
    assert message in str(error.value)
