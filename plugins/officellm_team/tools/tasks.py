"""The tools of tasks."""

from __future__ import annotations

from typing import Any, Literal

from officellm_team.board import tasks, taskviews
from officellm_team.tools.base import Tools, board_tool

State = Literal["", "pending", "in_progress", "blocked", "completed", "failed", "cancelled"]


class TaskTools(Tools):
    """Work that is handed out and closed."""

    @board_tool(caller="created_by")
    def task_create(
        self,
        title: str,
        created_by: str = "",
        description: str = "",
        owner_agent: str = "",
        parent_task_id: str = "",
        metadata: dict[str, Any] = {},  # noqa: B006 - a schema's default, never changed
        depends_on: list[str] = [],  # noqa: B006
        priority: tasks.Priority = "medium",
        due_at: str = "",
    ) -> dict[str, Any]:
        """Create a pending task. Nobody is woken: task_assign gives it to an agent.

        Args:
            title: What is to be done, in one line.
            description: All that one must know to do it.
            owner_agent: Who shall do it later; a registered agent.
            parent_task_id: The full id of the task that this one is a part of.
            metadata: Anything else that is worth keeping.
            depends_on: Full ids of tasks that must be completed before this one begins.
            priority: What is urgent is begun first.
            due_at: When it should be done, as an ISO 8601 time.
        """
        return tasks.create(
            self.board,
            self.caller,
            title,
            description=description,
            owner_agent=owner_agent,
            parent_task_id=parent_task_id,
            metadata=metadata,
            depends_on=depends_on,
            priority=priority,
            due_at=due_at,
        )

    @board_tool()
    def task_assign(self, task_id: str, owner_agent: str) -> dict[str, Any]:
        """Give a task of yours to a registered agent, which is woken for it. A task that needs others waits for them.

        Args:
            task_id: The full id.
            owner_agent: Who does it from now on.
        """
        return tasks.assign(self.board, self.caller, task_id, owner_agent)

    @board_tool(caller="actor")
    def task_update(
        self,
        task_id: str,
        state: State = "",
        description: str = "",
        metadata: dict[str, Any] = {},  # noqa: B006
        actor: str = "",
    ) -> dict[str, Any]:
        """Change a task that you own or created. Its creator hears when it is completed, failed, blocked or cancelled.

        Args:
            task_id: The full id.
            state: The new state; empty for no change. Pending goes to in_progress, blocked or cancelled; in_progress to
                blocked, completed, failed or cancelled; blocked to in_progress or cancelled. The others are final.
            description: A new description; empty for no change.
            metadata: Keys to add or replace; others stay. Say why in the key `reason` when you fail or block it.
        """
        return tasks.update(self.board, self.caller, task_id, state=state, description=description, metadata=metadata)

    @board_tool()
    def task_set_result(self, task_id: str, result_memory_id: str) -> dict[str, Any]:
        """Point a task that you own or created to the memory that holds its result.

        Args:
            task_id: The full id of the task.
            result_memory_id: The full id of the memory.
        """
        return tasks.set_result(self.board, self.caller, task_id, result_memory_id)

    @board_tool(reads=True)
    def task_get(self, task_id: str) -> dict[str, Any]:
        """Show a task, by its id or the first 8 characters of it."""
        return taskviews.get(self.board, task_id)

    @board_tool(reads=True)
    def task_list(
        self, owner_agent: str = "", state: str = "", parent_task_id: str = "", limit: int = 50
    ) -> dict[str, Any]:
        """List tasks in brief, those changed last first.

        Args:
            owner_agent: Only those of this agent.
            state: Only those in this state.
            parent_task_id: Only parts of this task.
            limit: At most so many.
        """
        found = taskviews.listing(
            self.board, owner_agent=owner_agent, state=state, parent_task_id=parent_task_id, limit=limit
        )
        return {"tasks": found, "count": len(found)}

    @board_tool(reads=True)
    def task_tree(self, root_task_id: str, max_depth: int = 3) -> dict[str, Any]:
        """Show a task and the tasks that it was split into.

        Args:
            root_task_id: The id, or the first 8 characters of it.
            max_depth: How many levels down, 1 to 20.
        """
        return taskviews.tree(self.board, root_task_id, max_depth)
