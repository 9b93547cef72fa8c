"""What a provider makes of trouble: every failure is a `ProviderError` whose fault says what it was and what helps."""

from __future__ import annotations

import httpx
import pytest

from officellm.errors import ProviderError
from officellm.messages import Delta, Request
from officellm.testing.contracts.base import KEY, key_in_environment, run
from officellm.testing.contracts.exchanges import WithExchanges, essence, reply_of, text_of
from officellm.testing.contracts.playback import Answer, Exchange, Playback
from officellm.wire import Fault, FaultKind

_WORDS = b'{"error": {"message": "contract trouble"}}'
_HTML = b"<html><body><h1>contract trouble</h1></body></html>"
_STATUSES: dict[int, tuple[FaultKind, bool]] = {
    400: ("bad_request", False),
    401: ("auth", False),
    403: ("auth", False),
    404: ("bad_request", False),
    429: ("rate_limit", True),
    500: ("server", True),
    502: ("server", True),
    503: ("overloaded", True),
    529: ("overloaded", True),
}
_BODIES = {
    "empty": b"",
    "html": _HTML,
    "cut": b'{"id": "x", "choi',
    "null": b"null",
    "list": b"[]",
    "number": b"7",
    "other-shape": b'{"weather": "fine"}',
    "no-utf8": b"\xff\xfe\x00",
    "deep": b"[" * 20_000,
}
_LOST = {
    "refused": (httpx.ConnectError("refused"), "network"),
    "reset": (httpx.ReadError("reset"), "network"),
    "protocol": (httpx.RemoteProtocolError("broken"), "network"),
    "slow": (httpx.ReadTimeout("slow"), "timeout"),
}


