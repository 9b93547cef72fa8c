"""What holds for every driver, of whatever kind: how it is packaged, bound, configured and printed.

The suites go through the entry point and the host, as an office does, and need no network and no plugin of pytest.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar, get_args

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, SecretBytes, SecretStr

from officellm import provenance
from officellm.errors import ConfigError
from officellm.hookspecs import PROJECT
from officellm.host import Host
from officellm.kinds import Kind

T = TypeVar("T")

#: The environment variable that holds a key while a suite runs, and the key, which nothing may show.
KEY_VARIABLE = "OFFICELLM_CONTRACT_KEY"
KEY = "ThisIsTheKeyOfTheContract"
#: Packages that a driver may import when it is made, never when it is imported.
SDKS = frozenset(
    {"anthropic", "boto3", "botocore", "cohere", "google.genai", "google.generativeai", "groq", "huggingface_hub"}
    | {"langchain", "langchain_core", "litellm", "llama_cpp", "mistralai", "ollama", "openai", "replicate"}
    | {"tiktoken", "together", "torch", "transformers", "vertexai", "vllm"}
)
_SECRET = re.compile(r"(^|_)(api_?key|key|secret|password|passphrase|token)$")
_TURNS = 10
_IMPORT = "import importlib, sys; importlib.import_module(sys.argv[1]); print(*sorted(sys.modules))"


def run(work: Coroutine[Any, Any, T], *, seconds: float = 30.0) -> T:
    """What the coroutine returns. Fails where it takes too long or leaves a task behind."""

    async def watched() -> T:
        try:
            async with asyncio.timeout(seconds):
                return await work
        finally:
            # httpx leaves its inner generators to the loop, which closes them within a few turns.
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            left = asyncio.all_tasks() - {asyncio.current_task()}
            assert not left, f"tasks left behind: {sorted(task.get_name() for task in left)}"

    return asyncio.run(watched())


@contextmanager
def key_in_environment() -> Iterator[None]:
    """The key stands in `KEY_VARIABLE`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_VARIABLE, KEY)
        yield


class Suite:
    """A driver by the name of its entry point, with the settings that a team file would give it.

    A test that your driver cannot pass may be overridden only with `@pytest.mark.xfail(reason="...")`.
    """

    kind: ClassVar[Kind]
    #: The name of the driver's entry point.
    name: ClassVar[str]
    settings: ClassVar[Mapping[str, Any]] = {}

    def host(self) -> Host:
        """A host without extensions: the driver alone answers."""
        return Host(discover=False)

    def read_settings(self, host: Host, **settings: Any) -> BaseModel | None:
        """The driver's validated settings, with `settings` over the suite's own."""
        return host.settings(self.kind, self.name, {**self.settings, **settings})

    def test_no_standard_test_is_overridden(self) -> None:
        """Only with `@pytest.mark.xfail(reason=...)`: whoever reads the suite learns what the driver cannot do."""
        own = type(self)
        for name in (name for name in dir(own) if name.startswith("test_")):
            holders = [holder for holder in own.__mro__ if name in vars(holder)]
            if _is_suite(holders[0]) or not any(map(_is_suite, holders)):
                continue
            marks = getattr(vars(holders[0])[name], "pytestmark", [])
            reasons = [mark.kwargs.get("reason") for mark in marks if mark.name == "xfail"]
            assert any(reasons), f"{name} is overridden without @pytest.mark.xfail(reason=...)"


class Contract(Suite):
    """Subclass the suite of your driver's kind in a test file, as `class TestMine(RouterContract): name = "mine"`."""

    def make(self, **settings: Any) -> Any:
        """The driver made, with `settings` over the suite's own."""
        raise NotImplementedError

    def model(self) -> type[BaseModel] | None:
        """The driver's settings model."""
        return self.host().settings_model(self.kind, self.name)

    def test_it_is_installed_exactly_once(self) -> None:
        """One package offers this name."""
        found = [offer.package for offer in provenance.offers_of(self.kind.group, self.name)]
        assert len(found) == 1, f"{self.kind.group} {self.name!r} is offered by: {', '.join(found) or 'nobody'}"

    def test_importing_it_loads_no_vendor_sdk(self) -> None:
        """An SDK is imported by the factory, so that a team that does not use it never pays for it."""
        (offer,) = provenance.offers_of(self.kind.group, self.name)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-c", _IMPORT, offer.module]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        assert not SDKS.intersection(done.stdout.split())

    def test_its_hooks_fit(self) -> None:
        """It can be bound, and it answers the hook of its kind."""
        plugin = self.host().driver(self.kind, self.name)
        hook = inspect.getattr_static(plugin, self.kind.hook, None)
        assert hasattr(hook, f"{PROJECT}_impl"), f"{self.kind.hook} is missing or not marked with @hookimpl"

    def test_its_settings_have_a_schema(self) -> None:
        """A team file can be checked and completed by an editor."""
        model = self.model()
        if model is None:
            pytest.skip("the driver takes no settings")
        schema = model.model_json_schema()
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"

    def test_unknown_settings_are_refused(self) -> None:
        """A typo in a team file is an error that names the key."""
        with pytest.raises(ConfigError, match="no_such_setting"):
            self.read_settings(self.host(), no_such_setting=1)

    def test_secrets_are_hidden_in_its_settings(self) -> None:
        """A field that holds a secret is a `SecretStr`, so that no log and no error shows it."""
        model = self.model()
        if model is None:
            pytest.skip("the driver takes no settings")
        named = {name for name in model.model_fields if _SECRET.search(name)}
        assert not named - _hidden(model), "make these a SecretStr"

    def test_it_makes_what_its_kind_promises(self) -> None:
        """The host checks the protocol; two of them are two objects, for two runs."""
        assert self.make() is not self.make()

    def test_it_shows_no_key(self) -> None:
        """Neither the settings nor the driver print a key."""
        model = self.model()
        secret = dict.fromkeys(_hidden(model) if model is not None else (), KEY)
        with key_in_environment():
            for shown in (self.read_settings(self.host(), **secret), self.make(**secret)):
                assert KEY not in f"{shown!r} {shown!s}"


def _hidden(model: type[BaseModel]) -> set[str]:
    """The fields that pydantic never prints."""
    return {
        name
        for name, field in model.model_fields.items()
        if {field.annotation, *get_args(field.annotation)} & {SecretStr, SecretBytes}
    }


def _is_suite(holder: type) -> bool:
    return holder.__module__.startswith("officellm.testing.contracts.")
