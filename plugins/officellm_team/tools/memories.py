"""The tools for memories: written, read, changed, rated, searched."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from officellm_team.board import memories
from officellm_team.board.errors import one_of
from officellm_team.board.records import SCOPES, Draft
from officellm_team.board.search import Search, search
from officellm_team.board.texts import json_object, moment
from officellm_team.tools.base import Tools, board_tool


def _as_text(value: Any) -> Any:
    """Models write an object as often as its text."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value


JsonText = Annotated[str, BeforeValidator(_as_text)]


class MemoryTools(Tools):
    """Memories of one caller, and those that others share."""

    @board_tool(caller="agent_id")
    def memory_write(
        self,
        type: str,
        content: str,
        title: str = "",
        metadata: JsonText = "{}",
        agent_id: str = "",
        model_id: str = "",
        change_agent: str = "",
        importance: float = 0.5,
        source: str = "agent",
        embed: bool = True,
        user_id: str = "",
        scope: str = "agent",
        valid_from: str = "",
        valid_to: str = "",
        auto_classify: bool = False,
    ) -> dict[str, Any]:
        """Write down a memory. One with the title of an older one, of the same type, takes its place.

        Args:
            type: note, fact, decision, preference, conversation, message, task, code, config, observation, plan,
                summary, snippet, reference, log, home, user_fact, scratchpad, auto or knowledge
            content: the text, at most 50000 characters
            title: what it is about: needed to take the place of an older memory
            metadata: a JSON object
            importance: from 0 to 1
            embed: whether it can be found by meaning too
            user_id: the person it is about
            scope: agent (private), session (gone after 24 hours), user or org (shared)
            valid_from: ISO 8601
            valid_to: ISO 8601
            auto_classify: let a model choose the type
        """
        if scope not in SCOPES:
            raise one_of("scope", scope, SCOPES)
        draft = Draft(
            type=type,
            content=content,
            title=title,
            metadata=json_object("metadata", metadata),
            agent_id=agent_id,
            model_id=model_id,
            change_agent=change_agent if self.caller.operator and change_agent else self.caller.name,
            importance=importance,
            source=source,
            user_id=user_id,
            scope=scope,
            valid_from=moment("valid_from", valid_from),
            valid_to=moment("valid_to", valid_to),
        )
        return memories.write(self.board, self.caller, draft, embed=embed, auto_classify=auto_classify)

    @board_tool(reads=True)
    def memory_search(
        self,
        query: str,
        k: int = 8,
        type_filter: str = "",
        agent_filter: str = "",
        search_mode: Literal["hybrid", "semantic", "keyword"] = "hybrid",
        include_scratchpad: bool = False,
        user_id: str = "",
        scope: str = "",
        as_of: str = "",
    ) -> dict[str, Any]:
        """Search memories. Long contents are cut: memory_get gives all.

        Args:
            query: words; "several in quotes" are a phrase; a single word also finds longer ones that begin with it
            k: how many, at most 100
            type_filter: only this type
            agent_filter: only what this agent wrote
            include_scratchpad: also type scratchpad
            user_id: only about this person
            scope: only this scope
            as_of: ISO 8601: what was valid then
        """
        wanted = Search(
            query=query,
            k=k,
            mode=search_mode,
            type=type_filter,
            agent=agent_filter,
            user_id=user_id,
            scope=scope,
            as_of=as_of,
            scratchpad=include_scratchpad,
        )
        return search(self.board, self.caller, wanted)

    @board_tool(reads=True)
    def memory_suggest(self, query: str, k: int = 5) -> dict[str, Any]:
        """Search memories, and say how each score came about."""
        return search(self.board, self.caller, Search(query=query, k=k, explain=True))

    @board_tool(reads=True)
    def memory_get(self, id: str) -> dict[str, Any]:
        """The whole memory, by its id or at least the first 8 characters of it."""
        return memories.get(self.board, self.caller, id)

    @board_tool()
    def memory_update(
        self,
        id: str,
        content: str = "",
        title: str = "",
        metadata: JsonText = "",
        importance: float = -1,
        reembed: bool = False,
    ) -> dict[str, Any]:
        """Change a memory of yours. What is left out stays.

        Args:
            id: the full id
            metadata: a JSON object, in the place of the old one
            importance: from 0 to 1; -1 leaves it
            reembed: make its vector anew; a changed text gets a new one anyway
        """
        return memories.change(
            self.board,
            self.caller,
            id,
            content=content,
            title=title,
            metadata=metadata,
            importance=importance,
            reembed=reembed,
        )

    @board_tool(gated=True)
    def memory_delete(self, id: str, hard: bool = False) -> dict[str, Any]:
        """Delete a memory; a conversation goes with its messages.

        Args:
            id: the full id
            hard: erase it, rather than hide it
        """
        return memories.remove(self.board, self.caller, id, hard=hard)

    @board_tool()
    def memory_feedback(
        self, memory_id: str, feedback: Literal["useful", "not_useful", "misleading"] = "useful"
    ) -> dict[str, Any]:
        """Rate a memory: useful adds 0.1 to its importance, not_useful takes 0.1, misleading 0.2."""
        return memories.rate(self.board, self.caller, memory_id, feedback)

    @board_tool(reads=True)
    def memory_history(self, memory_id: str, limit: int = 20) -> dict[str, Any]:
        """What happened to a memory (or a task), newest first. Long values are cut."""
        return memories.history(self.board, self.caller, memory_id, limit)

    @board_tool(reads=True)
    def memory_verify(self, id: str) -> dict[str, Any]:
        """Whether a memory's content is what was written (SHA-256)."""
        return memories.verify(self.board, self.caller, id)