class ProviderFaults(WithExchanges):
    """The part of the provider suite that is about failure."""

    def failure(self, http: Playback, request: Request) -> ProviderError:
        """The error that a request comes to."""
        with pytest.raises(ProviderError) as caught:
            run(self.deltas(self.provider(http), request))
        return caught.value

    async def watched(self, http: Playback, request: Request) -> tuple[list[Delta], ProviderError | None]:
        """What a watcher saw, and the error that it ended in."""
        shown: list[Delta] = []
        try:
            async for delta in self.provider(http).stream(request):
                shown.append(delta)
        except ProviderError as error:
            return shown, error
        return shown, None

    @pytest.mark.parametrize("body", [_WORDS, _HTML, b""], ids=["json", "html", "empty"])
    @pytest.mark.parametrize("status", _STATUSES)
    def test_a_status_becomes_a_fault(self, status: int, body: bytes) -> None:
        """With its kind, whether to retry, and what the server said; a request without retries is sent once."""
        http = Playback(Answer(status=status, chunks=[body]))
        fault = self.failure(http, self.request()).fault
        assert (fault.kind, fault.retryable) == _STATUSES[status]
        assert fault.status == status
        assert fault.message.strip()
        assert "<" not in fault.message, "markup is not for people"
        if body == _WORDS:
            assert "contract trouble" in fault.message
        assert len(http.sent) == 1
        assert http.bodies[0].closed

    def test_an_error_of_the_vendor_becomes_its_fault(self, failed: Exchange) -> None:
        """Also inside a 200 and inside a stream."""
        fault = self.failure(Playback(Answer.of(failed)), self.request(failed)).fault
        assert (fault.kind, fault.retryable) == (failed.fault, failed.retryable)

    def test_the_wait_that_a_server_asks_for_is_read(self) -> None:
        """From `Retry-After`, in seconds."""
        headers = {"retry-after": "7", "content-type": "application/json"}
        fault = self.failure(Playback(Answer(status=429, headers=headers, chunks=[_WORDS])), self.request()).fault
        assert fault.retry_after == 7

    @pytest.mark.parametrize("body", _BODIES.values(), ids=_BODIES)
    def test_a_broken_body_is_a_fault(self, body: bytes) -> None:
        """A 200 with nonsense in it is no reply, and no random exception; asking again may help."""
        fault = self.failure(Playback(Answer(chunks=[body])), self.request()).fault
        assert fault.retryable
        assert fault.message.strip()

    @pytest.mark.parametrize("body", _BODIES.values(), ids=_BODIES)
    def test_a_broken_stream_is_a_fault(self, stream: Exchange, body: bytes) -> None:
        """The same, where a stream was asked for."""
        chunks = [b"data: " + body + b"\n\n"]
        fault = self.failure(Playback(Answer.of(stream, chunks)), self.request(stream)).fault
        assert fault.retryable

    @pytest.mark.parametrize(("error", "kind"), _LOST.values(), ids=_LOST)
    def test_a_lost_connection_is_a_fault(self, error: Exception, kind: str) -> None:
        """Before the reply, and in the middle of it."""
        for answer in (error, Answer(chunks=[b"{"], error=error)):
            fault = self.failure(Playback(answer), self.request()).fault
            assert (fault.kind, fault.retryable, fault.status) == (kind, True, None)

    def test_a_cut_stream_never_looks_whole(self, stream: Exchange) -> None:
        """Cut anywhere, it is a fault or the whole reply: never a shorter one. A fault keeps what was shown."""
        wanted = essence(reply_of(self.play(stream)))[:-1]
        step = max(1, len(stream.body) // 128)
        faults = 0

        async def cut(at: int) -> None:
            nonlocal faults
            shown, error = await self.watched(Playback(Answer.of(stream, [stream.body[:at]])), self.request(stream))
            if error is None:
                assert essence(reply_of(shown))[:-1] == wanted, f"cut after {at} bytes"
                return
            faults += 1
            assert error.retryable
            assert error.partial == text_of(shown)

        async def everywhere() -> None:
            for at in range(0, len(stream.body), step):
                await cut(at)

        run(everywhere(), seconds=120)
        assert faults, "no cut was noticed"

    def test_a_failed_request_is_sent_again_as_often_as_asked(self, exchange: Exchange) -> None:
        """Told beforehand, after the wait that the server asked for; then the reply is as good as any."""
        told: list[tuple[int, str, float]] = []

        def on_retry(attempt: int, fault: Fault, seconds: float) -> None:
            told.append((attempt, fault.kind, seconds))

        busy = Answer(status=429, headers={"retry-after": "3"}, chunks=[_WORDS])
        http = Playback(busy, httpx.ConnectError("refused"), Answer.of(exchange))
        request = self.request(exchange, retries=2, on_retry=on_retry)
        reply = reply_of(run(self.deltas(self.provider(http), request)))
        assert reply.message.text == exchange.text
        assert [(attempt, kind) for attempt, kind, _ in told] == [(1, "rate_limit"), (2, "network")]
        assert http.clock.slept[0] == told[0][2] == 3
        assert len({sent.content for sent in http.sent}) == 1

    def test_retries_end(self) -> None:
        """One try and as many more as asked, and the error counts them; what cannot help is not tried again."""
        http = Playback(Answer(status=503, chunks=[_WORDS]))
        assert self.failure(http, self.request(retries=2)).attempts == len(http.sent) == 3
        http = Playback(Answer(status=401, chunks=[_WORDS]))
        assert self.failure(http, self.request(retries=2)).attempts == len(http.sent) == 1

    def test_a_wait_beyond_the_deadline_fails_at_once(self) -> None:
        """A run that has 5 seconds left does not sleep for 60."""
        http = Playback(Answer(status=429, headers={"retry-after": "60"}, chunks=[_WORDS]))
        self.failure(http, self.request(retries=3, deadline=http.clock.monotonic() + 5))
        assert len(http.sent) == 1
        assert not http.clock.slept

    def test_text_that_was_shown_is_not_sent_for_again(self, stream: Exchange) -> None:
        """A second reply would not continue the first."""
        lost = httpx.ReadError("reset")
        for at in range(1, len(stream.body), max(1, len(stream.body) // 32)):
            http = Playback(Answer.of(stream, [stream.body[:at]], error=lost), Answer.of(stream))
            shown, error = run(self.watched(http, self.request(stream, retries=1)))
            if error is None:
                assert text_of(shown) == stream.text
            else:
                assert error.partial == text_of(shown)
                assert len(http.sent) == 1

    def test_no_error_shows_the_key(self) -> None:
        """Not even where the server repeats it."""
        body = b'{"error": {"message": "bad key %s"}}' % KEY.encode()
        with key_in_environment():
            error = self.failure(Playback(Answer(status=401, chunks=[body])), self.request())
        assert KEY not in f"{error!s} {error!r} {error.fault!r}"

    def test_the_key_never_goes_to_another_host(self) -> None:
        """A redirect elsewhere is a failure."""
        headers = {"location": "https://elsewhere.invalid/v1"}
        http = Playback(Answer(status=307, headers=headers), Answer(status=500, chunks=[_WORDS]))
        with key_in_environment():
            self.failure(http, self.request())
        assert not [sent for sent in http.sent if sent.url.host == "elsewhere.invalid"]
