"""Names by which the keys of a team file mean each other: agents, workers, providers, models. Imports no plugin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from officellm.errors import nearest
from officellm.files.places import KeyPath
from officellm.files.teammodel import AgentBlock, TeamModel
from officellm.presets import PRESETS


class WrongNameError(Exception):
    """A name that leads nowhere; `key` is the agent's key, or a whole path where it starts elsewhere."""

    def __init__(self, key: KeyPath, message: str, *, absolute: bool = False) -> None:
        self.key = key
        self.absolute = absolute
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Member:
    """An agent of a team file, and where it stands."""

    path: KeyPath
    block: AgentBlock


class Names:
    """Who is who in one team file. `raw` is the file's own value: what is broken in it was still named."""

    def __init__(self, model: TeamModel, raw: Any) -> None:
        self.model = model
        raw = raw if isinstance(raw, Mapping) else {}
        self.manager_is_block = isinstance(raw.get("manager"), Mapping)
        blocks = raw.get("providers")
        self._blocks = list(blocks) if isinstance(blocks, Mapping) else []

    def members(self) -> list[Member]:
        """Every agent, the manager first where it is a block of its own."""
        found = [Member(("agents", index), block) for index, block in enumerate(self.model.agents)]
        if self.manager_is_block and self.model.manager is not None:
            found.insert(0, Member(("manager",), self.model.manager))
        return found

    def agents(self) -> list[str]:
        """Names of the agents, in order."""
        return [member.block.name for member in self.members() if member.block.name]

    def workers(self, block: AgentBlock) -> list[str]:
        """Names of an agent's workers: a manager that says nothing has all other agents."""
        if block.workers is not None:
            return block.workers
        manager = self.model.manager
        if manager is None or manager.name != block.name:
            return []
        return [name for name in self.agents() if name != block.name]

    def providers(self) -> list[str]:
        """Providers that can be named: blocks, then presets."""
        return [*self._blocks, *(name for name in PRESETS if name not in self._blocks)]

    def is_provider(self, name: str) -> bool:
        """Whether this name is a block, a preset or an installed provider."""
        return name in self._blocks or self.is_known_without_block(name)

    def is_known_without_block(self, name: str) -> bool:
        """Whether this name is a preset or an installed provider."""
        if name in PRESETS:
            return True
        from officellm import shelf
        from officellm.kinds import Kind

        return name in shelf.names(Kind.PROVIDER.group)

    def refuse_unknown_provider(self, name: str, key: KeyPath, *, absolute: bool = False) -> None:
        """Raises `WrongNameError` for a provider that is not there."""
        if not self.is_provider(name):
            known = self.providers()
            close = nearest(name, known)
            hint = "" if close.startswith(" Did") else f" A package may offer it: pip install officellm-provider-{name}"
            raise WrongNameError(key, f"unknown provider {name!r}.{close}{hint}", absolute=absolute)

    def model_of(self, agent: AgentBlock) -> str:
        """The agent's model as `provider:name`. Raises `WrongNameError`.

        `provider` and `model`, or `model: provider:name`; what is left out comes from the provider's block and from
        `defaults`. A model whose own name holds a colon (`qwen3:8b`) needs its provider said.
        """
        defaults = self.model.defaults
        provider, name = agent.provider, agent.model
        if provider is None and name is None:
            provider, name = defaults.provider, defaults.model
        if provider is None and name is not None:
            head, colon, _ = name.partition(":")
            if colon and self.is_provider(head):
                return name
            if defaults.provider is None:
                self._refuse_bare(name, head if colon else "")
            provider = defaults.provider
        if provider is None:
            raise WrongNameError(("model",), "required and missing: say 'provider:name', such as 'openai:gpt-4.1-mini'")
        named_here = agent.provider is not None
        at: KeyPath = ("provider",) if named_here else ("defaults", "provider")
        self.refuse_unknown_provider(provider, at, absolute=not named_here)
        name = name or self.model.providers.get(provider, {}).get("model")
        if name is None and provider == defaults.provider:
            name = defaults.model
        if not isinstance(name, str) or not name:
            raise WrongNameError(("model",), f"required, because provider {provider!r} has no default model")
        return f"{provider}:{name.removeprefix(provider + ':')}"

    def _refuse_bare(self, name: str, head: str) -> None:
        if head:
            self.refuse_unknown_provider(head, ("model",))
        raise WrongNameError(("model",), f"{name!r} names no provider: say 'provider:name', or add a provider")
