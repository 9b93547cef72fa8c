"""What tests of agents and plugins are made of: a scripted model, a fake LLM server, contract suites.

Every name is imported on first use: a test that needs a scripted model does not load an HTTP server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from officellm.lazynames import lazy_names

if TYPE_CHECKING:
    from officellm.testing.contracts import (
        Bound as Bound,
        CatalogContract as CatalogContract,
        Exchange as Exchange,
        FakeClock as FakeClock,
        InProcessProviderContract as InProcessProviderContract,
        LimitPolicyContract as LimitPolicyContract,
        OrchestratorContract as OrchestratorContract,
        ProviderContract as ProviderContract,
        ProviderOfficeContract as ProviderOfficeContract,
        RecordingsContract as RecordingsContract,
        RouterContract as RouterContract,
        ToolUse as ToolUse,
        histories as histories,
    )
    from officellm.testing.exchanges import (
        RecordedExchange as RecordedExchange,
        load_exchange as load_exchange,
        play as play,
        play_stream as play_stream,
    )
    from officellm.testing.faults import (
        FAULTS as FAULTS,
        NamedFault as NamedFault,
        fault_table as fault_table,
    )
    from officellm.testing.record import (
        Record as Record,
    )
    from officellm.testing.recorded.expected import (
        misread as misread,
    )
    from officellm.testing.recorded.rebuilding import (
        finder as finder,
        rebuilt as rebuilt,
    )
    from officellm.testing.replies import (
        ScriptedCall as ScriptedCall,
        ScriptedFault as ScriptedFault,
        ScriptedReply as ScriptedReply,
        call as call,
        calls as calls,
        fault as fault,
        reply as reply,
    )
    from officellm.testing.script import (
        Rule as Rule,
        Script as Script,
        ScriptExhausted as ScriptExhausted,
        rule as rule,
    )
    from officellm.testing.scripted_model import (
        ScriptedModel as ScriptedModel,
        scripted as scripted,
    )
    from officellm.testing.scriptfile import (
        load_script as load_script,
        read_script as read_script,
    )
    from officellm.testing.server import (
        SPEAKERS as SPEAKERS,
        FakeLLM as FakeLLM,
    )
    from officellm.testing.wires.speaker import (
        Answer as Answer,
        Heard as Heard,
        Said as Said,
        Speaker as Speaker,
        Trouble as Trouble,
    )

# A test holds this table and the imports above to the same names.
_HOME = {
    "contracts": (
        "Bound CatalogContract Exchange FakeClock InProcessProviderContract LimitPolicyContract OrchestratorContract "
        "ProviderContract ProviderOfficeContract RecordingsContract RouterContract ToolUse histories"
    ),
    "exchanges": "RecordedExchange load_exchange play play_stream",
    "faults": "FAULTS NamedFault fault_table",
    "record": "Record",
    "recorded.expected": "misread",
    "recorded.rebuilding": "finder rebuilt",
    "replies": "ScriptedCall ScriptedFault ScriptedReply call calls fault reply",
    "script": "Rule Script ScriptExhausted rule",
    "scripted_model": "ScriptedModel scripted",
    "scriptfile": "load_script read_script",
    "server": "FakeLLM SPEAKERS",
    "wires.speaker": "Answer Heard Said Speaker Trouble",
}
_WHERE, __getattr__, __dir__ = lazy_names(globals(), _HOME)

__all__ = sorted(_WHERE)  # noqa: PLE0605 - the same table that `__getattr__` reads
