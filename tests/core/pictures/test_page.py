"""docs/graph.md: each picture on the page is the one that is drawn of what stands before it."""

import json
import re
from pathlib import Path

import pytest
import yaml

from officellm import WorkflowSpec, draw, load_team

PAGE = (Path(__file__).parents[3] / "docs" / "graph.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
PAIRS = [(language, text, picture) for (language, text), (_, picture) in zip(BLOCKS[::2], BLOCKS[1::2], strict=True)]


def drawn(language, text, folder):
    """The picture of a block of the page."""
    if language == "json":
        return draw(json.loads(text))
    value = yaml.safe_load(text)
    if "agents" not in value:
        return draw(WorkflowSpec.model_validate({"steps": value["steps"]}).workflow())
    path = folder / "team.yaml"
    path.write_text(text, encoding="utf-8")
    return draw(load_team(path))


def test_every_kind_has_a_picture():
    assert [language for language, _, _ in PAIRS] == ["yaml", "python", "yaml", "json", "json"]
    assert {language for language, _ in BLOCKS[1::2]} == {"mermaid"}


@pytest.mark.parametrize(("language", "text", "picture"), PAIRS, ids=range(len(PAIRS)))
def test_the_picture_is_what_is_drawn(language, text, picture, tmp_path, capsys):
    if language == "python":
        exec(compile(text, "graph.md", "exec"), {"__name__": "page"})
        assert capsys.readouterr().out.strip() == picture.strip()
    else:
        assert drawn(language, text, tmp_path) == picture
