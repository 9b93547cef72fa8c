"""Task files: one task, a list of tasks, or JSON Lines, with how each is to be run. `${...}` is never expanded here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from officellm.errors import ConfigError, WorkflowError
from officellm.filekeys import snake
from officellm.files.documents import json_document, parse, raise_all, read_text
from officellm.files.fitting import fit
from officellm.files.places import Document, KeyPath, Problem
from officellm.files.teammodel import Strict
from officellm.limits import Limits
from officellm.tasks import Priority, Task
from officellm.workflows.spec import StepSpec, WorkflowSpec

#: A batch may be made by a program, so it may be larger than what a person writes.
MAX_BYTES = 32 * 1024 * 1024
_LINES = (".jsonl", ".ndjson")


def _snake_keys(value: Any) -> Any:
    return {snake(key): item for key, item in value.items()} if isinstance(value, Mapping) else value


class TaskKeys(Strict):
    """The keys of a task file, in snake_case."""

    version: Literal[1] = 1
    title: str
    description: str = ""
    priority: Priority = "medium"
    context: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)
    team: str | None = None
    router: Any = None
    orchestrator: Any = None
    agent: str | None = None
    params: dict[str, Any] = Field(default_factory=dict)
    limits: Annotated[Limits, BeforeValidator(_snake_keys)] = Limits()
    output_schema: dict[str, Any] | None = None
    steps: list[StepSpec] = Field(default_factory=list)
    final: str | None = None


@dataclass(frozen=True, slots=True)
class TaskFile:
    """One task and how it is to be run. `team` is resolved from the task file's folder; `place` is where it stands."""

    task: Task
    place: str = ""
    team: Path | None = None
    router: str | Mapping[str, Any] | None = None
    orchestrator: str | Mapping[str, Any] | None = None
    agent: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = Limits()  # noqa: RUF009 - frozen
    output_schema: Mapping[str, Any] | None = None
    steps: tuple[StepSpec, ...] = ()
    final: str | None = None

    def orchestration(self) -> str | Mapping[str, Any] | None:
        """The orchestrator with its settings; steps are settings of the one named, or of `dag`."""
        if not self.steps:
            return self.orchestrator
        chosen = self.orchestrator or "dag"
        settings = {"name": chosen} if isinstance(chosen, str) else dict(chosen)
        return {**settings, "steps": self.steps, "final": self.final}


@dataclass(frozen=True, slots=True)
class TaskBatch:
    """The tasks of one source, in order. `is_batch` says that it was a list or JSON Lines, also of one task."""

    tasks: Sequence[TaskFile]
    is_batch: bool


def load_tasks(source: Path | str, text: str | None = None) -> TaskBatch:
    """The tasks of a JSON, JSON Lines, YAML or TOML file, or of a `text` of JSON that `source` (`-`) only names.

    Keys may be written in snake_case or camelCase. Raises `ConfigError` with one line for each problem.
    """
    path = Path(source)
    shown, suffix = str(source), path.suffix.lower()
    if text is not None:
        shown, suffix = "<stdin>" if shown == "-" else shown, ".json"
    elif suffix in (".json", *_LINES):
        text = read_text(path, limit=MAX_BYTES)
    else:
        text = read_text(path)
    parts, is_batch = _parts(text.removeprefix("\ufeff"), shown, suffix)
    if not parts:
        raise ConfigError("there is no task in it", place=shown)
    problems: list[Problem] = []
    tasks = [_task(document, at, value, path.parent, problems) for document, at, value in parts]
    raise_all(problems)
    return TaskBatch([task for task in tasks if task is not None], is_batch)


def _parts(text: str, shown: str, suffix: str) -> tuple[list[tuple[Document, KeyPath, Any]], bool]:
    """Each task's document, place and value, and whether they are a batch."""
    if suffix in _LINES or (suffix == ".json" and _is_json_lines(text)):
        return [(document, (), document.value) for document in _lines_of(text, shown)], True
    document = parse(text, file=shown, suffix=suffix)
    if isinstance(document.value, list):
        return [(document, (index,), item) for index, item in enumerate(document.value)], True
    return [(document, (), document.value)], False


