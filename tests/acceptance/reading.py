"""Reads what models were asked: results, tools and texts of a request."""

from officellm import Agent, Assistant, ToolResult, User


def results(request):
    """Every tool result of a request, oldest first."""
    return [message for message in request.messages if isinstance(message, ToolResult)]


def last_result(model, request=-1):
    """The text of the newest tool result that a model was sent."""
    return results(model.requests[request])[-1].content


def users(request):
    return [message.text for message in request.messages if isinstance(message, User)]


def tools(request):
    return {spec.name: spec for spec in request.tools}


def unanswered(messages):
    """Ids of calls that are not answered exactly once."""
    called = [call.id for message in messages if isinstance(message, Assistant) for call in message.calls]
    answered = [message.call_id for message in messages if isinstance(message, ToolResult)]
    return sorted(set(called) ^ set(answered)) + [one for one in set(answered) if answered.count(one) > 1]


def worker(model, name="research_agent", **options):
    return Agent(name, "Finds facts", model=model, **options)


def boss(model, **options):
    return Agent("boss", "Leads", model=model, **options)
