"""Broken providers, for the suites that run a provider in an office and that have it in this process."""

from __future__ import annotations

from .mutants import Mutant, mine


def _wire(name: str, test: str, body: str) -> Mutant:
    return mine("provider in an office", name, test, body, "Wire")


def _provider(name: str, test: str, body: str) -> Mutant:
    return mine("provider in an office", name, test, body)


def _parrot(name: str, test: str, body: str) -> Mutant:
    return mine("provider in this process", name, test, body)


def _sends(name: str, test: str, change: str) -> Mutant:
    """A wire that changes each `body`, and each `message` in it, before it is sent."""
    lines = "\n".join(f"        {line}" for line in change.strip("\n").splitlines())
    return _wire(
        name,
        test,
        f"""
def build(self, request, base_url):
    made = OpenAICompat.build(self, request, base_url)
    body = json.loads(made.body)
    for message in body["messages"]:
{lines}
    return HttpRequest(made.url, json.dumps(body, ensure_ascii=False).encode())
""",
    )


def _reads(name: str, test: str, change: str) -> Mutant:
    """A wire that makes something else of each whole `reply`; `again(**fields)` is the reply with changes."""
    lines = "\n".join(f"    {line}" for line in change.strip("\n").splitlines())
    return _wire(
        name,
        test,
        f"""
def parse(self, body, request):
    from dataclasses import replace
    reply = OpenAICompat.parse(self, body, request)
    message = reply.message
    again = lambda **fields: replace(reply, **fields)
{lines}
""",
    )


_SAID = [
    _sends(
        "loses results",
        "test_a_tool_is_called_and_its_result_answered",
        "if message['role'] == 'tool':\n    message['content'] = 'done'",
    ),
    _wire(
        "always streams",
        "test_a_tool_is_called_and_its_result_answered",
        """
def build(self, request, base_url):
    from dataclasses import replace
    return OpenAICompat.build(self, replace(request, stream=True), base_url)
""",
    ),
    _sends(
        "forgets what was said beside calls",
        "test_words_beside_calls_are_kept_and_are_not_the_answer",
        "if message.get('tool_calls'):\n    message['content'] = None",
    ),
    _reads(
        "thinks only while it streams",
        "test_streamed_and_plain_runs_are_equal",
        "return again(message=Assistant(message.text, message.calls))",
    ),
    _reads(
        "turns calls around",
        "test_parallel_calls_are_answered_in_call_order",
        "return again(message=Assistant(message.text, message.calls[::-1]))",
    ),
    _reads(
        "takes the same tool for the same call",
        "test_calls_of_later_turns_are_told_apart",
        """
seen = self.__dict__.setdefault("seen", set())
calls = tuple(one for one in message.calls if one.name not in seen)
seen.update(one.name for one in calls)
return again(message=Assistant(message.text, calls))
""",
    ),
    _sends(
        "hides what went wrong",
        "test_the_model_reads_what_went_wrong",
        "if message['role'] == 'tool' and message['content'].startswith('Error'):\n    message['content'] = 'ok'",
    ),
    _provider(
        "keeps the request in itself",
        "test_one_office_runs_many_tasks_at_once",
        """
async def stream(self, request):
    import asyncio
    self.request = request
    await asyncio.sleep(0)
    async for delta in HttpProvider.stream(self, self.request):
        yield delta
""",
    ),
    _reads(
        "counts what was cached twice",
        "test_counts_are_the_sum_of_what_the_server_counted",
        "return again(usage=Usage(reply.usage.input + reply.usage.cached, reply.usage.output, requests=1))",
    ),
    _reads(
        "makes up counts",
        "test_counts_that_were_not_sent_are_said_to_be_missing",
        "return again(usage=Usage(reply.usage.input, reply.usage.output, requests=1, complete=True))",
    ),
    _sends(
        "keeps thoughts to itself",
        "test_thoughts_go_back_unchanged_with_their_calls",
        "message.pop('reasoning_content', None)",
    ),
    _sends(
        "tidies thoughts up",
        "test_thoughts_go_back_unchanged_with_their_calls",
        "if 'reasoning_content' in message:\n"
        "    message['reasoning_content'] = ' '.join(message['reasoning_content'].split())",
    ),
    _sends(
        "leaves pictures out",
        "test_a_picture_arrives",
        "if isinstance(message['content'], list):\n    message['content'] = message['content'][:1]",
    ),
    _sends(
        "keeps the form to itself",
        "test_a_typed_output_is_asked_for_and_read",
        "body.pop('response_format', None)",
    ),
    _wire(
        "lists one model",
        "test_the_vendors_models_are_listed",
        "def parse_models(self, body):\n    return OpenAICompat.parse_models(self, body)[:1]",
    ),
    _sends("lets it call at the end", "test_a_closing_request_wants_no_call", "body.pop('tool_choice', None)"),
    _sends(
        "leaves the tools out at the end",
        "test_a_closing_request_holds_what_was_called_before",
        "if message['role'] == 'tool' and body.get('tool_choice') == 'none':\n"
        "    message.update(role='user', tool_call_id=None)",
    ),
    _sends("lets it call", "test_no_call_is_wanted", "body.pop('tool_choice', None)"),
    _sends("forces no call", "test_some_call_is_wanted", "body.pop('tool_choice', None)"),
    _sends("forces any call", "test_one_call_is_wanted", "body['tool_choice'] = 'required'"),
]

