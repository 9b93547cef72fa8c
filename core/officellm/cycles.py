"""Circles in what is named by what: workers of workers, steps that wait for steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def cycles(edges: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Each circle once, from the name that comes first and back to it. A name without edges of its own ends a path."""
    done: set[str] = set()
    for start in edges:
        trail, on_trail = [start], {start}
        pending = [iter(edges[start])]
        while pending and start not in done:
            name = next(pending[-1], None)
            if name is None:
                done.add(trail[-1])
                on_trail.discard(trail.pop())
                pending.pop()
            elif name in on_trail:
                yield [*trail[trail.index(name) :], name]
            elif name in edges and name not in done:
                trail.append(name)
                on_trail.add(name)
                pending.append(iter(edges[name]))
