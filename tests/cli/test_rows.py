"""The state behind the live view."""

from officellm import Usage, events as ev
from officellm.cli.rows import TAIL, RunRows


def head(agent, span, parent="", at=1.0):
    return {"seq": 1, "at": at, "run_id": "r", "agent": agent, "span": span, "parent": parent}


def started():
    run = RunRows(None)
    run.hear(ev.RunStart(**head("", ""), title="T", priority="low", orchestrator="manager"))
    run.hear(ev.AgentStart(**head("boss", "1:boss"), depth=1, model="m"))
    run.hear(ev.AgentStart(**head("a", "1:boss/1.0:a", "1:boss"), depth=2))
    run.hear(ev.AgentStart(**head("b", "1:boss/1.1:b", "1:boss"), depth=2))
    return run


def test_agents_stand_under_whoever_called_them():
    run = started()
    assert [name for name, _ in run.children("")] == ["1:boss"]
    assert [row.name for _, row in run.children("1:boss")] == ["a", "b"]
    assert run.children("1:boss/1.0:a") == []


def test_a_router_that_asks_a_model_has_a_row_of_its_own():
    run = RunRows(None)
    run.hear(ev.ModelRequest(**head("router:llm", "router:llm"), turn=1))
    assert [(row.name, row.state) for _, row in run.children("")] == [("router:llm", "thinking")]
    run.hear(ev.RouteEvent(**head("", "router:llm", at=4.0), by="llm", choice="boss"))
    (row,) = run.rows.values()
    assert (row.state, row.ended, row.success) == ("chose boss", 4.0, True)


def test_a_router_that_asks_no_model_has_no_row():
    run = RunRows(None)
    run.hear(ev.RouteEvent(**head("", "router:keyword"), by="keyword", choice="boss"))
    assert run.rows == {}


def test_a_row_follows_its_turn_text_calls_tokens_and_end():
    run = started()
    row = run.rows["1:boss"]
    run.hear(ev.ModelRequest(**head("boss", "1:boss"), turn=2))
    run.hear(ev.TextDeltaEvent(**head("boss", "1:boss"), text="x" * TAIL + "end"))
    assert (row.state, row.turn, len(row.tail), row.tail[-3:]) == ("writing", 2, TAIL, "end")
    run.hear(ev.ModelReply(**head("boss", "1:boss"), turn=2, text="", calls=1, stop="tool_calls", usage=Usage(10, 5)))
    run.hear(ev.ToolCallEvent(**head("boss", "1:boss"), id="c1", name="f", kind="tool", arguments={"q": "x"}))
    run.hear(ev.ToolCallEvent(**head("boss", "1:boss"), id="c2", name="g", kind="tool", arguments={}))
    run.hear(ev.ToolResultEvent(**head("boss", "1:boss"), id="c2", name="g", content=""))
    assert (row.usage.total, row.calls) == (15, {"c1": "f(q='x')"})
    usage = Usage(10, 5, cost_usd=0.5)
    run.hear(ev.AgentEnd(**head("boss", "1:boss", at=9.0), stop_reason="success", turns=2, usage=usage))
    assert (row.state, row.success, row.ended, row.calls, row.tail) == ("success", True, 9.0, {}, "")
    assert row.usage.cost_usd == 0.5