_CALLS = [
    _wire(
        "believes the index",
        "test_pieces_of_calls_come_to_the_calls_that_were_meant",
        """
def stream_parser(self, request):
    parser, made = OpenAICompat.stream_parser(self, request), {}
    class Indexed:
        def feed(self, event):
            if event.data != "[DONE]":
                for choice in json.loads(event.data)["choices"]:
                    for one in choice["delta"].get("tool_calls", ()):
                        made[one["index"]] = made.get(one["index"], "") + (one["function"].get("arguments") or "")
            return parser.feed(event)
        def finish(self):
            from dataclasses import replace
            reply = parser.finish()
            calls = [ToolCall.parse(f"c{index}", "add", text) for index, text in made.items()]
            return replace(reply, message=Assistant(reply.message.text, tuple(calls)))
    return Indexed()
""",
    ),
    _reads(
        "takes one id for one call",
        "test_calls_without_ids_of_their_own_each_run",
        "return again(message=Assistant(message.text, tuple({one.id: one for one in message.calls}.values())))",
    ),
    _wire(
        "has no arguments without a text",
        "test_arguments_of_null_are_none",
        """
def parse(self, body, request):
    for choice in json.loads(body)["choices"]:
        for one in choice["message"].get("tool_calls", ()):
            one["function"]["arguments"].strip()
    return OpenAICompat.parse(self, body, request)
""",
    ),
    _reads(
        "takes the first of two objects",
        "test_two_objects_glued_together_run_nothing",
        """
first = json.JSONDecoder().raw_decode
calls = tuple(ToolCall(one.id, one.name, first(one.raw)[0], one.raw) for one in message.calls)
return again(message=Assistant(message.text, calls))
""",
    ),
    _reads(
        "believes the finish reason",
        "test_calls_count_whatever_the_vendor_says_of_the_end",
        "return again(message=Assistant(message.text)) if reply.raw_stop == 'stop' else reply",
    ),
]

