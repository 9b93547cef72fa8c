"""Asks a model for a plan, and once more where the plan cannot work."""

from __future__ import annotations

from collections.abc import Sequence

from officellm import (
    Desk,
    Message,
    NodeResult,
    OutputSchema,
    Plan,
    PlanError,
    Request,
    System,
    User,
    plan_schema,
    read_plan,
)

#: Label under which the planner's tokens count.
LABEL = "planner"
#: Characters of a result that the planner is shown when it plans again.
_SHOWN = 2_000

_RULES = """You plan the work of a team, and do none of it yourself. Split the user's task into steps of one agent each.

Agents:
{agents}

Rules:
- Steps are named by their place: step_{first}, step_{second}, and so on{before}.
- depends_on lists the earlier steps whose results a step needs; steps that do not need each other run at the same time.
- {{{{step_0}}}} in an input stands for the result of step_0; a result that the input does not name is appended to it.
- An agent sees its input and those results, nothing else: say in the input all that it needs to know.
- final_agent_id is the agent that writes the answer; it gets the user's words and every result.
- Use as few steps as do the work, at most {most}.

Answer with JSON alone, in this form:
{{"steps": [{{"agent_id": "", "input": "", "description": "", "depends_on": []}}], "final_agent_id": ""}}"""


class Planner:
    """Of one run."""

    def __init__(
        self,
        desk: Desk,
        agents: Sequence[str],
        final: str | None,
        model: str | None,
        max_steps: int,
        instructions: str,
    ) -> None:
        self._desk = desk
        self._agents = agents
        self._final = final
        self._model = model
        self._max_steps = max_steps
        self._instructions = instructions

    async def plan(self, so_far: str = "", *, done: Sequence[str] = (), first: int = 0) -> Plan:
        """A plan that can work. Raises `PlanError` where the second one cannot either, `ProviderError`."""
        messages: list[Message] = [System(self._system(done, first)), User(self._desk.prompt)]
        if so_far:
            messages.append(User(so_far))
        output = OutputSchema("plan", plan_schema(self._agents))
        for last in (False, True):
            request = Request(model="", messages=messages, output=output)
            reply = await self._desk.ask(request, label=LABEL, model=self._model)
            try:
                # The schema names the agents, so another final agent is worth a second try before the fallback.
                final = self._final if last else None
                return read_plan(
                    reply.message.text, self._agents, final=final, done=done, first=first, max_steps=self._max_steps
                )
            except PlanError as error:
                if last:
                    raise
                wrong = "\n".join(f"- {problem}" for problem in error.problems)
                messages = [
                    *messages,
                    reply.message,
                    User(f"This plan cannot work:\n{wrong}\nWrite the whole plan again."),
                ]
        raise AssertionError("not reached")

    def _system(self, done: Sequence[str], first: int) -> str:
        listed = "\n".join(f"- {name}: {self._desk.agents[name].purpose()}" for name in self._agents)
        before = f" (done so far: {', '.join(done) or 'nothing'}; your first step is step_{first})" if first else ""
        rules = _RULES.format(agents=listed, most=self._max_steps, first=first, second=first + 1, before=before)
        return f"{rules}\n\n{self._instructions}" if self._instructions else rules


def after_failure(done: Sequence[NodeResult], failed: NodeResult) -> str:
    """What the planner must know to plan the rest."""
    lines = [f"{node.id} ({node.agent}) is done. Its result:\n{node.text[:_SHOWN]}" for node in done]
    lines.append(f"{failed.id} ({failed.agent}) failed: {failed.error}. Plan what is left in another way.")
    return "\n\n".join(lines)
