"""The driver of the catalog `board`: what a team file's key `board` opens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

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


class ChromaSettings(BaseModel):
    """A collection of a Chroma server (`url`), or of a folder (`path`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str | None = None
    path: str | None = None
    collection: str = "officellm"

    @model_validator(mode="after")
    def _url_or_path(self) -> ChromaSettings:
        if (self.url is None) == (self.path is None):
            raise ValueError("give a url or a path, one of the two")
        return self


class BoardSettings(BaseModel):
    """`url` is a file, or `postgresql://...`. An `embedder` makes search hybrid, a `summarizer` sums up.

    `chroma` is what `chroma_sync` syncs with; its vectors are the embedder's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str
    embedder: EmbedderSettings | None = None
    summarizer: SummarizerSettings | None = None
    chroma: ChromaSettings | None = None

    @model_validator(mode="after")
    def _chroma_has_vectors(self) -> BoardSettings:
        if self.chroma is not None and self.embedder is None:
            raise ValueError("chroma needs an embedder: the collection is given vectors, and makes none itself")
        return self

    def open(self) -> Board:
        """The board with its helpers. Raises `ConfigError`."""
        from officellm_team.board.services import AgentSummarizer, HttpEmbedder, chroma_collection
        from officellm_team.board.store import Board

        opened = Board(self.url)
        if self.embedder is not None:
            one = self.embedder
            opened.helpers.embedder = HttpEmbedder(one.model, one.base_url, one.api_key_env)
        if self.summarizer is not None:
            opened.helpers.summarizer = AgentSummarizer(self.summarizer.model, self.summarizer.providers)
        if self.chroma is not None:
            chroma = self.chroma
            opened.helpers.collection = chroma_collection(chroma.collection, url=chroma.url, path=chroma.path)
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
