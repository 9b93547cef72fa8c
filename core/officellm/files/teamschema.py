"""The JSON Schema of team files, with the settings of the providers that are installed: for editors."""

from __future__ import annotations

from typing import Any

from officellm import shelf
from officellm.errors import PluginError
from officellm.files.teammodel import TeamModel
from officellm.host import Host
from officellm.kinds import Kind

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def team_schema(host: Host | None = None) -> dict[str, Any]:
    """One schema for the whole file. A provider that cannot be imported is left out."""
    host = host or Host()
    schema = TeamModel.model_json_schema()
    blocks = []
    for name in shelf.names(Kind.PROVIDER.group):
        block = _provider_block(host, name, schema["$defs"])
        if block is not None:
            blocks.append(block)
    schema["properties"]["providers"]["additionalProperties"] = {"anyOf": blocks} if blocks else {"type": "object"}
    return {"$schema": DRAFT, "title": "officellm team file", **{k: v for k, v in schema.items() if k != "title"}}


def _provider_block(host: Host, name: str, definitions: dict[str, Any]) -> dict[str, Any] | None:
    """The block of one wire format; what its schema defines is added to `definitions` under the format's name."""
    try:
        model = host.settings_model(Kind.PROVIDER, name)
    except PluginError:
        return None
    block = model.model_json_schema(ref_template=f"#/$defs/{name}.{{model}}") if model is not None else {}
    for inner, definition in block.pop("$defs", {}).items():
        definitions[f"{name}.{inner}"] = definition
    properties = {"format": {"const": name}, **block.get("properties", {})}
    return {"type": "object", **block, "title": name, "properties": properties}
