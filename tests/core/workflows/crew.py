"""Agents for tests of workflows: what each says, how long it takes, and what it was told."""

import asyncio

from officellm import Agent, Office, User
from officellm.testing import FakeClock, scripted


class Crew:
    """`Crew(a="x", b=ValueError(), c=("slow", 0.05))`: agents by name; `heard` has every prompt in order of arrival."""

    def __init__(self, **says):
        self.heard = []
        self.now = self.peak = 0
        self.agents = [Agent(name, f"Does {name}", model=self._model(name, said)) for name, said in says.items()]

    def _model(self, name, said):
        text, seconds = said if isinstance(said, tuple) else (said, 0)

        async def answer(request):
            last = request.messages[-1]
            if isinstance(last, User):
                self.heard.append((name, last.text))
            self.now += 1
            self.peak = max(self.peak, self.now)
            try:
                await asyncio.sleep(seconds)
            finally:
                self.now -= 1
            said = text(request) if callable(text) and not isinstance(text, type) else text
            if isinstance(said, BaseException):
                raise said
            return said

        return scripted([answer] * 500)

    def office(self, **options):
        """An office of these agents."""
        return Office(agents=self.agents, **{"clock": FakeClock(), **options})

    async def run(self, workflow, task="go", **options):
        """The result of one run."""
        async with self.office() as office:
            return await office.run(task, orchestrator=workflow, **options)

    def prompts(self, name):
        """What one agent was told, each time."""
        return [text for who, text in self.heard if who == name]

    @property
    def ran(self):
        """Who ran, in order."""
        return [who for who, _ in self.heard]


def states(result):
    """The state of every node."""
    return {id: str(node.state) for id, node in result.nodes.items()}
