"""One GGUF model loaded into this process with xllamacpp (llama.cpp): chat, meaning vectors, likelihoods. No messages.

A model is loaded once for the whole process, and freed when nobody holds it any more.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any
from weakref import WeakValueDictionary

from officellm import ConfigError, Fault, FaultError

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_KINDS: Mapping[str, Any] = {"exceed_context_size_error": "context_overflow", "invalid_request_error": "bad_request"}


class Stopped(Exception):  # noqa: N818 - an outcome, not a mistake
    """Work that was given up because nobody waits for it any more."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Tokens that one piece of work took."""

    read: int = 0
    written: int = 0
    cached: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.read + other.read, self.written + other.written, self.cached + other.cached)


@dataclass(frozen=True, slots=True)
class Written:
    """What the model wrote; `finish` is `stop` or `length`."""

    text: str
    finish: str
    counts: Counts


class Model:
    """A loaded model. Its methods block: call them on `worker`, one at a time, which is how the model works anyway."""

    def __init__(self, path: Path, threads: int, context: int) -> None:
        self.path = path
        self.worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="local-model")
        self._server = _start(path, threads, context)

    def chat(
        self, body: Mapping[str, Any], stop: threading.Event, show: Callable[[str], None] | None = None
    ) -> Written:
        """A chat completion; `show` gets each piece. Raises `FaultError`, and `Stopped` once `stop` is set."""
        pieces: list[str] = []
        last: dict[str, Any] = {}
        finish = ""

        def on_chunk(chunk: Mapping[str, Any]) -> bool:
            nonlocal finish
            last.update(chunk)
            for choice in chunk.get("choices") or ():
                piece = choice.get("delta", {}).get("content")
                finish = choice.get("finish_reason") or finish
                if piece:
                    pieces.append(piece)
                    if show is not None:
                        show(piece)
            return stop.is_set()

        asked = {**body, "stream": True, "stream_options": {"include_usage": True}}
        _served(self._server.handle_chat_completions, asked, on_chunk)
        if stop.is_set():
            raise Stopped
        _raise_error(last)
        return Written("".join(pieces), finish, _counts(last))

    def meanings(self, texts: Sequence[str], stop: threading.Event) -> tuple[list[list[float]], Counts]:
        """The hidden state at the end of each text, one at a time. Raises `FaultError` and `Stopped`."""
        vectors: list[list[float]] = []
        counts = Counts()
        for text in texts:
            if stop.is_set():
                raise Stopped
            reply = _served(self._server.handle_embeddings, {"input": [clean(text)]})
            vectors.append(reply["data"][0]["embedding"])
            counts += _counts(reply)
        return vectors, counts

    def likelihood(self, before: str, text: str, stop: threading.Event) -> tuple[float, Counts]:
        """The log-probability that `text` follows `before`. Raises `FaultError` and `Stopped`."""
        if stop.is_set():
            raise Stopped
        before, text = clean(before), _CONTROL.sub(" ", clean(text))
        # A grammar that allows `text` alone makes the model write it, and tell how probable each token was.
        reply = _served(
            self._server.handle_completions,
            {
                "prompt": before,
                "max_tokens": len(text.encode()) + 1,
                "temperature": 0,
                "logprobs": 1,
                "n_probs": 1,
                "grammar": f"root ::= {_literal(text)}",
                "cache_prompt": False,
            },
        )
        tokens = reply["choices"][0]["logprobs"]["content"]
        return sum(token["logprob"] for token in tokens), _counts(reply)


_loaded: WeakValueDictionary[tuple[Path, int, int], Model] = WeakValueDictionary()
_loading = threading.Lock()


def load(path: Path, threads: int, context: int) -> Model:
    """The model of this file, loaded where it is not yet. Blocks. Raises `ConfigError` where it cannot be."""
    key = (path, threads, context)
    with _loading:
        model = _loaded.get(key)
        if model is None:
            model = _loaded[key] = Model(path, threads, context)
        return model


def _start(path: Path, threads: int, context: int) -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise ConfigError(f"the local provider needs xllamacpp: pip install xllamacpp ({error})") from None
    if not path.is_file():
        raise ConfigError(f"there is no model file {str(path)!r}")
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_gpu_layers = 0
    params.verbosity = -1
    params.warmup = params.ui = False
    params.cache_ram_mib = 0
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_LAST
    # xllamacpp always listens on a loopback port. Nobody uses it, and without this key nobody can.
    params.port, params.n_threads_http, params.api_keys = 0, 1, [token_hex(32)]
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise ConfigError(f"the model file {str(path)!r} cannot be loaded: {error}") from None


def clean(text: str) -> str:
    """The text with what cannot be encoded replaced."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _literal(text: str) -> str:
    """A grammar's literal: printable ASCII as it stands, anything else by its code point."""
    plain = {"\\", '"'}
    shown = [c if " " <= c <= "~" and c not in plain else f"\\U{ord(c):08X}" for c in text]
    return '"' + "".join(shown) + '"'


def _served(handle: Callable[..., Any], *arguments: Any) -> Any:
    """What the server returned; it raises for some errors and returns others. Raises `FaultError`."""
    try:
        reply = handle(*arguments)
    except (ValueError, RuntimeError) as error:
        raise FaultError(Fault("bad_request", f"the model cannot take this request ({error})")) from None
    _raise_error(reply or {})
    return reply


def _counts(reply: Mapping[str, Any]) -> Counts:
    usage = reply.get("usage") or {}
    details = usage.get("prompt_tokens_details") or {}
    return Counts(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0), details.get("cached_tokens", 0))


def _raise_error(reply: Mapping[str, Any]) -> None:
    error = reply.get("error")
    if error is None:
        return
    kind = _KINDS.get(error.get("type", ""), "server")
    raise FaultError(Fault(kind, str(error.get("message", error)), error.get("code"), code=error.get("type")))
