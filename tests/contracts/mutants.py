"""The gallery of broken plugins: what each breaks, in code, and the test of the contract that must notice."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """`defect` is written after the source of the plugin `sound`; `test` must fail then, and pass without it."""

    name: str
    sound: str
    defect: str
    test: str


_MAKE_ROUTER = "@hookimpl\ndef make_router(name, settings, ask):\n    "


def mine(sound: str, name: str, test: str, body: str, base: str = "Mine") -> Mutant:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    return Mutant(name, sound, f"class {base}({base}):\n{lines}\n", test)


def _provider(name: str, test: str, body: str) -> Mutant:
    return mine("provider", name, test, body)


def _wire(name: str, test: str, body: str) -> Mutant:
    return mine("provider", name, test, body, "Wire")


def _router(name: str, test: str, body: str) -> Mutant:
    return mine("router", name, test, body)


def _orchestrator(name: str, test: str, body: str) -> Mutant:
    return mine("orchestrator", name, test, body)


def _catalog(name: str, test: str, body: str) -> Mutant:
    return mine("catalog", name, test, body)


def _limit(name: str, test: str, body: str) -> Mutant:
    return mine("limit", name, test, body)


_PACKAGING = [
    Mutant("loads an SDK at import", "router", "import openai", "test_importing_it_loads_no_vendor_sdk"),
    Mutant(
        "async hook",
        "router",
        "@hookimpl\nasync def make_router(name, settings, ask):\n    return Mine(settings, ask)",
        "test_its_hooks_fit",
    ),
    Mutant(
        "unknown hook argument",
        "router",
        "@hookimpl\ndef make_router(name, options):\n    return Mine(options, None)",
        "test_its_hooks_fit",
    ),
    Mutant("hook without a mark", "router", "def make_router(name, settings, ask):\n    pass", "test_its_hooks_fit"),
    Mutant(
        "takes any setting",
        "router",
        "class Settings(BaseModel):\n    token: SecretStr | None = None",
        "test_unknown_settings_are_refused",
    ),
    Mutant(
        "a secret that is a text",
        "router",
        "class Settings(Settings):\n    api_key: str = ''",
        "test_secrets_are_hidden_in_its_settings",
    ),
    Mutant(
        "a schema that cannot be made",
        "router",
        "from typing import Callable\nclass Settings(Settings):\n    hook: Callable[[], int] | None = None",
        "test_its_settings_have_a_schema",
    ),
    _router(
        "shows its secret",
        "test_it_shows_no_key",
        "def __repr__(self):\n    return f'Mine({self.settings.token and self.settings.token.get_secret_value()})'",
    ),
    Mutant(
        "one for all",
        "router",
        f"ONE = Mine(None, None)\n{_MAKE_ROUTER}return ONE",
        "test_it_makes_what_its_kind_promises",
    ),
    Mutant(
        "makes something else",
        "router",
        f"{_MAKE_ROUTER}return object()",
        "test_it_makes_what_its_kind_promises",
    ),
    Mutant("makes nothing", "router", f"{_MAKE_ROUTER}return None", "test_it_makes_what_its_kind_promises"),
]

_PROVIDERS = [
    _wire(
        "makes up call ids",
        "test_a_reply_means_what_it_says",
        """
def parse(self, body, request):
    reply = OpenAICompat.parse(self, body, request)
    calls = tuple(ToolCall.parse("mine", one.name, one.raw) for one in reply.message.calls)
    return Reply(Assistant(reply.message.text, calls), reply.stop, reply.usage)
""",
    ),
    _provider(
        "takes chunks for events",
        "test_a_stream_is_the_same_however_it_is_cut",
        """
async def _streamed(self, response, request):
    parser = self.wire.stream_parser(request)
    async for chunk in response.aiter_bytes():
        for line in chunk.decode("utf-8", "replace").splitlines():
            if line.startswith("data: "):
                for delta in parser.feed(StreamEvent(("", line[6:]))):
                    yield delta
    yield Finished(parser.finish())
""",
    ),
    _provider(
        "knows one line end",
        "test_line_ends_do_not_matter",
        """
async def _streamed(self, response, request):
    parser, text = self.wire.stream_parser(request), ""
    async for chunk in response.aiter_bytes():
        text += chunk.decode()
    for block in text.split("\\n\\n"):
        if block.startswith("data: ") and "\\r" not in block:
            for delta in parser.feed(StreamEvent(("", block[6:]))):
                yield delta
    yield Finished(parser.finish())
