"""The suites that every provider passes: over golden replies, and in an office."""

from __future__ import annotations

from officellm.testing import Exchange, ProviderContract, ProviderOfficeContract

from .samples import USAGE, function_call, message, reasoning, sse, streamed, whole

TEXT = "Low tide at 6 – bring boots."
CALLS = [("call_1", "search", {"query": "Gezeiten–Tümpel"}), ("call_2", "clock", {})]
CALLED = (
    reasoning(summary=[{"type": "summary_text", "text": "Both at once."}]),
    function_call("call_1", "search", '{"query": "Gezeiten–Tümpel"}', id="fc_1"),
    function_call("call_2", "clock", "{}", id="fc_2"),
)
CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
FAILED = {"status": "failed", "error": {"code": "server_error", "message": "The model failed."}}


class TestOpenAIResponses(ProviderContract):
    name = "openai_responses"
    exchanges = (
        Exchange(name="text", body=whole(message(TEXT), usage=USAGE), text=TEXT, usage=(20, 7)),
        Exchange(name="text", streamed=True, body=sse(*streamed(message(TEXT), usage=USAGE)), text=TEXT, usage=(20, 7)),
        Exchange(name="calls", body=whole(*CALLED, usage=USAGE), calls=CALLS, stop="tool_calls", usage=(20, 7)),
        Exchange(
            name="calls",
            streamed=True,
            body=sse(*streamed(*CALLED, usage=USAGE)),
            calls=CALLS,
            stop="tool_calls",
            usage=(20, 7),
        ),
        Exchange(name="no-counts", body=whole(message("fine")), text="fine"),
        Exchange(name="no-counts", streamed=True, body=sse(*streamed(message("fine"))), text="fine"),
        Exchange(name="cut", body=whole(message("Low"), usage=USAGE, **CUT), text="Low", stop="length", usage=(20, 7)),
        Exchange(
            name="cut",
            streamed=True,
            body=sse(*streamed(message("Low"), last="response.incomplete", usage=USAGE, **CUT)),
            text="Low",
            stop="length",
            usage=(20, 7),
        ),
        Exchange(
            name="quota",
            status=429,
            body=b'{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}',
            fault="quota",
        ),
        Exchange(
            name="too-long",
            status=400,
            body=b'{"error": {"message": "Your input exceeds the context window", "code": "context_length_exceeded"}}',
            fault="context_overflow",
        ),
        Exchange(
            name="error-as-text",
            status=400,
            body=b'{"code": "invalid-argument", "error": "Incorrect API key provided."}',
            fault="auth",
        ),
        Exchange(name="failed", body=whole(**FAILED), fault="server", retryable=True),
        Exchange(
            name="failed-in-stream",
            streamed=True,
            body=sse(*streamed(last="response.failed", **FAILED)),
            fault="server",
            retryable=True,
        ),
        Exchange(
            name="error-in-stream",
            streamed=True,
            body=sse({"type": "error", "code": "rate_limit_exceeded", "message": "Slow down.", "param": None}),
            fault="rate_limit",
            retryable=True,
        ),
    )


class TestOpenAIResponsesInAnOffice(ProviderOfficeContract):
    name = "openai_responses"

    def base_url(self, llm):
        return llm.responses_url
