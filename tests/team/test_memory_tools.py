"""The 25 tools for memories, as models and other programs know them: names, parameters, defaults, gates."""

from __future__ import annotations

import inspect

import pytest

from officellm_team.tools.catalog import tools_of
from officellm_team.tools.conversations import ConversationTools
from officellm_team.tools.links import LinkTools
from officellm_team.tools.memories import MemoryTools
from officellm_team.tools.upkeep import UpkeepTools

TOOLS = tools_of([MemoryTools, ConversationTools, LinkTools, UpkeepTools])
#: Name to parameters with their defaults; what is required has none.
KNOWN = {
    "memory_write": "type content title='' metadata='{}' agent_id='' model_id='' change_agent='' importance=0.5 "
    "source='agent' embed=True user_id='' scope='agent' valid_from='' valid_to='' auto_classify=False",
    "memory_search": "query k=8 type_filter='' agent_filter='' search_mode='hybrid' include_scratchpad=False "
    "user_id='' scope='' as_of=''",
    "memory_suggest": "query k=5",
    "memory_get": "id",
    "memory_update": "id content='' title='' metadata='' importance=-1 reembed=False",
    "memory_delete": "id hard=False",
    "conversation_start": "title agent_id='' model_id='' tags=''",
    "conversation_append": "conversation_id role content agent_id='' model_id='' embed=True",
    "conversation_search": "query k=8",
    "conversation_summarize": "conversation_id threshold=20",
    "chroma_sync": "max_items=50 direction='both' reset_stalled=True",
    "memory_maintenance": "decay=True purge_expired=True prune_orphan_embeddings=True",
    "memory_consolidate": "type_filter='' agent_filter='' threshold=20",
    "memory_dedup": "threshold=0.92 dry_run=True",
    "memory_feedback": "memory_id feedback='useful'",
    "memory_history": "memory_id limit=20",
    "memory_link": "from_id to_id relationship_type='related'",
    "memory_graph": "memory_id depth=1",
    "memory_verify": "id",
    "memory_set_retention": "agent_id max_memories=1000 ttl_days=0 auto_archive=1",
    "memory_export": "agent_filter='' type_filter='' since=''",
    "memory_import": "data",
    "gdpr_export": "user_id",
    "gdpr_forget": "user_id",
    "memory_cost_report": "",
}
GATED = {
    "memory_delete",
    "chroma_sync",
    "memory_maintenance",
    "memory_set_retention",
    "memory_export",
    "memory_import",
    "gdpr_export",
    "gdpr_forget",
}
BOUND = {"memory_write": "agent_id", "conversation_start": "agent_id", "conversation_append": "agent_id"}


def test_there_are_these_25_tools():
    assert set(TOOLS) == set(KNOWN)


@pytest.mark.parametrize("name", KNOWN)
def test_a_tool_has_the_parameters_that_are_known(name):
    parameters = list(inspect.signature(getattr(TOOLS[name].subject, name)).parameters.values())[1:]
    said = [one.name if one.default is one.empty else f"{one.name}={one.default!r}" for one in parameters]
    assert " ".join(said) == KNOWN[name]


@pytest.mark.parametrize("name", KNOWN)
def test_a_tool_is_gated_and_bound_as_is_known(name):
    tool = TOOLS[name]
    assert (tool.marks.gated, tool.marks.caller) == (name in GATED, BOUND.get(name, ""))
    shown = set(tool.spec.parameters["properties"])
    assert shown == {part.split("=")[0] for part in KNOWN[name].split()} - {BOUND.get(name)}
    assert tool.spec.description