def _is_json_lines(text: str) -> bool:
    """Whether the first of several lines is a whole JSON object by itself."""
    first, _, rest = text.strip().partition("\n")
    if not rest.strip() or not first.startswith("{"):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _lines_of(text: str, shown: str) -> Iterator[Document]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield json_document(line, shown, first_line=number)


def _task(document: Document, at: KeyPath, value: Any, folder: Path, problems: list[Problem]) -> TaskFile | None:
    """One task; what is wrong with it is added to `problems`."""
    if not isinstance(value, Mapping):
        problems.append(document.problem(at, "a task is a mapping with at least a title"))
        return None
    found = _given_twice(document, at, value)
    keys, misfits = fit(TaskKeys, _snake_keys(value), document, at)
    found += misfits
    if keys is not None and not misfits:
        found += _meaning(document, at, keys)
    problems += found
    if keys is None or found:
        return None
    about = {name: getattr(keys, name) for name in ("title", "description", "priority", "context", "metadata")}
    return TaskFile(
        task=Task(**about),
        place=f"{document.file}:{document.line(at)}",
        team=folder / keys.team if keys.team is not None else None,
        router=keys.router,
        orchestrator=keys.orchestrator,
        agent=keys.agent,
        params=keys.params,
        limits=keys.limits,
        output_schema=keys.output_schema,
        steps=tuple(keys.steps),
        final=keys.final,
    )


def _given_twice(document: Document, at: KeyPath, value: Mapping[str, Any]) -> list[Problem]:
    seen: dict[str, str] = {}
    found = []
    for key in value:
        other = seen.setdefault(snake(key), key)
        if other != key:
            found.append(document.problem((*at, key), f"this key is given twice, also as {other!r}"))
    return found


def _meaning(document: Document, at: KeyPath, keys: TaskKeys) -> list[Problem]:
    """What well-formed keys must mean together."""
    found: list[Problem] = []

    def wrong(path: KeyPath, message: str) -> None:
        found.append(document.problem((*at, *path), message))

    if not keys.title.strip():
        wrong(("title",), "a task needs a title")
    for word in ("router", "orchestrator"):
        chosen = getattr(keys, word)
        if isinstance(chosen, Mapping) and not isinstance(chosen.get("name"), str):
            wrong((word, "name"), f"a {word} mapping needs a name")
        elif chosen is not None and not isinstance(chosen, (str, Mapping)):
            wrong((word,), "must be a name, or a mapping with a name and settings")
    if keys.output_schema is not None:
        # Imported where a task brings a JSON Schema only: it is slow to load.
        from officellm.schemas import checker

        try:
            checker(keys.output_schema)
        except (ConfigError, ValueError, RecursionError) as error:
            wrong(("output_schema",), str(error) or "not a valid JSON Schema")
    found += _step_problems(document, at, keys)
    return found


def _step_problems(document: Document, at: KeyPath, keys: TaskKeys) -> list[Problem]:
    if not keys.steps:
        alone = document.problem((*at, "final"), "final is for a task that has steps")
        return [] if keys.final is None else [alone]
    try:
        WorkflowSpec(steps=keys.steps, final=keys.final).workflow()
    except WorkflowError as error:
        ids = [step.id for step in keys.steps]
        place: KeyPath = (error.key,) if error.key == "final" else ("steps",)
        if error.node in ids:
            # Of two with one id it is the second that is wrong.
            index = len(ids) - 1 - ids[::-1].index(error.node)
            place = ("steps", index, *([error.key] if error.key else []))
        return [document.problem((*at, *place), str(error))]
    return []


def is_task_file(path: Path) -> bool:
    """Whether a file that can be read holds tasks rather than a team."""
    if path.suffix.lower() in _LINES:
        return True
    try:
        value = parse(read_text(path), file=str(path), suffix=path.suffix).value
    except ConfigError:
        return False
    if not isinstance(value, Mapping):
        return isinstance(value, list)
    is_team = "agents" in value or "manager" in value
    return not is_team and ("title" in value or path.stem.startswith("task"))