_WRONG = [
    _reads(
        "takes a refusal for an answer",
        "test_a_refusal_ends_the_run",
        "return again(message=Assistant(reply.refusal or ''), stop='stop', refusal=None)",
    ),
    _reads(
        "mends arguments",
        "test_arguments_that_were_cut_off_run_nothing",
        "return again(message=Assistant('', tuple(ToolCall(one.id, one.name, {}, '{}') for one in message.calls)))",
    ),
    _reads("does not see the end of tokens", "test_a_text_that_was_cut_off_is_no_success", "return again(stop='stop')"),
    _reads(
        "speaks for the model",
        "test_an_empty_reply_is_no_answer",
        "return again(message=Assistant(message.text or '(no answer)', message.calls))",
    ),
    _wire(
        "does not wait",
        "test_the_wait_that_the_server_asks_for_is_kept",
        "def classify(self, status, headers, body):\n    return OpenAICompat.classify(self, status, {}, body)",
    ),
    _wire(
        "answers with the error",
        "test_an_error_inside_a_success_is_sent_again",
        """
def parse(self, body, request):
    error = json.loads(body).get("error")
    if error:
        return Reply(Assistant(error["message"]), "stop", Usage())
    return OpenAICompat.parse(self, body, request)
""",
    ),
    _wire(
        "answers with the page",
        "test_what_is_no_reply_is_sent_for_again",
        """
def parse(self, body, request):
    try:
        return OpenAICompat.parse(self, body, request)
    except FaultError:
        return Reply(Assistant(body.decode() or "?"), "stop", Usage())
""",
    ),
    _wire(
        "takes a dropped stream for a whole one",
        "test_a_dropped_stream_is_no_answer",
        """
def stream_parser(self, request):
    parser = OpenAICompat.stream_parser(self, request)
    class Lenient:
        text = ""
        def feed(self, event):
            deltas = parser.feed(event)
            self.text += "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
            return deltas
        def finish(self):
            try:
                return parser.finish()
            except FaultError:
                return Reply(Assistant(self.text), "stop", Usage(complete=False))
    return Lenient()
""",
    ),
    _wire(
        "tries everything again",
        "test_what_no_retry_can_help_is_sent_once",
        "def classify(self, status, headers, body):\n    return Fault('server', 'trouble', status, True)",
    ),
    _wire(
        "tries a wrong key again",
        "test_a_wrong_key_is_said_and_not_tried_again",
        "def classify(self, status, headers, body):\n    return Fault('auth', 'wrong key', status, True)",
    ),
    _provider(
        "reads on when nobody listens",
        "test_a_consumer_that_leaves_closes_the_response",
        """
async def stream(self, request):
    import asyncio
    read = asyncio.Queue()
    async def pump():
        async for delta in HttpProvider.stream(self, request):
            read.put_nowait(delta)
    self.work = asyncio.create_task(pump())
    while True:
        delta = await read.get()
        yield delta
        if isinstance(delta, Finished):
            return
""",
    ),
    _provider(
        "takes being cancelled for an answer",
        "test_a_run_that_is_cancelled_closes_the_response",
        """
async def stream(self, request):
    import asyncio
    try:
        async for delta in HttpProvider.stream(self, request):
            yield delta
    except asyncio.CancelledError:
        asyncio.current_task().uncancel()
        yield Finished(Reply(Assistant("?"), "stop", Usage()))
""",
    ),
    _provider(
        "tells the key to everyone", "test_no_error_shows_a_secret", "def _redacted(self, fault):\n    return fault"
    ),
]

_NOISE = [
    _provider(
        "takes chunks for events",
        "test_other_bytes_for_the_same_words_make_the_same_reply",
        """
async def _streamed(self, response, request):
    parser = self.wire.stream_parser(request)
    async for chunk in response.chunks():
        for line in chunk.decode("utf-8", "replace").splitlines():
            if line.startswith("data: "):
                for delta in parser.feed(StreamEvent(("", line[6:]))):
                    yield delta
    yield Finished(parser.finish())
""",
    ),
    _provider(
        "reads characters that are not whole",
        "test_a_reply_that_trickles_is_read_exactly",
        """
async def _streamed(self, response, request):
    parser, text = self.wire.stream_parser(request), ""
    async for chunk in response.chunks():
        text += chunk.decode("utf-8", "replace")
    for line in text.splitlines():
        if line.startswith("data: "):
            for delta in parser.feed(StreamEvent(("", line[6:]))):
                yield delta
    yield Finished(parser.finish())
""",
    ),
    _wire(
        "trusts the vendor",
        "test_one_odd_value_anywhere_is_a_reply_or_a_fault",
        """
def parse(self, body, request):
    json.loads(body)["choices"][0]["message"]["content"].strip()
    return OpenAICompat.parse(self, body, request)
""",
    ),
    _wire(
        "trusts each event",
        "test_any_json_is_a_reply_or_a_fault",
        """
def stream_parser(self, request):
    parser = OpenAICompat.stream_parser(self, request)
    class Trusting:
        finish = parser.finish
        def feed(self, event):
            if event.data != "[DONE]":
                json.loads(event.data)["choices"]
            return parser.feed(event)
    return Trusting()
""",
    ),
    _wire(
        "trusts errors",
        "test_any_bytes_with_an_error_are_a_fault",
        "def classify(self, status, headers, body):\n"
        "    return Fault('server', json.loads(body)['error']['message'], status, status != 400)",
    ),
    _sends(
        "shortens ids",
        "test_any_history_becomes_a_request_that_the_vendor_takes",
        "for one in message.get('tool_calls', ()):\n    one['id'] = one['id'][:1]",
    ),
    _wire(
        "sends what another vendor sealed",
        "test_any_history_becomes_a_request_that_the_vendor_takes",
        """
def build(self, request, base_url):
    sealed = [str(one.native) for one in request.messages if isinstance(one, Assistant) and one.native]
    made = OpenAICompat.build(self, request, base_url)
    body = json.loads(made.body)
    if sealed:
        body["user"] = sealed[0]
    return HttpRequest(made.url, json.dumps(body).encode())
""",
    ),
]

