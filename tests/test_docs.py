"""The examples of docs/orchestration.md are run here; those of the other pages stand beside what they describe."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from officellm.files.taskfile import load_tasks
from officellm.testing import FakeLLM, reply, rule
from officellm.workflows.spec import WorkflowSpec

PAGE = (Path(__file__).parent.parent / "docs" / "orchestration.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def block(language: str) -> str:
    (text,) = [text for name, text in BLOCKS if name == language]
    return text


def test_the_python_of_the_page_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    script = [
        rule('{"value": ["one", "two"]}', test=lambda heard: "response_format" in heard.body),
        rule(reply("approved: APPROVED", repeat=True)),
    ]
    with FakeLLM.in_thread(script) as llm:
        monkeypatch.setenv("OPENAI_BASE_URL", llm.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        exec(compile(block("python"), "orchestration.md", "exec"), {"__name__": "page"})
        assert llm.refusals == []
    printed = capsys.readouterr().out
    assert "'combine': 'completed'" in printed
    assert "APPROVED: APPROVED" in printed


def test_the_task_file_of_the_page_is_a_workflow(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(block("yaml"))
    (task,) = load_tasks(tmp_path / "task.yaml").tasks
    settings = task.orchestration()
    assert isinstance(settings, dict)
    spec = WorkflowSpec.model_validate({key: value for key, value in settings.items() if key != "name"})
    workflow = spec.workflow()
    assert workflow is not None
    assert workflow.agents() == ["biologist", "geologist", "writer", "critic", "painter"]