""",
    ),
    _wire(
        "counts reasoning twice",
        "test_usage_is_counted_or_said_to_be_unknown",
        """
def parse(self, body, request):
    reply = OpenAICompat.parse(self, body, request)
    return Reply(reply.message, reply.stop, Usage(reply.usage.input, reply.usage.output, cached=reply.usage.input + 1))
""",
    ),
    _wire(
        "says other things when it streams",
        "test_streaming_and_not_give_the_same_reply",
        """
def parse(self, body, request):
    reply = OpenAICompat.parse(self, body, request)
    return Reply(Assistant(reply.message.text.upper(), reply.message.calls), reply.stop, reply.usage)
""",
    ),
    _wire(
        "retries everything",
        "test_a_status_becomes_a_fault",
        "def classify(self, status, headers, body):\n    return Fault('server', 'trouble', status, True)",
    ),
    _wire(
        "ignores the server's wait",
        "test_the_wait_that_a_server_asks_for_is_read",
        "def classify(self, status, headers, body):\n    return OpenAICompat.classify(self, status, {}, body)",
    ),
    _wire(
        "breaks on a broken body",
        "test_a_broken_body_is_a_fault",
        """
def parse(self, body, request):
    json.loads(body)["choices"][0]
    return OpenAICompat.parse(self, body, request)
""",
    ),
    _wire(
        "takes a cut stream for a whole one",
        "test_a_cut_stream_never_looks_whole",
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
        "keeps a parser between requests",
        "test_one_provider_serves_many_requests_at_once",
        """
def stream_parser(self, request):
    if not hasattr(self, "kept"):
        self.kept = OpenAICompat.stream_parser(self, request)
    return self.kept
""",
    ),
    _wire(
        "puts the key into the address",
        "test_the_key_travels_in_a_header_and_nowhere_else",
        """
def build(self, request, base_url):
    import os
    made = OpenAICompat.build(self, request, base_url)
    return HttpRequest(made.url + "?key=" + os.environ.get(self._settings.api_key_env, ""), made.body)
""",
    ),
    _wire(
        "changes the caller's request",
        "test_the_same_request_is_sent_the_same_and_left_as_it_was",
        """
def build(self, request, base_url):
    request.messages = (*request.messages, User("one more"))
    return OpenAICompat.build(self, request, base_url)
""",
    ),
    _wire(
        "puts chance into the body",
        "test_the_same_request_is_sent_the_same_and_left_as_it_was",
        """
count = itertools.count()
def build(self, request, base_url):
    made = OpenAICompat.build(self, request, base_url)
    return HttpRequest(made.url, made.body + b" " * next(self.count))
""",
    ),
    _wire(
        "forgets call ids",
        "test_call_ids_go_back_to_the_vendor",
        """
def build(self, request, base_url):
    made = OpenAICompat.build(self, request, base_url)
    return HttpRequest(made.url, made.body.replace(b"call_1", b"call_x"))
""",
    ),
    _provider(
        "retries for ever",
        "test_retries_end",
        """
async def stream(self, request):
    request.retries += 2
    async for delta in HttpProvider.stream(self, request):
        yield delta
""",
    ),
    _provider(
        "sends again what was shown",
        "test_text_that_was_shown_is_not_sent_for_again",
        """
async def stream(self, request):
    try:
        async for delta in HttpProvider.stream(self, request):
            yield delta
    except ProviderError:
        async for delta in HttpProvider.stream(self, request):
            yield delta
""",
    ),
    _provider(
        "swallows cancellation",
        "test_cancellation_closes_the_response",
        """
async def stream(self, request):
    import asyncio
    try:
        async for delta in HttpProvider.stream(self, request):
            yield delta
    except asyncio.CancelledError:
        yield Finished(Reply(Assistant("?"), "stop", Usage()))
""",
    ),
    _provider(
        "keeps the connection",
        "test_a_finished_response_is_closed",
        """
async def stream(self, request):
    made = self._build(request)
    response = await self._http().send(httpx.Request("POST", made.url, content=made.body), stream=True)
    yield Finished(self.wire.parse(b"".join([part async for part in response.stream]), request))
""",
    ),
    _provider(
        "shows the key in errors",
        "test_no_error_shows_the_key",
        "def _redacted(self, fault):\n    return fault",
    ),
    _provider(
        "follows a redirect anywhere",
        "test_the_key_never_goes_to_another_host",
        """
