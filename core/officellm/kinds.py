"""The kinds of driver: where each is found, which hook makes it, which protocol it answers."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """One kind of driver. The value is the word used in files, commands and messages."""

    PROVIDER = "provider"
    ROUTER = "router"
    ORCHESTRATOR = "orchestrator"
    CATALOG = "catalog"
    LIMIT = "limit"
    ENGINE = "engine"

    @property
    def group(self) -> str:
        """The entry-point group."""
        return f"officellm.{self.value}s"

    @property
    def hook(self) -> str:
        """The hook that makes one."""
        return "make_limit_policy" if self is Kind.LIMIT else f"make_{self.value}"

    @property
    def protocol(self) -> str:
        """The protocol's name in `officellm.protocols`."""
        return "LimitPolicy" if self is Kind.LIMIT else self.value.title()


#: Cross-cutting plugins, loaded at start; and commands, loaded when typed.
EXTENSIONS = "officellm.extensions"
COMMANDS = "officellm.commands"
#: The environment variable that names extensions not to load.
DISABLE = "OFFICELLM_DISABLE"
