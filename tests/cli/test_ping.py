"""`officellm check --ping` asks each service for its models, on every built-in wire."""

from __future__ import annotations

import json

import pytest

from officellm.testing import FakeLLM


@pytest.mark.parametrize("format", ["openai_compat", "anthropic", "gemini"])
def test_a_ping_lists_the_models_of_each_wire(bare, format):
    with FakeLLM.in_thread(["unused"], models=("m", "n", "o")) as llm:
        url = {"openai_compat": llm.openai_url, "anthropic": llm.anthropic_url, "gemini": llm.gemini_url}[format]
        team = (
            f"providers: {{p: {{format: {format}, base_url: '{url}', model: m}}}}\nagents: [{{name: a, provider: p}}]\n"
        )
        done = bare.run("check", "--ping", "--json", bare.write("team.yaml", team))

        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(done.stdout)["pings"] == [{"provider": "p", "models": 3, "error": None}]
        assert llm.refusals == []


def test_a_fallback_is_pinged_too_and_named_where_it_is_unknown(bare):
    with FakeLLM.in_thread(["unused"], models=("m",)) as llm:
        blocks = f"providers: {{p: {{format: openai_compat, base_url: '{llm.openai_url}', model: m}}, q: "
        blocks += f"{{format: anthropic, base_url: '{llm.anthropic_url}', model: m}}}}\n"
        team = bare.write("team.yaml", blocks + "agents: [{name: a, provider: p, fallback: ['q:m']}]\n")
        good = bare.run("check", "--ping", "--json", team)
        team.write_text(blocks + "agents: [{name: a, provider: p, fallback: ['qq:m']}]\n", encoding="utf-8")
        bad = bare.run("check", team)

    assert [ping["provider"] for ping in json.loads(good.stdout)["pings"]] == ["p", "q"]
    assert bad.returncode == 2
    assert "team.yaml:2" in bad.stdout
    assert "unknown provider 'qq'" in bad.stdout
