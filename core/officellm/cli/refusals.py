"""The check of a team file with what its vendors would refuse, judged by the rules of the fake vendor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from officellm.codec import loads
from officellm.errors import ConfigError
from officellm.httpprovider import HttpProvider
from officellm.messages import Request, User

if TYPE_CHECKING:
    from officellm.files.teamcheck import Report
    from officellm.setup import Setup


def refusal(setup: Setup) -> str | None:
    """Why the agent's first request would be refused; None where it would not, or nobody here knows the vendor's rules.

    A provider that speaks no HTTP has no such rules.
    """
    if not isinstance(setup.provider, HttpProvider):
        return None
    # Imported where a file is checked only: the rules of all vendors are not light.
    from officellm.testing.server import SPEAKERS

    request = Request(
        model=setup.model, messages=[User("hello")], tools=setup.toolset.specs, settings=dict(setup.agent.settings)
    )
    try:
        sent = setup.provider.build(request)
    except ConfigError as error:
        return str(error)
    address = urlsplit(sent.url)
    speaker = next((one for one in SPEAKERS if one.listens_to(address.path)), None)
    if speaker is None or not sent.body:
        return None
    headers = {name.lower(): value for name, value in sent.headers.items()}
    trouble = speaker.complain(speaker.hear(address.path, dict(parse_qsl(address.query)), headers, loads(sent.body)))
    return None if trouble is None else trouble.message


async def check_team(path: Path, *, ping: bool = False, board: str | None = None) -> Report:
    """Everything that can be said of a team file, with what vendors would refuse. Only `ping` uses the network.

    `board` is where the board is if the file does not say.
    """
    from officellm.files import teamcheck

    return await teamcheck.check_team(path, ping=ping, board=board, refusal=refusal)
