"""Where the nodes of one run stand, and which are next: pure bookkeeping, no clock, no tasks, no order of chance."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from officellm.workflows.nodes import Node, NodeResult, NodeState
from officellm.workflows.shape import Shape


@dataclass(slots=True)
class Moves:
    """What follows from the end of a node: who is ready, who is skipped, and whom nobody waits for any more."""

    ready: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    surplus: list[str] = field(default_factory=list)


class Progress:
    """Every node is ready at most once a round, and decided exactly once a round."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self.results = {id: NodeResult(id=id, agent=node.label, after=node.after) for id, node in shape.nodes.items()}
        self._open = {id: len(node.after) for id, node in shape.nodes.items()}
        self._decided: set[str] = set()
        #: Nodes that a quorum left behind: their end says nothing about what follows.
        self.left: set[str] = set()

    def begin(self) -> list[str]:
        """The nodes that wait for nobody, in declared order."""
        ready = [id for id, waits in self._open.items() if not waits]
        self._decided.update(ready)
        return ready

    def end(self, id: str) -> Moves:
        """What follows now that `results[id]` has come to its end."""
        moves = Moves()
        pending = deque([id])
        while pending:
            ended = pending.popleft()
            for child in self._shape.children[ended]:
                self._open[child] -= 1
                if child not in self._decided:
                    pending.extend(self._decide(self._shape.nodes[child], moves))
        return moves

    def _decide(self, node: Node, moves: Moves) -> Iterable[str]:
        """Decide a node where it can be; the nodes that have ended by it."""
        completed = [id for id in node.after if self.results[id].state is NodeState.COMPLETED]
        enough = node.need is not None and len(completed) >= node.need
        if self._open[node.id] and not enough:
            return ()
        self._decided.add(node.id)
        blame = None if enough else self._blame(node)
        tolerated = any(self.results[id].state is NodeState.FAILED for id in node.after)
        nothing = bool(node.after) and not completed and not tolerated
        if blame is not None or nothing or (node.need is not None and not enough):
            self.skip(node.id, *(blame or ()))
            moves.skipped.append(node.id)
            return (node.id,)
        moves.ready.append(node.id)
        if enough:
            moves.surplus += self._surplus(node)
        return ()

    def skip(self, id: str, direct: str = "", cause: str = "") -> None:
        """Mark a node as skipped: by a condition; or as `direct` did not complete, of which `cause` is the cause."""
        result = self.results[id]
        result.state, result.cause = NodeState.SKIPPED, cause
        if cause:
            failed = self.results[cause]
            why = f"{cause} {failed.state}: {failed.error}"
            # The two ends of a chain are enough: a long one would say everything again at each node.
            result.error = f"dependency {why}" if direct == cause else f"dependency {direct} skipped: {why}"
            result.error_type = failed.error_type

    def _blame(self, node: Node) -> tuple[str, str] | None:
        """The first of `after` for which the node cannot run, and the ancestor that is the cause."""
        for id in node.after:
            result = self.results[id]
            if result.state is NodeState.SKIPPED and result.cause:
                return id, result.cause
            if result.state is NodeState.CANCELLED and id not in self.left:
                return id, id
            if result.state is NodeState.FAILED and self._shape.nodes[id].on_error != "continue":
                return id, id
        return None

    def _surplus(self, node: Node) -> list[str]:
        """What has not ended and is waited for by nobody any more, and what only that had waited for."""
        left: list[str] = []
        pending = deque(node.after)
        while pending:
            id = pending.popleft()
            waits = any(child not in self._decided for child in self._shape.children[id])
            if waits or id in self.left or id == self._shape.final or self.results[id].state.ended:
                continue
            left.append(id)
            self.left.add(id)
            self._decided.add(id)
            pending.extend(self._shape.nodes[id].after)
        return left

    def rewind(self, id: str) -> list[str]:
        """Make the region of this node's way back pending again; the node that gets the work, now ready."""
        back = self._shape.nodes[id].back
        assert back is not None
        region = self._shape.regions[id]
        inside = set(region)
        for name in region:
            result = self.results[name]
            result.state, result.cause, result.error, result.error_type = NodeState.PENDING, "", None, None
            self._decided.discard(name)
            self.left.discard(name)
            after = self._shape.nodes[name].after
            self._open[name] = sum(other in inside or not self.results[other].state.ended for other in after)
        self._decided.add(back.to)
        return [back.to]