_INSIDE = [
    _parrot(
        "shows one thing and says another",
        "test_the_deltas_are_the_reply",
        """
async def stream(self, request):
    async for delta in super().stream(request):
        yield TextDelta(delta.text.upper()) if isinstance(delta, TextDelta) else delta
""",
    ),
    _parrot(
        "changes the caller's request",
        "test_a_request_is_left_as_it_was",
        """
async def stream(self, request):
    request.messages = (*request.messages, User("one more"))
    async for delta in super().stream(request):
        yield delta
""",
    ),
    _parrot("does not keep to the form", "test_a_form_is_kept", "def text(self, request):\n    return 'a parrot'"),
    _parrot(
        "chooses nobody",
        "test_a_choice_is_one_of_those_on_offer",
        "def text(self, request):\n    return json.dumps({'agent': 'nobody', 'reason': 'none'})",
    ),
    _parrot(
        "gives all calls one id",
        "test_calls_are_of_tools_on_offer_and_have_ids_of_their_own",
        "def calls(self, request):\n    return tuple(ToolCall('call', one.name, {}) for one in request.tools)",
    ),
    _parrot(
        "calls although nobody wants it",
        "test_calls_are_of_tools_on_offer_and_have_ids_of_their_own",
        "def calls(self, request):\n    return tuple(ToolCall(one.name, one.name, {}) for one in request.tools)",
    ),
    _parrot(
        "breaks on results",
        "test_a_run_with_tools_ends_and_every_call_is_answered",
        "def text(self, request):\n    return request.messages[-1].text",
    ),
    _parrot(
        "keeps its words in itself",
        "test_many_requests_at_once_are_each_answered",
        """
def text(self, request):
    self.said = super().text(request)
    return self.said
def pieces(self, request, text):
    for at in range(0, 40, 4):
        yield self.said[at : at + 4]
""",
    ),
    _parrot(
        "stays on its first event loop",
        "test_one_event_loop_after_another_may_use_it",
        """
loop = None
async def stream(self, request):
    self.loop = self.loop or asyncio.get_running_loop()
    if self.loop is not asyncio.get_running_loop():
        raise RuntimeError("attached to a different loop")
    async for delta in super().stream(request):
        yield delta
""",
    ),
    _parrot(
        "takes being cancelled for an answer",
        "test_cancellation_stops_it_at_once",
        """
async def stream(self, request):
    try:
        async for delta in super().stream(request):
            yield delta
    except asyncio.CancelledError:
        yield Finished(Reply(Assistant("?"), "stop", Usage()))
""",
    ),
    _parrot(
        "talks on when nobody listens",
        "test_leaving_the_stream_stops_it_at_once",
        """
free = 0.0
async def stream(self, request):
    await asyncio.sleep(max(0, self.free - time.monotonic()))
    self.free = time.monotonic() + 0.6
    async for delta in super().stream(request):
        yield delta
    self.free = 0.0
""",
    ),
    _parrot("knows no deadline", "test_a_deadline_is_kept", "def late(self, request):\n    return False"),
    _parrot(
        "stops the event loop",
        "test_the_event_loop_runs_on_while_it_works",
        "def text(self, request):\n    time.sleep(0.6)\n    return super().text(request)",
    ),
    _parrot(
        "knows only texts",
        "test_any_history_is_answered_or_refused_in_words",
        "def text(self, request):\n    return request.messages[-1].content.strip()",
    ),
]

PROVIDER_MUTANTS = [*_SAID, *_CALLS, *_WRONG, *_NOISE, *_INSIDE]
