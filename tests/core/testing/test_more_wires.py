"""What is the vendors' own on the wires of the contributed providers."""

import json
import re

import pytest

from officellm.testing import FakeLLM, call, calls, reply

LOOKED_UP = {"id": "search_1", "name": "search", "raw": "{}"}


async def test_what_cohere_says_beside_calls_is_its_plan(ask, wires, stream):
    async with FakeLLM([calls(call("search", query="x"), text="I will search.")]) as llm:
        response = await ask(llm, wires["cohere"], stream=stream)
    if stream:
        kinds = [event["type"] for event in wires["cohere"].events(response)]
        assert [kind for kind in kinds if not kind.endswith("-delta")] == [
            "message-start",
            "tool-call-start",
            "tool-call-end",
            "message-end",
        ]
        assert "tool-plan-delta" in kinds
    else:
        message = response.json()["message"]
        assert message["tool_plan"] == "I will search."
        assert "content" not in message


async def test_a_cohere_call_without_arguments_has_no_piece_in_a_stream(ask, wires):
    async with FakeLLM([call("search")]) as llm:
        events = wires["cohere"].events(await ask(llm, wires["cohere"], stream=True))
    assert [event["type"] for event in events[1:-1]] == ["tool-call-start", "tool-call-end"]
    opened = events[1]["delta"]["message"]["tool_calls"]
    assert opened["function"] == {"name": "search", "arguments": ""}
    assert re.fullmatch(r"search_\w{12}", opened["id"])


async def test_cohere_cites_the_result_that_came_last(ask, wires, stream):
    wire = wires["cohere"]
    history = wire.turn({"text": "", "calls": [LOOKED_UP]}, ["Ruby"])
    async with FakeLLM([call("search"), reply("Ruby, I would say.", reasoning="It says so.")]) as llm:
        read = wire.read(await ask(llm, wire, history=history, stream=stream), stream)
    (cited,) = read["citations"]
    assert cited == {
        "start": 0,
        "end": 5,
        "text": "Ruby,",
        "sources": [{"type": "tool", "id": "search_1:0", "tool_output": {"content": "Ruby"}}],
        "type": "TEXT_CONTENT",
        "content_index": 1,
    }


@pytest.mark.parametrize(
    ("data", "heard"),
    [("r", "r"), ({"text": "r"}, "r"), ({"n": 1}, "1"), ({"text": "r", "n": 1}, '{"text":"r","n":1}')],
    ids=["text", "one text", "one number", "more than one"],
)
async def test_a_script_hears_the_text_in_a_document_that_is_a_result_of_cohere(ask, wires, data, heard):
    wire = wires["cohere"]
    history = wire.turn({"text": "", "calls": [LOOKED_UP]}, ["r"])
    history[-1]["content"] = [{"type": "document", "document": {"data": data}}]
    async with FakeLLM([call("search"), "{last_tool}"]) as llm:
        assert wire.read(await ask(llm, wire, history=history), stream=False)["text"] == heard


@pytest.mark.parametrize(
    ("document", "shown"),
    [
        ({"id": "d:1", "data": {"text": "t", "title": "n"}}, {"id": "d:1", "text": "t", "title": "n"}),
        ({"data": "t"}, {"id": "doc:0", "text": "t"}),
        ("t", {"id": "doc:0", "text": "t"}),
    ],
    ids=["object", "text inside", "text"],
)
async def test_cohere_cites_a_document_unless_it_shall_not(http, wires, document, shown):
    wire = wires["cohere"]
    body = wire.request(tools=False) | {"documents": [document]}
    async with FakeLLM([reply("Ruby.", repeat=True)]) as llm:
        cited = (await http.post(wire.address(llm), json=body)).json()["message"]["citations"]
        quiet = await http.post(wire.address(llm), json=body | {"citation_options": {"mode": "OFF"}})
    assert [one["sources"] for one in cited] == [[{"type": "document", "id": shown["id"], "document": shown}]]
    assert "citations" not in quiet.json()["message"]


async def test_mistral_thoughts_are_parts_of_the_content(ask, wires, stream):
    async with FakeLLM([reply("Yes.", reasoning="Hm.")]) as llm:
        response = await ask(llm, wires["mistral"], stream=stream)
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    if stream:
        deltas = [event["choices"][0]["delta"] for event in wires["mistral"].events(response)]
        assert [delta["content"] for delta in deltas] == ["", [thought], "Yes.", ""]
    else:
        content = response.json()["choices"][0]["message"]["content"]
        assert content == [thought, {"type": "text", "text": "Yes."}]


async def test_mistral_sends_its_calls_with_the_finish_reason_and_ids_that_it_takes_back(ask, wires):
    said = calls(call("search", query="a"), call("search", query="b"), text="So.")
    async with FakeLLM([said]) as llm:
        *before, last = wires["mistral"].events(await ask(llm, wires["mistral"], stream=True))
    assert all("tool_calls" not in chunk["choices"][0]["delta"] for chunk in before)
    (choice,) = last["choices"]
    assert (choice["finish_reason"], last["usage"]["total_tokens"]) == ("tool_calls", 15)
    assert [one["index"] for one in choice["delta"]["tool_calls"]] == [0, 1]
    assert all(re.fullmatch(r"[a-zA-Z0-9]{9}", one["id"]) for one in choice["delta"]["tool_calls"])


async def test_mistral_and_openai_share_a_path_and_are_told_apart_by_its_beginning(ask, wires):
    async with FakeLLM(lambda heard: heard.wire) as llm:
        for name in ("mistral", "openai"):
            assert wires[name].read(await ask(llm, wires[name]), stream=False)["text"] == name


