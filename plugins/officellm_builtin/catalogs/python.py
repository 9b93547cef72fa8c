"""The `python` catalog: tools from Python modules. Those marked `@tool`, or any one by `module:function`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from officellm import ConfigError, Context, HttpFactory, Tool, ToolError, hookimpl, is_tool


class PythonSettings(BaseModel):
    """`modules`: importable names, `package.module` or `package.module:function`; `path` is searched first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    modules: Sequence[str] = ()
    path: Sequence[str] = ()


class PythonCatalog:
    """The tools, in the order of their modules. Raises `ConfigError` for a module or function that is not there."""

    def __init__(self, settings: PythonSettings) -> None:
        self._tools: dict[str, Tool] = {}
        for folder in reversed(settings.path):
            if folder not in sys.path:
                sys.path.insert(0, folder)
        for name in settings.modules:
            for tool in _tools_of(name):
                if tool.name in self._tools:
                    raise ConfigError(f"tools.modules: two tools share the name {tool.name!r}")
                self._tools[tool.name] = tool

    async def tools(self) -> Sequence[Tool]:
        """Every tool."""
        return list(self._tools.values())

    async def call(self, name: str, arguments: Mapping[str, Any], context: Context) -> Any:
        """Run one tool. Raises `ToolError` for one that is not here."""
        tool = self._tools.get(name)
        if tool is None:
            raise ToolError(f'Tool "{name}" has no implementation provided.')
        return await tool.run(tool.validate(arguments), context)


def _tools_of(name: str) -> list[Tool]:
    module_name, colon, function_name = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise ConfigError(f"tools.modules: cannot import {module_name!r}: {type(error).__name__}: {error}") from error
    if colon:
        function = getattr(module, function_name, None)
        if not callable(function):
            raise ConfigError(f"tools.modules: {module_name!r} has no function {function_name!r}")
        return [Tool(function)]
    found = [Tool(value) for value in vars(module).values() if is_tool(value) and value.__module__ == module.__name__]
    if not found:
        raise ConfigError(f"tools.modules: {module_name!r} has no function marked @tool")
    return found


@hookimpl
def settings_model(kind: str, name: str) -> type[BaseModel]:
    return PythonSettings


@hookimpl
def make_catalog(name: str, settings: PythonSettings, http: HttpFactory) -> PythonCatalog:
    return PythonCatalog(settings)
