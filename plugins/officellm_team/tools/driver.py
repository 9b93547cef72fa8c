"""The driver of the catalog `board`: what a team file's key `board` opens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from officellm import ConfigError, HttpFactory, hookimpl

if TYPE_CHECKING:
    from officellm_team.board.store import Board
    from officellm_team.tools.catalog import BoardCatalog


class EmbedderSettings(BaseModel):
    """An endpoint that answers `POST {base_url}/embeddings`, with the variable that holds its key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    base_url: str
    api_key_env: str | None = None


class SummarizerSettings(BaseModel):
    """A model as `provider:name`, and blocks of providers that are no presets."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    providers: dict[str, Any] = Field(default_factory=dict)


class BoardSettings(BaseModel):
    """`url` is a file, or `postgresql://...`. An `embedder` makes search hybrid, a `summarizer` sums up."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str
    embedder: EmbedderSettings | None = None
    summarizer: SummarizerSettings | None = None

    def open(self) -> Board:
        """The board with its helpers. Raises `ConfigError`."""
        from officellm_team.board.services import AgentSummarizer, HttpEmbedder
        from officellm_team.board.store import Board

        opened = Board(self.url)
        if self.embedder is not None:
            one = self.embedder
            opened.helpers.embedder = HttpEmbedder(one.model, one.base_url, one.api_key_env)
        if self.summarizer is not None:
            opened.helpers.summarizer = AgentSummarizer(self.summarizer.model, self.summarizer.providers)
        return opened


@hookimpl
def settings_model(kind: str, name: str) -> type[BaseModel]:
    return BoardSettings


@hookimpl
def make_catalog(name: str, settings: BoardSettings, http: HttpFactory) -> BoardCatalog:
    try:
        import officellm_team.board.store  # noqa: F401 - is what it needs there?
    except ModuleNotFoundError as error:
        raise ConfigError(f"a board needs the package {error.name}: pip install 'officellm[team]'") from None
    from officellm_team.tools.catalog import BoardCatalog
    from officellm_team.tools.subjects import all_tools

    return BoardCatalog(settings.open, all_tools())