async def test_ollama_streams_lines_of_json_unless_told_otherwise(ask, http, wires):
    async with FakeLLM([reply("a text", repeat=True)]) as llm:
        streamed = await ask(llm, wires["ollama"], stream=True)
        whole = await ask(llm, wires["ollama"])
    assert "stream" not in wires["ollama"].request(stream=True)
    assert streamed.headers["content-type"] == "application/x-ndjson"
    assert whole.json()["done"] is True
    last = wires["ollama"].events(streamed)[-1]
    assert {key for key in last if key.endswith("_duration")} == {
        "total_duration",
        "load_duration",
        "prompt_eval_duration",
        "eval_duration",
    }


async def test_ollama_sends_arguments_as_objects_a_call_a_line(ask, wires):
    async with FakeLLM([calls(call("search", query="a"), call("search", query="b"))]) as llm:
        lines = wires["ollama"].events(await ask(llm, wires["ollama"], stream=True))
    functions = [one["function"] for line in lines for one in line["message"].get("tool_calls", [])]
    assert [len(line["message"].get("tool_calls", [])) for line in lines] == [1, 1, 0]
    assert functions == [
        {"index": 0, "name": "search", "arguments": {"query": "a"}},
        {"index": 1, "name": "search", "arguments": {"query": "b"}},
    ]


async def test_ollama_escapes_what_go_escapes(ask, wires, stream):
    text = "<b>&\u2028\u2029é"
    async with FakeLLM([text]) as llm:
        response = await ask(llm, wires["ollama"], stream=stream)
    assert "\\u003cb\\u003e\\u0026\\u2028\\u2029é" in response.text
    assert json.loads(response.text.splitlines()[0])["message"]["content"] == text


async def test_a_stream_of_openais_responses_has_the_vendors_events(ask, wires):
    said = reply("A text.", calls=[call("search", query="x")], reasoning="Hm.")
    async with FakeLLM([said]) as llm:
        events = wires["responses"].events(await ask(llm, wires["responses"], stream=True))
    kinds = [one["type"].removeprefix("response.") for one in events]
    assert [kind for kind, before in zip(kinds, ["", *kinds], strict=False) if kind != before] == [
        *("created", "in_progress"),
        *("output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta"),
        *("reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done"),
        *("output_item.added", "content_part.added", "output_text.delta"),
        *("output_text.done", "content_part.done", "output_item.done"),
        *("output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done"),
        "completed",
    ]
    *_, last = events
    assert [item["type"] for item in last["response"]["output"]] == ["reasoning", "message", "function_call"]


@pytest.mark.parametrize(("stop", "ending"), [("length", "incomplete"), ("error", "failed"), ("refused", "incomplete")])
async def test_a_response_that_is_not_completed_says_so_in_its_last_event(ask, wires, stop, ending):
    async with FakeLLM([reply("" if stop == "refused" else "Low", stop=stop)]) as llm:
        *_, last = wires["responses"].events(await ask(llm, wires["responses"], stream=True))
    response = last["response"]
    assert (last["type"], response["status"]) == (f"response.{ending}", ending)
    assert (response["error"] is None) is (response["incomplete_details"] is not None)


async def test_the_words_and_calls_of_one_response_are_one_turn(hear, wires):
    read = {"text": "So.", "calls": [LOOKED_UP, {**LOOKED_UP, "id": "b"}]}
    heard = hear("responses", wires["responses"].request(history=wires["responses"].turn(read, ["1", "2"])))
    assert [one.role for one in heard.said] == ["user", "assistant", "tool", "tool"]
    assert heard.said[1].text.startswith("So.[")


async def test_a_stream_of_converse_starts_calls_only_and_counts_after_its_end(ask, wires):
    said = reply("A.", calls=[call("search")], reasoning="Hm.")
    async with FakeLLM([said]) as llm:
        events = wires["bedrock"].events(await ask(llm, wires["bedrock"], stream=True))
    kinds = [kind for event in events for kind in event]
    assert kinds == [
        "messageStart",
        *("contentBlockDelta", "contentBlockDelta", "contentBlockStop"),
        *("contentBlockDelta", "contentBlockStop"),
        *("contentBlockStart", "contentBlockDelta", "contentBlockStop"),
        *("messageStop", "metadata"),
    ]
    assert events[7]["contentBlockDelta"]["delta"] == {"toolUse": {"input": ""}}


async def test_a_script_hears_a_result_of_converse_that_is_json(ask, wires):
    wire = wires["bedrock"]
    history = wire.turn({"text": "", "calls": [LOOKED_UP]}, ["r"])
    history[-1]["content"][0]["toolResult"]["content"] = [{"json": {"result": "r"}}]
    async with FakeLLM([call("search"), "{last_tool}"]) as llm:
        assert wire.read(await ask(llm, wire, history=history), stream=False)["text"] == "r"


async def test_invoke_model_wraps_the_events_of_anthropic(ask, wires):
    async with FakeLLM([reply("A text.", repeat=True)]) as llm:
        plain = wires["anthropic"].events(await ask(llm, wires["anthropic"], stream=True))
        wrapped = wires["bedrock_invoke"].events(await ask(llm, wires["bedrock_invoke"], stream=True))
    plain[0]["message"]["model"] = wires["bedrock_invoke"].model
    assert wrapped == plain


async def test_thoughts_that_come_back_are_not_heard_as_words(hear, wires):
    thought = {"cohere": "t", "mistral": [{"type": "text", "text": "t"}]}
    for name, value in thought.items():
        content = [{"type": "thinking", "thinking": value}, {"type": "text", "text": "said"}]
        heard = hear(name, wires[name].request(history=[{"role": "assistant", "content": content}]))
        assert heard.said[-1].text == "said"
