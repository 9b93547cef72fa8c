"""Who asks something of the board, and what that one may do."""

from __future__ import annotations

from dataclasses import dataclass

from officellm_team.board.errors import BoardError


@dataclass(frozen=True, slots=True)
class Caller:
    """The true name of who calls, as the run or the connection says it: no argument can change it.

    `operator` is a person at the command line: it may read and change what belongs to others. `gated` is whether the
    call came through a tool that is off by default and was allowed, which may change what belongs to others too.
    """

    name: str
    operator: bool = False
    gated: bool = False

    def may_change(self, *owners: str) -> bool:
        """Whether the caller may change what belongs to one of these; what belongs to nobody, anyone may."""
        return self.operator or self.gated or self.name in owners or not any(owners)

    def require(self, what: str, *owners: str) -> None:
        """Raises `BoardError` with the code `not_allowed`."""
        if not self.may_change(*owners):
            whose = " or ".join(repr(one) for one in dict.fromkeys(owners) if one)
            raise BoardError("not_allowed", f"{what} belongs to {whose}, not to {self.name!r}.")
