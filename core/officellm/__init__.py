"""officellm runs a team of LLM agents as an office: any provider, any router, any orchestration, each a plugin.

Every public name is imported on first use, so `import officellm` costs nothing and `officellm --help` stays fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from officellm.lazynames import lazy_names

if TYPE_CHECKING:
    from officellm.agents import (
        Agent as Agent,
    )
    from officellm.bodies import (
        join_body as join_body,
        merged as merged,
        taken_out as taken_out,
    )
    from officellm.cli.refusals import (
        check_team as check_team,
    )
    from officellm.clock import (
        Clock as Clock,
        SystemClock as SystemClock,
    )
    from officellm.codec import (
        canonical as canonical,
        dump_text as dump_text,
        dumps as dumps,
        loads as loads,
        parse_arguments as parse_arguments,
        whole_number as whole_number,
    )
    from officellm.errors import (
        ConfigError as ConfigError,
        ConfigErrors as ConfigErrors,
        FatalToolError as FatalToolError,
        LimitReached as LimitReached,
        NoRouteError as NoRouteError,
        OfficeError as OfficeError,
        PlanError as PlanError,
        PluginBrokenError as PluginBrokenError,
        PluginConflictError as PluginConflictError,
        PluginError as PluginError,
        PluginNotFoundError as PluginNotFoundError,
        ProviderError as ProviderError,
        RouteError as RouteError,
        RunError as RunError,
        ToolDefinitionError as ToolDefinitionError,
        ToolError as ToolError,
        UnknownAgentError as UnknownAgentError,
        WorkflowError as WorkflowError,
        nearest as nearest,
    )
    from officellm.events import (
        AgentEnd as AgentEnd,
        AgentStart as AgentStart,
        CallDeltaEvent as CallDeltaEvent,
        Event as Event,
        LimitEvent as LimitEvent,
        ModelReply as ModelReply,
        ModelRequest as ModelRequest,
        ModelRetry as ModelRetry,
        NodeEvent as NodeEvent,
        PlanEvent as PlanEvent,
        ReasoningDeltaEvent as ReasoningDeltaEvent,
        RouteEvent as RouteEvent,
        RunEnd as RunEnd,
        RunStart as RunStart,
        TextDeltaEvent as TextDeltaEvent,
        ToolCallEvent as ToolCallEvent,
        ToolResultEvent as ToolResultEvent,
        TransferEvent as TransferEvent,
        WarningEvent as WarningEvent,
    )
    from officellm.faults import (
        classify_http as classify_http,
        classify_payload as classify_payload,
        cut_short as cut_short,
        error_text as error_text,
        malformed as malformed,
        retry_after as retry_after,
    )
    from officellm.files.teamfile import (
        TeamFile as TeamFile,
        load_team as load_team,
    )
    from officellm.framing import (
        SseDecoder as SseDecoder,
    )
    from officellm.hookspecs import (
        hookimpl as hookimpl,
    )
    from officellm.host import (
        Host as Host,
    )
    from officellm.httpprovider import (
        HttpProvider as HttpProvider,
    )
    from officellm.kinds import (
        Kind as Kind,
    )
    from officellm.limits import (
        Limits as Limits,
    )
    from officellm.messages import (
        Assistant as Assistant,
        CallDelta as CallDelta,
        Delta as Delta,
        Finished as Finished,
        Media as Media,
        Message as Message,
        OutputSchema as OutputSchema,
        Part as Part,
        ReasoningDelta as ReasoningDelta,
        Reply as Reply,
        Request as Request,
        Stop as Stop,
        System as System,
        Text as Text,
        TextDelta as TextDelta,
        ToolCall as ToolCall,
        ToolChoice as ToolChoice,
        ToolResult as ToolResult,
        ToolSpec as ToolSpec,
        Usage as Usage,
        User as User,
    )
    from officellm.office import (
        Office as Office,
    )
    from officellm.pictures.drawing import (
        draw as draw,
    )
    from officellm.protocols import (
        Ask as Ask,
        CallInfo as CallInfo,
        Candidate as Candidate,
        Catalog as Catalog,
        Choice as Choice,
        Desk as Desk,
        Engine as Engine,
        HttpFactory as HttpFactory,
        LimitPolicy as LimitPolicy,
        Orchestrator as Orchestrator,
        Provider as Provider,
        Router as Router,
        RunInfo as RunInfo,
        Spend as Spend,
        Spent as Spent,
        ToolMode as ToolMode,
        Verdict as Verdict,
    )
    from officellm.providersettings import (
        ProviderSettings as ProviderSettings,
    )
    from officellm.replyjson import (
        argument_text as argument_text,
        as_mapping as as_mapping,
        as_sequence as as_sequence,
        as_text as as_text,
        decode_json as decode_json,
        decode_object as decode_object,
    )
    from officellm.results import (
        AgentResult as AgentResult,
        Hop as Hop,
        Result as Result,
        StopReason as StopReason,
        TransferRequest as TransferRequest,
    )
    from officellm.signatures import (
        ArgumentsError as ArgumentsError,
    )
    from officellm.stream import (
        RunStream as RunStream,
    )
    from officellm.strictschemas import (
        closed_schema as closed_schema,
        is_strict as is_strict,
    )
    from officellm.tasks import (
        Task as Task,
    )
    from officellm.threads import (
        in_thread as in_thread,
    )
    from officellm.tools import (
        Context as Context,
        Tool as Tool,
        ToolOptions as ToolOptions,
        is_tool as is_tool,
        tool as tool,
    )
    from officellm.transcript import (
        legal as legal,
        legal_id as legal_id,
        legal_name as legal_name,
        original_names as original_names,
        unique_calls as unique_calls,
    )
    from officellm.wire import (
        Fault as Fault,
        FaultError as FaultError,
        FaultKind as FaultKind,
        Framing as Framing,
        HttpRequest as HttpRequest,
        OutputMode as OutputMode,
        Reported as Reported,
        StreamDecoder as StreamDecoder,
        StreamEvent as StreamEvent,
        StreamParser as StreamParser,
        WireFormat as WireFormat,
    )
    from officellm.wording import (
        data_url as data_url,
        file_words as file_words,
        result_text as result_text,
    )
    from officellm.workflows.nodes import (
        Back as Back,
        Node as Node,
        NodeContext as NodeContext,
        NodeResult as NodeResult,
        NodeState as NodeState,
    )
    from officellm.workflows.patterns import (
        graph as graph,
        loop as loop,
        parallel as parallel,
        sequential as sequential,
    )
    from officellm.workflows.plan import (
        Plan as Plan,
        Step as Step,
        plan_schema as plan_schema,
        read_plan as read_plan,
    )
    from officellm.workflows.spec import (
        WorkflowSpec as WorkflowSpec,
    )
    from officellm.workflows.workflow import (
        Workflow as Workflow,
    )

__version__ = "0.1.0"

# A test holds this table and the imports above to the same names.
_HOME = {
    "agents": "Agent",
    "bodies": "join_body merged taken_out",
    "cli.refusals": "check_team",
    "clock": "Clock SystemClock",
    "codec": "canonical dump_text dumps loads parse_arguments whole_number",
    "errors": (
        "ConfigError ConfigErrors FatalToolError LimitReached NoRouteError OfficeError PlanError PluginBrokenError "
        "PluginConflictError PluginError PluginNotFoundError ProviderError RouteError RunError "
        "ToolDefinitionError ToolError UnknownAgentError WorkflowError nearest"
    ),
    "events": (
        "AgentEnd AgentStart CallDeltaEvent Event LimitEvent ModelReply ModelRequest ModelRetry NodeEvent PlanEvent "
        "ReasoningDeltaEvent RouteEvent RunEnd RunStart TextDeltaEvent ToolCallEvent ToolResultEvent "
        "TransferEvent WarningEvent"
    ),
    "faults": "classify_http classify_payload cut_short error_text malformed retry_after",
    "files.teamfile": "TeamFile load_team",
    "framing": "SseDecoder",
    "hookspecs": "hookimpl",
    "host": "Host",
    "httpprovider": "HttpProvider",
    "kinds": "Kind",
    "limits": "Limits",
    "messages": (
        "Assistant CallDelta Delta Finished Media Message OutputSchema Part ReasoningDelta Reply Request Stop "
        "System Text TextDelta ToolCall ToolChoice ToolResult ToolSpec Usage User"
    ),
    "office": "Office",
    "pictures.drawing": "draw",
    "protocols": (
        "Ask CallInfo Candidate Catalog Choice Desk Engine HttpFactory LimitPolicy Orchestrator Provider "
        "Router RunInfo Spend Spent ToolMode Verdict"
    ),
    "providersettings": "ProviderSettings",
    "replyjson": "argument_text as_mapping as_sequence as_text decode_json decode_object",
    "results": "AgentResult Hop Result StopReason TransferRequest",
    "signatures": "ArgumentsError",
    "stream": "RunStream",
    "strictschemas": "closed_schema is_strict",
    "tasks": "Task",
    "threads": "in_thread",
    "tools": "Context Tool ToolOptions is_tool tool",
    "transcript": "legal legal_id legal_name original_names unique_calls",
    "wire": (
        "Fault FaultError FaultKind Framing HttpRequest OutputMode Reported StreamDecoder StreamEvent StreamParser "
        "WireFormat"
    ),
    "wording": "data_url file_words result_text",
    "workflows.nodes": "Back Node NodeContext NodeResult NodeState",
    "workflows.patterns": "graph loop parallel sequential",
    "workflows.plan": "Plan Step plan_schema read_plan",
    "workflows.spec": "WorkflowSpec",
    "workflows.workflow": "Workflow",
}
_WHERE, __getattr__, __dir__ = lazy_names(globals(), _HOME)

__all__ = sorted(_WHERE)  # noqa: PLE0605 - the same table that `__getattr__` reads
