"""What the block of a local provider may say in a team file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class LocalSettings(BaseModel):
    """`model` is the default: `smollm2`, or the path of a GGUF file.

    `choose` and `answer` say who decides: `weigh` compares meanings and `quote` quotes tool results, both without a
    written word; `write` lets the model write. `answer` is `quote` for smollm2 and `write` for other models by default.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = "smollm2"
    threads: Annotated[int, Field(ge=1, le=256)] = 1
    context: Annotated[int, Field(ge=512)] = 2048
    max_tokens: Annotated[int, Field(ge=1)] = 256
    choose: Literal["weigh", "write"] = "weigh"
    answer: Literal["quote", "write"] | None = None
    tool_mode: Literal["schema", "prompt"] = "schema"
    offer_once: bool = True
    timeout: Annotated[float, Field(gt=0)] = 600.0
    settings: Mapping[str, Any] = Field(default_factory=dict)
