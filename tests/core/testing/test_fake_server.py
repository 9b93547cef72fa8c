"""The fake LLM server over real HTTP: every wire, whole and streamed, and what it records."""

import asyncio
import json

import pytest

from officellm.messages import Usage
from officellm.testing import FakeLLM, call, calls, reply, rule

TEXTS = {
    "plain": "plain",
    "unicode": "ünïcödé → 🐙",
    "json": 'quotes " and {"json":true}',
    "lines": "line\nbreaks\r\nand \u2028 others",
    "long": "x" * 100,
}
FINISHES = {
    "openai": {"stop": "stop", "tool_calls": "tool_calls", "length": "length"},
    "anthropic": {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"},
    "gemini": {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS"},
    "cohere": {"stop": "COMPLETE", "tool_calls": "TOOL_CALL", "length": "MAX_TOKENS"},
    "mistral": {"stop": "stop", "tool_calls": "tool_calls", "length": "length"},
    "ollama": {"stop": "stop", "tool_calls": "stop", "length": "length"},
    "responses": {"stop": "completed", "tool_calls": "completed", "length": "max_output_tokens"},
    "bedrock": {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"},
    "bedrock_invoke": {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"},
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
async def test_a_text_arrives_as_it_was_written(ask, wire, stream, text):
    async with FakeLLM([text]) as llm:
        response = await ask(llm, wire, stream=stream)
        read = wire.read(response, stream)
    assert response.status_code == 200
    assert (read["text"], read["calls"], read["usage"]) == (text, [], (10, 5))
    assert read["finish"] == FINISHES[wire.name]["stop"]


async def test_parallel_calls_arrive_in_order_with_different_ids_and_text_beside_them(ask, wire, stream):
    said = calls(call("search", query="one"), call("search", query="zwei"), text="Looking.")
    async with FakeLLM([said]) as llm:
        read = wire.read(await ask(llm, wire, stream=stream), stream)
    assert [json.loads(one["raw"]) for one in read["calls"]] == [{"query": "one"}, {"query": "zwei"}]
    assert read["text"] == "Looking."
    assert read["finish"] == FINISHES[wire.name]["tool_calls"]
    if wire.name != "gemini":
        assert len({one["id"] for one in read["calls"]}) == 2


async def test_an_id_that_the_script_names_is_sent_on_every_wire(ask, wire, stream):
    async with FakeLLM([call("search", {"query": "x"}, id="my_id")]) as llm:
        read = wire.read(await ask(llm, wire, stream=stream), stream)
    assert read["calls"][0]["id"] == "my_id"


async def test_reasoning_usage_and_stop_arrive(ask, wire, stream):
    said = reply("half an answ", stop="length", reasoning="Let me think.", usage=Usage(input=100, output=20))
    async with FakeLLM([said]) as llm:
        read = wire.read(await ask(llm, wire, stream=stream), stream)
    assert read["reasoning"] == "Let me think."
    assert read["usage"] == (100, 20)
    assert read["finish"] == FINISHES[wire.name]["length"]


async def test_cached_and_reasoning_tokens_are_counted_as_each_vendor_counts(ask, wires):
    said = reply("x", usage=Usage(input=100, output=20, cached=60, reasoning=15))
    async with FakeLLM([said]) as llm:
        bodies = {name: (await ask(llm, wire)).json() for name, wire in wires.items()}
    openai, gemini = bodies["openai"]["usage"], bodies["gemini"]["usageMetadata"]
    assert (openai["prompt_tokens"], openai["completion_tokens"], openai["total_tokens"]) == (100, 20, 120)
    assert openai["prompt_tokens_details"]["cached_tokens"] == 60
    assert bodies["anthropic"]["usage"]["input_tokens"] == 40
    assert bodies["anthropic"]["usage"]["cache_read_input_tokens"] == 60
    assert (gemini["candidatesTokenCount"], gemini["thoughtsTokenCount"], gemini["totalTokenCount"]) == (5, 15, 120)
    cohere, mistral, ollama = bodies["cohere"]["usage"], bodies["mistral"]["usage"], bodies["ollama"]
    assert cohere["tokens"] == {"input_tokens": 100, "output_tokens": 20, "reasoning_tokens": 15}
    assert (cohere["cached_tokens"], cohere["billed_units"]["input_tokens"]) == (60, 50)
    assert (mistral["prompt_tokens"], mistral["completion_tokens"], mistral["total_tokens"]) == (100, 20, 120)
    assert mistral["prompt_tokens_details"]["cached_tokens"] == 60
    assert (ollama["prompt_eval_count"], ollama["eval_count"]) == (100, 20)
    responses, bedrock = bodies["responses"]["usage"], bodies["bedrock"]["usage"]
    assert (responses["input_tokens"], responses["output_tokens"], responses["total_tokens"]) == (100, 20, 120)
    assert responses["input_tokens_details"] == {"cached_tokens": 60}
    assert responses["output_tokens_details"] == {"reasoning_tokens": 15}
    assert (bedrock["inputTokens"], bedrock["cacheReadInputTokens"], bedrock["totalTokens"]) == (40, 60, 120)
    assert bodies["bedrock_invoke"]["usage"] == bodies["anthropic"]["usage"]


async def test_a_whole_conversation_with_tools_passes_the_vendors_rules(ask, wire, stream):
    script = [calls(call("search", query="a"), call("search", query="b")), "found {last_tool}; all: {tools}; {task}"]
    async with FakeLLM(script) as llm:
        first = wire.read(await ask(llm, wire, "my task", stream=stream), stream)
        history = wire.turn(first, ["A!", "B!"])
        last = wire.read(await ask(llm, wire, "my task", history=history, stream=stream), stream)
        assert llm.refusals == []
    assert last["text"] == "found B!; all: A!\nB!; my task"


@pytest.mark.parametrize("model", ["gemini-3-flash-preview", "gemini-3.6-flash"])
async def test_gemini_3_sends_ids_and_a_signature_on_the_first_call_and_wants_it_back(http, wires, model):
    wire = wires["gemini"]
    async with FakeLLM([calls(call("search", query="a"), call("search", query="b")), "done"]) as llm:
        address = wire.address(llm, model=model)
        read = wire.read(await http.post(address, json=wire.request()), stream=False)
        assert all(one["id"] for one in read["calls"])
        assert ["thoughtSignature" in one["extra"] for one in read["calls"]] == [True, False]
        good = await http.post(address, json=wire.request(history=wire.turn(read, ["1", "2"])))
        read["calls"][0]["extra"] = {}
        missing = await http.post(address, json=wire.request(history=wire.turn(read, ["1", "2"])))
        read["calls"][0]["extra"] = {"thoughtSignature": "AAAA"}
        changed = await http.post(address, json=wire.request(history=wire.turn(read, ["1", "2"])))
    assert good.status_code == 200
    assert (missing.status_code, changed.status_code) == (400, 400)
    assert "missing a thought_signature" in missing.text
    assert "Corrupted" in changed.text


async def test_openai_streams_count_tokens_only_where_asked(http, wires):
    body = wires["openai"].request(stream=True)
    del body["stream_options"]
    async with FakeLLM(["x"]) as llm:
        response = await http.post(wires["openai"].address(llm), json=body)
    assert '"usage"' not in response.text


async def test_a_gemini_stream_without_alt_sse_is_one_json_array(http, wires):
    async with FakeLLM(["a text of several pieces"]) as llm:
        address = f"{llm.gemini_url}/models/g:streamGenerateContent"
        response = await http.post(address, json=wires["gemini"].request())
    chunks = response.json()
    assert len(chunks) == 2
    assert "".join(one["candidates"][0]["content"]["parts"][0]["text"] for one in chunks) == "a text of several pieces"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("openai", "No.", "stop"),
        ("openai", "", "content_filter"),
        ("anthropic", "No.", "refusal"),
        ("gemini", "No.", "SAFETY"),
        ("cohere", "No.", "ERROR_TOXIC"),
        ("mistral", "No.", "stop"),
        ("ollama", "No.", "stop"),
        ("responses", "No.", "completed"),
        ("responses", "", "content_filter"),
        ("bedrock", "No.", "content_filtered"),
        ("bedrock_invoke", "No.", "refusal"),
    ],
)
async def test_a_refusal_looks_like_the_vendors(ask, wires, stream, name, text, expected):
    async with FakeLLM([reply(text, stop="refused")]) as llm:
        response = await ask(llm, wires[name], stream=stream)
    assert wires[name].read(response, stream)["finish"] == expected
    assert ('"refusal":"No."' in response.text) == (name in ("openai", "responses") and bool(text))


async def test_a_gemini_refusal_without_text_has_no_candidates(ask, wires):
    async with FakeLLM([reply(stop="refused")]) as llm:
        body = (await ask(llm, wires["gemini"])).json()
    assert body["promptFeedback"]["blockReason"] == "PROHIBITED_CONTENT"
    assert "candidates" not in body


async def test_requests_are_recorded_with_keys_redacted(ask, http, wire, stream):
    async with FakeLLM(["a", "b"]) as llm:
        await ask(llm, wire, "remember me", stream=stream, key="sk-very-secret", system="You are Ada.")
        (record,) = llm.requests
        listing = await http.get(f"{llm.url}/requests")
    assert (record.wire, record.stream, record.system) == (wire.name, stream, "You are Ada.")
    assert record.tools == ("search",)
    assert record.outcome == "answered"
    assert record.body == wire.request("remember me", stream=stream, system="You are Ada.")
    assert "remember me" in json.dumps(record.messages)
    assert 0 <= record.at < 60
    assert listing.json()["count"] == 1
    assert listing.json()["requests"][0]["body"] == record.body
    assert "sk-very-secret" not in listing.text + repr(record)
    assert "redacted" in record.headers.values()


async def test_reset_forgets_requests_and_starts_the_script_again(ask, http, wire):
    async with FakeLLM([rule("first", "second", by="order")]) as llm:
        await ask(llm, wire)
        assert (await http.post(f"{llm.url}/reset")).json() == {"reset": True}
        assert llm.requests == []
        assert wire.read(await ask(llm, wire), stream=False)["text"] == "first"


async def test_each_wire_lists_models_in_its_own_words(http, wires):
    async with FakeLLM(["x"], models=["m-1", "m-2"]) as llm:
        openai = (await http.get(f"{llm.openai_url}/models")).json()
        anthropic = (await http.get(f"{llm.anthropic_url}/models", headers=wires["anthropic"].headers())).json()
        gemini = (await http.get(f"{llm.gemini_url}/models", headers=wires["gemini"].headers())).json()
        cohere = (await http.get(f"{llm.cohere_url}/v1/models?page_size=1000")).json()
        mistral = (await http.get(f"{llm.mistral_url}/models")).json()
        ollama = (await http.get(f"{llm.ollama_url}/api/tags")).json()
        bedrock = (await http.get(f"{llm.bedrock_url}/foundation-models")).json()
    assert [one["id"] for one in openai["data"]] == ["m-1", "m-2"]
    assert [one["id"] for one in anthropic["data"]] == ["m-1", "m-2"]
    assert anthropic["has_more"] is False
    assert [one["name"] for one in gemini["models"]] == ["models/m-1", "models/m-2"]
    assert [one["name"] for one in cohere["models"]] == ["m-1", "m-2"]
    assert [(one["id"], one["owned_by"]) for one in mistral["data"]] == [("m-1", "mistralai"), ("m-2", "mistralai")]
    assert [one["name"] for one in ollama["models"]] == ["m-1", "m-2"]
    assert [one["modelId"] for one in bedrock["modelSummaries"]] == ["m-1", "m-2"]


async def test_a_wrong_key_is_refused_and_the_right_one_is_not(ask, wire):
    async with FakeLLM(["x"], key="right") as llm:
        wrong = await ask(llm, wire, key="wrong")
        right = await ask(llm, wire, key="right")
    assert wrong.status_code == (403 if wire.name.startswith("bedrock") else 401)
    assert right.status_code == 200


async def test_the_path_without_a_version_works_too(http, wires):
    async with FakeLLM(["x"]) as llm:
        response = await http.post(f"{llm.url}/chat/completions", json=wires["openai"].request())
    assert response.status_code == 200


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"a":1e999}'],
    ids=["empty", "cut", "list", "bytes", "deep", "infinite"],
)
async def test_a_body_that_is_no_json_object_is_a_400_in_the_vendors_shape(http, wire, body):
    async with FakeLLM(["x"]) as llm:
        response = await http.post(wire.address(llm), content=body)
    assert response.status_code == 400
    assert "could not parse the JSON body" in wire.error(response)[0]


@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
async def test_an_unknown_path_is_a_404(http, method):
    async with FakeLLM(["x"]) as llm:
        assert (await http.request(method, f"{llm.url}/v1/nothing")).status_code == 404


async def test_a_script_that_has_run_out_is_a_400_that_says_so(ask, wire):
    async with FakeLLM([rule("only", by="order")]) as llm:
        await ask(llm, wire)
        response = await ask(llm, wire)
        assert len(llm.refusals) == 1
    assert response.status_code == 400
    assert "rule 0 has 1 replies, and request 2 came" in wire.error(response)[0]


async def test_functions_reply_with_what_they_heard_also_async_ones(ask, wire):
    async def answer(heard):
        await asyncio.sleep(0)
        return f"{heard.wire} {heard.last_user} {heard.tools[0]}"

    async with FakeLLM(answer) as llm:
        first = wire.read(await ask(llm, wire, "one"), stream=False)["text"]
        second = wire.read(await ask(llm, wire, "two"), stream=False)["text"]
    assert [first, second] == [f"{wire.name} one search", f"{wire.name} two search"]


async def test_an_assertion_in_a_function_is_shown_and_not_worth_a_retry(ask, wire):
    def answer(heard):
        raise AssertionError("the prompt lacks the date")

    async with FakeLLM(answer) as llm:
        response = await ask(llm, wire)
    assert response.status_code == 400
    assert "the prompt lacks the date" in response.text


async def test_concurrent_conversations_each_get_the_whole_script(ask, wire):
    async with FakeLLM([call("search", query="{task}"), "{task}: {last_tool}"]) as llm:

        async def converse(number):
            task = f"task {number}"
            read = wire.read(await ask(llm, wire, task), stream=False)
            history = wire.turn(read, [f"result {number}"])
            return wire.read(await ask(llm, wire, task, history=history), stream=False)["text"]

        answers = await asyncio.gather(*(converse(number) for number in range(20)))
    assert answers == [f"task {number}: result {number}" for number in range(20)]


async def test_ids_are_the_same_in_every_run(ask, wires):
    seen = []
    for _ in range(2):
        async with FakeLLM([call("search", query="x")]) as llm:
            seen.append((await ask(llm, wires["openai"])).json())
    assert seen[0] == seen[1]


async def test_latency_is_waited(ask, wire):
    async with FakeLLM([reply("x", latency=0.05)]) as llm:
        began = asyncio.get_running_loop().time()
        await ask(llm, wire)
    assert asyncio.get_running_loop().time() - began >= 0.05
