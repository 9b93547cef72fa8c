"""Every way to write a team file wrong, with the line that is at fault; and that nothing else is ever raised."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from officellm.errors import ConfigError, ConfigErrors
from officellm.files.teamfile import load_team


def write(folder: Path, text: str, name: str = "team.yaml") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def refusal(path: Path) -> str:
    """What a team file is refused with, without the folder."""
    with pytest.raises(ConfigError) as error:
        load_team(path).office()
    return str(error.value).replace(f"{path.parent}/", "")


A = "agents:\n  - name: a\n    model: openai:m\n"

BROKEN = [
    ("agents: []\n", "team.yaml:1: agents: a team needs at least one agent"),
    ("version: 1\n", "team.yaml:1: agents: a team needs at least one agent"),
    ("- a\n", "team.yaml:1: a team file is a mapping with the key agents"),
    ("just words\n", "team.yaml:1: a team file is a mapping with the key agents"),
    ("agents: x\n", "team.yaml:1: agents: must be a list, not 'x'"),
    ("agents:\n  - 5\n", "team.yaml:2: agents[0]: must be a mapping, not 5"),
    ("agents:\n  - model: openai:m\n", "team.yaml:2: agents[0].name: required and missing"),
    ("agents:\n  - name: no\n    model: openai:m\n", "team.yaml:2: agents[0].name: must be text, not false: put it in"),
    ("agents:\n  - name: 1a\n    model: openai:m\n", "team.yaml:2: agents[0].name: the name '1a' is not legal"),
    (A + "  - {name: a, model: openai:m}\n", "team.yaml:4: agents[1].name: two agents are named 'a'"),
    (A + "  - {name: A, model: openai:m}\n", "team.yaml:4: agents[1].name: the names 'a' and 'A' differ only in case"),
    (A + "    promt: x\n", "team.yaml:4: agents[0].promt: unknown key. Available: capabilities, context_window, "),
    (A + "    systemPrompt: x\n", "team.yaml:4: agents[0].systemPrompt: unknown key. Did you mean 'system_prompt'?"),
    (A + "agnets: []\n", "team.yaml:4: agnets: unknown key. Did you mean 'agents'?"),
    (A + "version: 2\n", "team.yaml:4: version: must be one of 1, not 2"),
    (
        "agents:\n  - name: a\n    provider: gemni\n    model: m\n",
        "team.yaml:3: agents[0].provider: unknown provider 'gemni'. Did you mean 'gemini'?",
    ),
    ("agents:\n  - name: a\n    model: zzz:m\n", "pip install officellm-provider-zzz"),
    (
        "agents:\n  - name: a\n    model: m\n",
        "team.yaml:3: agents[0].model: 'm' names no provider: say 'provider:name'",
    ),
    ("agents:\n  - name: a\n", "team.yaml:2: agents[0].model: required and missing: say 'provider:name'"),
    (
        "agents:\n  - name: a\n    provider: openai\n",
        "team.yaml:2: agents[0].model: required, because provider 'openai' has no default model",
    ),
    (
        "defaults: {provider: opnai, model: m}\nagents:\n  - {name: a}\n  - {name: b}\n",
        "team.yaml:1: defaults.provider: unknown provider 'opnai'. Did you mean 'openai'?",
    ),
    (A + "    workers: [b]\n", "team.yaml:4: agents[0].workers[0]: unknown agent 'b'. Available: a."),
    (A + "    workers: [a]\n", "team.yaml:4: agents[0].workers[0]: agent 'a' cannot name itself here"),
    (A + "    transfers: [x]\n", "team.yaml:4: agents[0].transfers[0]: unknown agent 'x'"),
    (
        A + "    workers: [b]\n  - {name: b, model: openai:m, workers: [a]}\n",
        "team.yaml:4: agents[0].workers: workers form a cycle: a -> b -> a",
    ),
    (A + "manager: boss\n", "team.yaml:4: manager: unknown agent 'boss'. Available: a."),
    (A + "manager: 5\n", "team.yaml:4: manager: must be a mapping, not 5"),
    (A + "manager: {name: a, model: openai:m}\n", "team.yaml:2: agents[0].name: two agents are named 'a'"),
    (A + "    tools: 5\n", "team.yaml:4: agents[0].tools: must be a mapping, not 5"),
    (A + "    tools: [x, 5]\n", "team.yaml:4: agents[0].tools[1]: must be text, not 5: put it in quotes"),
    (A + "    tools:\n      alow: []\n", "team.yaml:5: agents[0].tools.alow: unknown key. Did you mean 'allow'?"),
    (
        A + "    tools: ['a:b:c']\n",
        "team.yaml:4: agents[0].tools[0]: 'a:b:c' is neither a tool's name nor 'module:function'",
    ),
    (A + "    tools: ['nomod_x:f']\n", "team.yaml:4: agents[0].tools[0]: cannot import 'nomod_x': ModuleNotFoundError"),
    (A + "    tools: ['json:dmps']\n", "team.yaml:4: agents[0].tools[0]: 'json' has no 'dmps'. Did you mean 'dumps'?"),
    (A + "    params: 5\n", "team.yaml:4: agents[0].params: must be 'module:Model', or a JSON Schema as a mapping"),
    (A + "    params: {type: 5}\n", "team.yaml:4: agents[0].params: not a valid JSON Schema"),
    (A + "    params: json:dumps\n", "team.yaml:4: agents[0].params: 'json:dumps' is no pydantic model"),
    (A + "    context_window: 2\n", "team.yaml:4: agents[0].context_window: must be at least 4, not 2"),
    (A + "    on_limit: halt\n", "team.yaml:4: agents[0].on_limit: must be one of stop, summarize, not 'halt'"),
    (A + "    limits: {max_turns: 0}\n", "team.yaml:4: agents[0].limits.max_turns: must be at least 1, not 0"),
    (A + "    limits: {max_turn: 1}\n", "agents[0].limits.max_turn: unknown key. Did you mean 'max_turns'?"),
    (
        A + "    limits: {max_turns: 1}\n    max_turns: 2\n",
        "team.yaml:5: agents[0].max_turns: give max_turns or limits",
    ),
    (A + "limits:\n  max_seconds: -1\n", "team.yaml:5: limits.max_seconds: must be at least 0, not -1"),
    (A + "limits:\n  max_requests: 1.5\n", "team.yaml:5: limits.max_requests: must be a whole number, not 1.5"),
    (A + "limits: 3\n", "team.yaml:4: limits: must be a mapping, not 3"),
    (
        A + "    system_prompt: x\n    system_prompt_file: y\n",
        "team.yaml:5: agents[0].system_prompt_file: give system_prompt",
    ),
    (A + "    system_prompt_file: gone.md\n", "team.yaml:4: agents[0].system_prompt_file: gone.md: no such file"),
    (A + "providers:\n  x: 5\n", "team.yaml:5: providers.x: must be a mapping, not 5"),
    (A + "providers: [1]\n", "team.yaml:4: providers: must be a mapping, not a list"),
    (A + "providers:\n  gemny: {}\n", "team.yaml:5: providers.gemny.format: required, because 'gemny' is no preset."),
    (
        A + "providers:\n  p:\n    format: opnai_compat\n",
        "team.yaml:6: providers.p.format: no provider named 'opnai_compat'",
    ),
    (
        A + "providers:\n  openai:\n    max_concurency: 3\n",
        "team.yaml:6: providers.openai.max_concurency: unknown key. Did you mean 'max_concurrency'?",
    ),
    (
        A + "providers:\n  openai:\n    timeout: soon\n",
        "team.yaml:6: providers.openai.timeout: must be a number, not 'soon'",
    ),
    (
        A + "providers:\n  openai:\n    max_concurrency: 0\n",
        "team.yaml:6: providers.openai.max_concurrency: must be at least 1",
    ),
    (A + "router: kyword\n", "team.yaml:4: router: no router named 'kyword'. Did you mean 'keyword'?"),
    (A + "router:\n  routes: {}\n", "team.yaml:4: router.name: required and missing"),
    (A + "router:\n  name: keyword\n  routes: {sql: b}\n", "team.yaml:6: router.routes.sql: unknown agent 'b'"),
    (A + "router:\n  name: keyword\n  routes: {sql: [a, b]}\n", "team.yaml:6: router.routes.sql[1]: unknown agent 'b'"),
    (A + "router:\n  name: llm\n  default: b\n", "team.yaml:6: router.default: unknown agent 'b'"),
    (A + "router:\n  name: llm\n  model: gpt\n", "team.yaml:6: router.model: 'gpt' names no provider"),
    (A + "router:\n  name: llm\n  modle: x\n", "team.yaml:6: router.modle: unknown key. Did you mean 'model'?"),
    (A + "orchestrator: mangr\n", "team.yaml:4: orchestrator: no orchestrator named 'mangr'"),
    (
        A + "orchestrator:\n  pol_interval: 5\n",
        "team.yaml:5: orchestrator.pol_interval: unknown key, and no orchestrator",
    ),
    (A + "orchestrator:\n  poll_interval_seconds: 0\n", "orchestrator.poll_interval_seconds: must be more than 0"),
    (
        A + "orchestrator:\n  name: manager\n  x: 1\n",
        "team.yaml:6: orchestrator.x: the orchestrator 'manager' takes no settings",
    ),
    (
        A + "policies: {loops: {loop_window: 3}}\n",
        "team.yaml:4: policies.loops.loop_window: the limit 'loops' follows the",
    ),
    ("agents:\n  - {name: a, model: 5}\n", "team.yaml:2: agents[0].model: must be text, not 5: put it in quotes"),
    ("defaults: {provider: 5}\nagents: [{name: a}]\n", "team.yaml:1: defaults.provider: must be text, not 5"),
    ("agents:\n", "team.yaml:1: agents: must be a list, not null"),
    (A + "policies: {budget: {}}\n", "team.yaml:4: policies.budget: no limit named 'budget'"),
    (A + "tools:\n  modules: [nomod_y]\n", "team.yaml: tools.modules: cannot import 'nomod_y'"),
    (A + "tools:\n  modules: x\n", "team.yaml:5: tools.modules: must be a list, not 'x'"),
    (A + "tools:\n  web: {timeot: 3}\n", "team.yaml:5: tools.web.timeot: unknown key. Did you mean 'timeout'?"),
    (A + "mcp_servers:\n  s: {}\n", "team.yaml:5: mcp_servers.s: give a command or a url, one of the two"),
    (
        A + "    tools: [board.x]\nboard: b.db\n",
        "team.yaml:4: agents[0].tools[0]: the board has no tool 'board.x'",
    ),
    (A + "engine: dbos\n", "team.yaml:4: engine: 'dbos': this version runs in this process only; say 'local'"),
    (A + "memory: sqlite\n", "team.yaml:4: memory: 'sqlite': this version keeps no memory yet; say 'none'"),
    (
        A + "required: [guardian]\n",
        "team.yaml:4: required: required plugins are missing: no extension named 'guardian'",
    ),
    (
        A + "    system_prompt: '${NOT_SET_HERE}'\n",
        "team.yaml:4: agents[0].system_prompt: the environment variable NOT_SET_HERE",
    ),
    ("agents:\n  - name: a\n    name: b\n", "team.yaml:3: agents[0].name: this key is given twice"),
    ("agents: [\n", "team.yaml:2:1: not valid YAML"),
    ("", "team.yaml: the file is empty"),
]


@pytest.mark.parametrize(("text", "said"), BROKEN, ids=[said.partition(": ")[2][:60] for _, said in BROKEN])
def test_a_broken_team_file_is_refused_at_its_line(tmp_path, text, said):
    assert said in refusal(write(tmp_path, text))


@pytest.mark.parametrize("text", [text for text, _ in BROKEN], ids=range(len(BROKEN)))
def test_one_mistake_is_one_problem(tmp_path, text):
    assert refusal(write(tmp_path, text)).count("team.yaml:") == 1


def test_all_problems_are_reported_at_once_in_the_order_of_their_lines(tmp_path):
    text = (
        "agents:\n  - name: a\n    model: gemni:m\n    wokers: [b]\n"
        "  - {name: b, model: openai:m, workers: [c]}\nlimit: {}\n"
    )
    path = write(tmp_path, text)
    with pytest.raises(ConfigErrors) as error:
        load_team(path)
    assert [str(problem).removeprefix(f"{tmp_path}/") for problem in error.value.problems] == [
        "team.yaml:3: agents[0].model: unknown provider 'gemni'. Did you mean 'gemini'?",
        "team.yaml:4: agents[0].wokers: unknown key. Did you mean 'workers'?",
        "team.yaml:5: agents[1].workers[0]: unknown agent 'c'. Available: a, b.",
        "team.yaml:6: limit: unknown key. Did you mean 'limits'?",
    ]


@pytest.mark.parametrize("name", ["gone.yaml", "folder"])
def test_what_is_no_file_is_refused_clearly(tmp_path, name):
    (tmp_path / "folder").mkdir()
    assert refusal(tmp_path / name) in ("gone.yaml: no such file", "folder: this is a folder, not a file")


keys = st.sampled_from(
    [
        "agents",
        "providers",
        "manager",
        "router",
        "orchestrator",
        "tools",
        "limits",
        "policies",
        "name",
        "model",
        "provider",
        "workers",
        "openai",
        "a",
    ]
)
trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["a", "openai:m", "keyword", "", "${X}", "json:dumps"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


def is_refused_or_loaded(path: Path) -> bool:
    try:
        load_team(path)
    except ConfigError as error:
        return str(path) in str(error)
    return True


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.binary(max_size=80), suffix=st.sampled_from([".yaml", ".toml", ".json"]))
def test_arbitrary_bytes_raise_nothing_but_a_config_error(tmp_path, data, suffix):
    (tmp_path / f"team{suffix}").write_bytes(data)
    assert is_refused_or_loaded(tmp_path / f"team{suffix}")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    text=st.text("abn: -[]{}&*!<>|#\"'\n\\,%@=0.~?", max_size=60), suffix=st.sampled_from([".yaml", ".toml", ".json"])
)
def test_arbitrary_punctuation_raises_nothing_but_a_config_error(tmp_path, text, suffix):
    assert is_refused_or_loaded(write(tmp_path, text, f"team{suffix}"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(tree=st.dictionaries(keys, trees, min_size=1))
def test_any_tree_raises_nothing_but_a_config_error(tmp_path, tree):
    assert is_refused_or_loaded(write(tmp_path, json.dumps(tree), "team.json"))
