"""The driver of the catalog `board`: what a team file's key `board` opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from officellm import ConfigError, HttpFactory, hookimpl

if TYPE_CHECKING:
    from officellm_team.tools.catalog import BoardCatalog


class BoardSettings(BaseModel):
    """`url` is a file, or `postgresql://...`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str


@hookimpl
def settings_model(kind: str, name: str) -> type[BaseModel]:
    return BoardSettings


@hookimpl
def make_catalog(name: str, settings: BoardSettings, http: HttpFactory) -> BoardCatalog:
    try:
        from officellm_team.board.store import Board
    except ModuleNotFoundError as error:
        raise ConfigError(f"a board needs the package {error.name}: pip install 'officellm[team]'") from None
    from officellm_team.tools.catalog import BoardCatalog
    from officellm_team.tools.subjects import all_tools

    return BoardCatalog(lambda: Board(settings.url), all_tools())
