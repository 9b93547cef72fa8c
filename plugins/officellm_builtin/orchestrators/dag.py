"""The `dag` orchestrator: the steps of a task file or a team file as a workflow, each as soon as it can be run."""

from __future__ import annotations

from pydantic import BaseModel

from officellm import AgentResult, ConfigError, Desk, Task, Workflow, WorkflowSpec, hookimpl


class Dag:
    """Works through a workflow of a file."""

    needs_entry = False

    def __init__(self, workflow: Workflow | None) -> None:
        self._workflow = workflow

    async def work(self, task: Task, desk: Desk) -> AgentResult:
        """The final step's result. Raises `ConfigError` where there is nothing to work through."""
        if self._workflow is None:
            raise ConfigError("the dag orchestrator has no steps: give `steps` in the task, or a pattern")
        return await self._workflow.work(task, desk)


@hookimpl
def settings_model(kind: str, name: str) -> type[BaseModel]:
    return WorkflowSpec


@hookimpl
def make_orchestrator(name: str, settings: WorkflowSpec) -> Dag:
    return Dag(settings.workflow())
