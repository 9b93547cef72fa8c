"""A team's agents in the board's registry: registered, heard of, offline."""

from __future__ import annotations

from collections.abc import Mapping

from officellm import Agent
from officellm_team.board import agents
from officellm_team.board.caller import Caller
from officellm_team.board.store import Board


def register(board: Board, members: Mapping[str, Agent]) -> None:
    """All of them, with what their file says of them."""
    for agent in members.values():
        agents.register(
            board,
            Caller(agent.name),
            role=agent.role,
            capabilities=list(agent.capabilities),
            metadata={"model": agent.model if isinstance(agent.model, str) else ""},
        )


def beat(board: Board, members: Mapping[str, Agent]) -> None:
    """They live."""
    for name in members:
        agents.heartbeat(board, Caller(name))


def leave(board: Board, members: Mapping[str, Agent]) -> None:
    """They are offline."""
    for name in members:
        agents.offline(board, Caller(name))
