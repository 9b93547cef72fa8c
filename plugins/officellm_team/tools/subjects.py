"""All tools of the board, in the order in which the reference lists them."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType

from officellm_team.tools.agents import AgentTools
from officellm_team.tools.catalog import BoardTool, tools_of
from officellm_team.tools.conversations import ConversationTools
from officellm_team.tools.handoffs import HandoffTools
from officellm_team.tools.links import LinkTools
from officellm_team.tools.memories import MemoryTools
from officellm_team.tools.notifications import NotificationTools
from officellm_team.tools.tasks import TaskTools
from officellm_team.tools.upkeep import UpkeepTools

SUBJECTS = (
    MemoryTools,
    ConversationTools,
    UpkeepTools,
    LinkTools,
    HandoffTools,
    AgentTools,
    NotificationTools,
    TaskTools,
)


@cache
def all_tools() -> MappingProxyType[str, BoardTool]:
    """Every tool by name."""
    return MappingProxyType(tools_of(SUBJECTS))
