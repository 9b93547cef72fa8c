"""What `officellm init` writes: a small team that runs as it stands, its task and its tools."""

from __future__ import annotations

import os
from collections.abc import Mapping

from officellm.errors import ConfigError, nearest
from officellm.kinds import Kind
from officellm.presets import PRESETS
from officellm.provenance import offers_of

#: A model of each preset that calls tools well and costs little. Local servers answer with what they have loaded.
MODELS = {
    "openai": "gpt-4.1-mini",
    "anthropic": "claude-haiku-4-5",
    "gemini": "gemini-2.5-flash",
    "grok": "grok-3-mini",
    "groq": "llama-3.3-70b-versatile",
    "openrouter": "openai/gpt-4.1-mini",
    "together": "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    "perplexity": "sonar",
    "deepseek": "deepseek-chat",
    "mistral": "mistral-small-latest",
    "lm-studio": "local-model",
    "ollama": "qwen3:8b",
    "vllm": "local-model",
    "llama-cpp": "local-model",
    "local": "smollm2",
}

_HEAD = """\
# A team of officellm. Run its task:  officellm run task.json
# Check this file after a change:     officellm check
# Keys for an editor:                 officellm check --schema

providers:
  {provider}:                      # known by its name; base_url and headers can be set here
    model: "{model}"
{key}
limits:                            # of a whole run, shared by all agents
  max_requests: 30
  max_seconds: 300

"""

_TEAM = """\
manager: editor                    # starts, and calls the others like tools

agents:
  - name: editor
    description: Plans the work and writes the final answer
    provider: {provider}
    system_prompt: |
      You lead a small team. Let the researcher find facts, then write the answer yourself.
      Before you answer, let the researcher check that the text is as long as was asked for.
    workers: [researcher]

  - name: researcher
    description: Finds facts in the team's notes and counts words
    provider: {provider}
    system_prompt: |
      Use your tools, then report what you found, and nothing that you did not find.
    tools: [search_notes, count_words]
    limits: {{max_turns: 8}}

tools:
  modules: [mytools]               # mytools.py beside this file
  search_notes: {{timeout: 10}}
"""

_MINIMAL = """\
agents:
  - name: assistant
    description: Does what the task says
    provider: {provider}
    system_prompt: |
      Work on the task, then answer with the result.
"""

_TOOLS = '''\
"""Tools of the team: ordinary functions. Hints make the schema that a model sees, the docstring its descriptions."""

from officellm import ToolError, tool

NOTES = {
    "tide pools": "Tide pools are left behind when the sea withdraws. Starfish, crabs and anemones live in them.",
    "starfish": "A starfish can regrow an arm. It has no brain and no blood.",
}


@tool
def search_notes(topic: str) -> str:
    """Look a topic up in the team's notes.

    Args:
        topic: One or two words, such as "tide pools".
    """
    found = [text for name, text in NOTES.items() if name in topic.lower() or topic.lower() in name]
    if not found:
        raise ToolError(f"No notes about {topic!r}. There are notes about: {', '.join(NOTES)}.")
    return "\\n".join(found)


@tool
def count_words(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())
'''

_TASK = """\
{
  "title": "A note about tide pools",
  "description": "Write three sentences about tide pools for children.",
  "priority": "medium",
  "context": {"audience": "children of eight"}
}
"""


def starter_files(provider: str, *, minimal: bool = False) -> Mapping[str, str]:
    """The files by name. Raises `ConfigError` for a provider that is no preset."""
    if provider not in PRESETS:
        raise ConfigError(f"unknown provider {provider!r}.{nearest(provider, PRESETS)}")
    variable = PRESETS[provider].api_key_env
    key = f"    api_key_env: {variable}\n" if variable else ""
    head = _HEAD.format(provider=provider, model=MODELS[provider], key=key)
    body = (_MINIMAL if minimal else _TEAM).format(provider=provider)
    files = {"team.yaml": head + body, "task.json": _TASK}
    return files if minimal else {**files, "mytools.py": _TOOLS}


def likely_provider() -> str:
    """The first preset whose key is set here; else the model in this process, where it is installed, or a server."""
    keys = ((name, preset.api_key_env) for name, preset in PRESETS.items())
    local = "local" if offers_of(Kind.PROVIDER.group, "local") else "ollama"
    return next((name for name, variable in keys if variable and os.environ.get(variable)), local)
