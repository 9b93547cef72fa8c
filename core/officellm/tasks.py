"""What a user wants: one task, as Python, JSON and the prompt that an agent reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator
from pydantic.alias_generators import to_camel

from officellm.codec import dump_text

Priority = Literal["low", "medium", "high"]


class Task(BaseModel):
    """A title and a description, with priority and context. Extra keys are errors: put what you like in `context`."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    title: str
    description: str = ""
    priority: Priority = "medium"
    context: Mapping[str, Any] = Field(default_factory=dict)
    metadata: Mapping[str, Any] = Field(default_factory=dict)

    _verbatim: bool = PrivateAttr(default=False)

    @field_validator("title")
    @classmethod
    def _has_title(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("a task needs a title")
        return value

    @classmethod
    def of(cls, text: str) -> Task:
        """A task from plain words, which the agent then reads exactly as they stand."""
        first = text.strip().splitlines()[0] if text.strip() else ""
        task = cls(title=first[:80], description=text)
        task._verbatim = True
        return task

    @property
    def query(self) -> str:
        """The words that routers look at: title and description."""
        if self._verbatim or not self.description:
            return self.description or self.title
        return f"{self.title}\n{self.description}"

    def prompt(self) -> str:
        """The agent's first user message: labelled paragraphs, context verbatim where it is text."""
        if self._verbatim and not self.context:
            return self.description
        parts = [f"Task: {self.title}"]
        if self.description:
            parts.append(f"Description: {self.description}")
        parts.append(f"Priority: {self.priority}")
        parts.extend(labelled(self.context))
        return "\n\n".join(parts)


def labelled(values: Mapping[str, Any]) -> list[str]:
    """One paragraph a value: text as it stands, with its line breaks; anything else as JSON."""
    out = []
    for key, value in values.items():
        text = value if isinstance(value, str) else dump_text(value)
        out.append(f"{key}:\n{text}" if "\n" in text else f"{key}: {text}")
    return out