async def stream(self, request):
    made = self._build(request)
    sent = httpx.Request("POST", made.url, content=made.body, headers=self.wire.auth(self._key()))
    response = await self._http().send(sent, follow_redirects=True)
    raise ProviderError(self.name, Fault("server", "trouble", response.status_code))
    yield
""",
    ),
]

_ROUTERS = [
    _router(
        "chooses whomever the model names",
        "test_an_agent_that_is_not_on_offer_is_never_chosen",
        "def read(self, said, names):\n    return Choice(json.loads(said)['agent'])",
    ),
    _router(
        "does not listen to the model",
        "test_a_router_that_asks_follows_the_answer",
        "def read(self, said, names):\n    return Choice(names[0])",
    ),
    _router(
        "asks about one agent",
        "test_one_agent_needs_no_model",
        """
async def route(self, task, agents):
    names = [agent.name for agent in agents]
    return self.read(await self.say(task, names), names)
""",
    ),
    _router(
        "throws dice",
        "test_the_same_task_gets_the_same_answer",
        """
count = itertools.count()
def read(self, said, names):
    return Choice(names[next(self.count) % len(names)])
""",
    ),
    _router(
        "asks something new each time",
        "test_the_same_request_is_made_for_the_same_task",
        """
count = itertools.count()
async def say(self, task, names):
    return await super().say(task, [*names, str(next(self.count))])
""",
    ),
    _router(
        "breaks on garbage",
        "test_garbage_falls_back_or_is_a_route_error",
        "def read(self, said, names):\n    return Choice(json.loads(said)['agent'])",
    ),
    _router(
        "is sure beyond measure",
        "test_it_chooses_an_agent_on_offer",
        "def read(self, said, names):\n    return Choice(super().read(said, names).agent, '', 150.0)",
    ),
    _router(
        "makes its own error of a limit",
        "test_trouble_of_the_model_is_not_made_worse",
        """
async def say(self, task, names):
    try:
        return await super().say(task, names)
    except OfficeError:
        raise ValueError("no answer")
""",
    ),
    _router(
        "swallows cancellation",
        "test_it_is_cancelled_while_it_asks",
        """
async def say(self, task, names):
    try:
        return await super().say(task, names)
    except asyncio.CancelledError:
        return f'"{names[0]}"'
""",
    ),
    _router(
        "leaves a task behind",
        "test_it_chooses_an_agent_on_offer",
        """
async def say(self, task, names):
    self.task = asyncio.create_task(asyncio.Event().wait())
    return await super().say(task, names)
""",
    ),
]

_ORCHESTRATORS = [
    _orchestrator(
        "makes up answers",
        "test_a_success_says_what_a_model_said",
        """
async def work(self, task, desk):
    result = await super().work(task, desk)
    result.content = "All is well."
    return result
""",
    ),
    _orchestrator(
        "calls a failure a success",
        "test_it_never_calls_a_failure_a_success",
        """
async def work(self, task, desk):
    result = await super().work(task, desk)
    return AgentResult(agent=result.agent, stop_reason=StopReason.SUCCESS, content=result.content or "done")
""",
    ),
    _orchestrator(
        "works without a model",
        "test_it_ends_under_every_limit",
        """
async def work(self, task, desk):
    return AgentResult(agent=desk.entry, stop_reason=StopReason.SUCCESS, content="done")
""",
    ),
    _orchestrator(
        "fails without a word",
        "test_it_never_calls_a_failure_a_success",
        """
async def work(self, task, desk):
    result = await super().work(task, desk)
    result.error = None
    return result
""",
    ),
    _orchestrator(
        "swallows cancellation",
        "test_it_is_cancelled_at_any_point",
        """
async def work(self, task, desk):
    try:
        return await super().work(task, desk)
    except asyncio.CancelledError:
        return AgentResult(agent=desk.entry, stop_reason=StopReason.FAILED, error="cancelled")
""",
    ),
    _orchestrator(
        "leaves an agent at work",
        "test_it_is_cancelled_at_any_point",
        """
async def work(self, task, desk):
    self.task = asyncio.create_task(desk.call("writer"))
    await asyncio.shield(self.task)
    return await super().work(task, desk)
""",
    ),
    _orchestrator(
        "throws dice",
        "test_the_same_replies_make_the_same_run",
        """
count = itertools.count()
async def work(self, task, desk):
    return await desk.call(sorted(desk.agents)[next(Mine.count) % 2])
