"""The base of models that files are read into: unknown keys are errors, keys may be written in camelCase."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


def snake(key: str) -> str:
    """The snake_case form of a camelCase key."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found.group(1).lower(), key)


class FileKeys(BaseModel):
    """A mapping whose unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _snake(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {snake(key) if isinstance(key, str) else key: item for key, item in value.items()}
