"""The preset of this name, which speaks chat completions, is none of this package's business."""

from __future__ import annotations

from officellm import Agent, Office
from officellm.testing import FakeLLM


def test_the_preset_of_that_name_stays_what_it_is(monkeypatch):
    with FakeLLM.in_thread(["Hello"]) as llm:
        monkeypatch.setenv("MISTRAL_BASE_URL", llm.openai_url)
        result = Office(Agent("guide", model="mistral:some-model", settings={"seed": 7})).run_sync("Hi")

    assert result.content == "Hello"
    assert [(record.wire, record.body["seed"]) for record in llm.requests] == [("openai", 7)]
