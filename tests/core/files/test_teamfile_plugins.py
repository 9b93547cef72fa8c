"""What a team file says to plugins: catalogs by name, and routers that refuse their settings when they are made."""

from __future__ import annotations

from pathlib import Path

import pytest

from officellm import ConfigError
from officellm.files.teamfile import load_team

TOOL = '''
from officellm import tool

@tool
def look(word: str) -> str:
    """Look a word up."""
    return word
'''


def team(folder: Path, text: str) -> Path:
    path = folder / "team.yaml"
    path.write_text(text)
    return path


async def test_a_catalog_is_named_in_the_team_file(tmp_path: Path) -> None:
    (tmp_path / "catalogued_tools.py").write_text(TOOL)
    path = team(
        tmp_path,
        f"""agents: [{{name: a, model: "ollama:x", tools: ["books.look"]}}]
catalogs: {{books: {{name: python, modules: [catalogued_tools], path: ["{tmp_path}"]}}}}
""",
    )
    setups = await load_team(path).office().ready()
    assert setups.get("a").toolset.names() == ["look"]


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("catalogs: {books: {}}", "team.yaml:2: catalogs.books: no catalog named 'books'"),
        ("catalogs: {books: {name: python, module: [x]}}", "catalogs.books.module: unknown key. Did you mean"),
        ("router: {name: keyword}", "team.yaml:2: router: the keyword router has no routes and no default"),
    ],
    ids=["unknown driver", "unknown setting", "a router that cannot be made"],
)
def test_what_a_plugin_refuses_has_its_place(tmp_path: Path, block: str, said: str) -> None:
    path = team(tmp_path, f'agents: [{{name: a, model: "ollama:x"}}]\n{block}\n')
    with pytest.raises(ConfigError) as raised:
        load_team(path).office()
    assert said in str(raised.value)


def test_what_a_variable_holds_is_not_told_where_it_does_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIDDEN_VALUE", "sk-very-secret")
    path = team(tmp_path, 'agents: [{name: a, model: "ollama:x"}]\nlimits: {max_requests: "${HIDDEN_VALUE}"}\n')
    with pytest.raises(ConfigError) as raised:
        load_team(path)
    assert "must be a whole number, not '${HIDDEN_VALUE}'" in str(raised.value)
    assert "secret" not in str(raised.value)
