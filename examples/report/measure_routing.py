"""How often the llm router picks the right agent of this team, over the cases of routing_cases.json."""

import asyncio
import json
import sys
import time
from pathlib import Path

from officellm import AgentResult, Desk, Office, StopReason, Task

HERE = Path(__file__).parent


class OnlyRoute:
    """An orchestrator that runs nobody: its answer is the name of the agent that would start."""

    async def work(self, task: Task, desk: Desk) -> AgentResult:
        return AgentResult(agent=desk.entry, stop_reason=StopReason.SUCCESS, content=desk.entry)


async def main() -> int:
    cases = json.loads((HERE / "routing_cases.json").read_text(encoding="utf-8"))
    right = 0
    started = time.monotonic()
    async with Office.from_file(HERE / "team.yaml") as office:
        for case in cases:
            task = Task(title=case["title"], description=case["description"])
            result = await office.run(task, router="llm", orchestrator=OnlyRoute())
            chosen = result.content or result.error
            right += chosen == case["expected"]
            print(f"{'right' if chosen == case['expected'] else 'WRONG'}  {case['title']}: {chosen}")
    print(f"{right} of {len(cases)} right, {time.monotonic() - started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