""",
    ),
    _orchestrator(
        "returns nothing",
        "test_it_works_a_task_through",
        "async def work(self, task, desk):\n    await desk.call(desk.entry)",
    ),
]

_CATALOGS = [
    _catalog(
        "a name that no vendor takes",
        "test_its_tools_have_legal_names",
        "async def tools(self):\n    return [ToolSpec('add.two', 'Adds', SPEC.parameters)]",
    ),
    _catalog("one name twice", "test_its_tools_have_legal_names", "async def tools(self):\n    return [SPEC, SPEC]"),
    _catalog(
        "a schema that is none",
        "test_its_schemas_are_json_schemas",
        "async def tools(self):\n    return [ToolSpec('add', 'Adds', {'type': 'object', 'properties': 5})]",
    ),
    _catalog(
        "no description",
        "test_its_tools_are_described",
        "async def tools(self):\n    return [ToolSpec('add', ' ', SPEC.parameters)]",
    ),
    _catalog(
        "another order each time",
        "test_its_order_is_stable",
        """
count = itertools.count()
async def tools(self):
    found = await super().tools()
    return found[::-1] if next(self.count) % 2 else found
""",
    ),
    _catalog(
        "no answer to an unknown tool",
        "test_an_unknown_tool_is_a_tool_error",
        """
async def call(self, name, arguments, context):
    return await super().call(name, arguments, context) if name == "add" else None
""",
    ),
    _catalog(
        "breaks on wrong arguments",
        "test_wrong_arguments_are_an_error_in_words",
        "async def call(self, name, arguments, context):\n    return await self.run(arguments)",
    ),
    _catalog(
        "changes the history",
        "test_arguments_are_left_as_they_were",
        "async def run(self, arguments):\n    return arguments.pop('a') + 1",
    ),
    _catalog(
        "one call at a time",
        "test_many_calls_run_at_once",
        """
now = None
async def run(self, arguments):
    self.now = arguments["a"]
    await asyncio.sleep(0)
    return self.now + 1
""",
    ),
]

_LIMITS = [
    _limit(
        "counts when the work is done",
        "test_work_at_the_same_time_is_not_oversold",
        """
def reserve(self, spend):
    reservation = super().reserve(spend)
    self.used -= reservation is not None
    return reservation
def settle(self, reservation, spend, spent):
    self.used += spent.usage.requests
""",
    ),
    _limit(
        "keeps what was not spent",
        "test_work_that_did_not_happen_is_given_back",
        "def settle(self, reservation, spend, spent):\n    pass",
    ),
    _limit(
        "gives back what was spent",
        "test_no_order_of_events_oversells",
        "def settle(self, reservation, spend, spent):\n    self.used -= reservation is not None",
    ),
    Mutant(
        "zero is no limit",
        "limit",
        "@hookimpl\ndef make_limit_policy(name, settings, clock):\n    return Mine(settings.most or None)",
        "test_work_one_after_the_other_fits_as_often_as_allowed",
    ),
    Mutant(
        "None is zero",
        "limit",
        "@hookimpl\ndef make_limit_policy(name, settings, clock):\n    return Mine(settings.most or 0)",
        "test_none_does_not_limit",
    ),
    _limit(
        "one too many",
        "test_work_one_after_the_other_fits_as_often_as_allowed",
        "def __init__(self, most):\n    super().__init__(most if most is None else most + 1)",
    ),
    _limit(
        "refuses with any error",
        "test_work_one_after_the_other_fits_as_often_as_allowed",
        "def refusal(self, spend):\n    return RuntimeError('too much')",
    ),
    _limit(
        "refuses without a reason",
        "test_a_refusal_says_what_and_why",
        "def refusal(self, spend):\n    return LimitReached('', self.used, self.most, 'enough')",
    ),
    _limit(
        "a purse for all runs",
        "test_two_runs_share_nothing",
        """
spent = {}
used = property(lambda self: Mine.spent.get(self.most, 0), lambda self, used: Mine.spent.update({self.most: used}))
def __init__(self, most):
    self.most = most
""",
    ),
    _limit(
        "waits",
        "test_it_is_pure_accounting",
        "async def reserve(self, spend):\n    return super().reserve(spend)",
    ),
    _limit(
        "warns with numbers",
        "test_a_warning_is_a_text",
        "def settle(self, reservation, spend, spent):\n    return 7",
    ),
]

MUTANTS = [*_PACKAGING, *_PROVIDERS, *_ROUTERS, *_ORCHESTRATORS, *_CATALOGS, *_LIMITS]
