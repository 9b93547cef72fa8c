"""YAML text into plain values and lines: the safe subset of it, without types of Python, bombs of aliases or dates."""

from __future__ import annotations

from typing import Any

import yaml

from officellm.errors import ConfigError
from officellm.files.documents import MAX_DEPTH
from officellm.files.places import KeyPath, Lines, key_text

#: Aliases may repeat parts of a file; this many values in all are more than anyone writes.
MAX_VALUES = 50_000
_TAG = "tag:yaml.org,2002:"
_SCALARS = frozenset(_TAG + name for name in ("str", "int", "float", "bool", "null"))
#: `2025-01-01` and `=` stay text: our files know neither dates nor YAML's value key.
_AS_TEXT = frozenset({_TAG + "timestamp", _TAG + "value"})


class _Loader(yaml.SafeLoader):
    pass


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _AS_TEXT]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_yaml(text: str, file: str) -> tuple[Any, Lines]:
    """The one document in a text, and where its keys stand. Raises `ConfigError`."""
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        raise ConfigError(f"not valid YAML: {error.problem or error.context}", place=_place(file, error)) from None
    except yaml.YAMLError as error:
        line = text.count("\n", 0, getattr(error, "position", 0)) + 1
        raise ConfigError(f"not valid YAML: {getattr(error, 'reason', error)}", place=f"{file}:{line}") from None
    except (ValueError, OverflowError) as error:
        # PyYAML lets a broken escape such as "\UFFFFFFFF" through to chr().
        raise ConfigError(f"not valid YAML: {error}", place=file) from None
    if node is None:
        raise ConfigError("the file is empty", place=file)
    reader = _Reader(loader, file)
    return reader.value(node, ()), reader.lines


def _place(file: str, error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return f"{file}:{mark.line + 1}:{mark.column + 1}" if mark is not None else file


class _Reader:
    def __init__(self, loader: _Loader, file: str) -> None:
        self.lines: Lines = {}
        self._loader = loader
        self._file = file
        self._values = 0

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        self.lines.setdefault(path, node.start_mark.line + 1)
        self._values += 1
        if self._values > MAX_VALUES:
            raise self._refused(node, (), f"more than {MAX_VALUES} values, aliases counted where they are used")
        if len(path) > MAX_DEPTH:
            raise self._refused(node, path[:8], f"nested more than {MAX_DEPTH} deep, or inside itself")
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode) and node.tag in _SCALARS:
            return self._scalar(node, path)
        raise self._refused(node, path, f"the tag {node.tag.replace(_TAG, '!!')} is not read here")

    def _scalar(self, node: yaml.ScalarNode, path: KeyPath) -> Any:
        try:
            return self._loader.construct_object(node)
        except (ValueError, KeyError, OverflowError):
            shown = node.value if len(node.value) <= 40 else node.value[:37] + "..."
            raise self._refused(node, path, f"not a value of this type: {shown!r}") from None

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        made: dict[str, Any] = {}
        merged: list[yaml.Node] = []
        for key_node, item in node.value:
            if key_node.tag == f"{_TAG}merge":
                merged.extend(item.value if isinstance(item, yaml.SequenceNode) else [item])
                continue
            key = self._key(key_node, path)
            if key in made:
                raise self._refused(key_node, (*path, key), "this key is given twice")
            self.lines.setdefault((*path, key), key_node.start_mark.line + 1)
            made[key] = self.value(item, (*path, key))
        for item in merged:
            part = self.value(item, path)
            if not isinstance(part, dict):
                raise self._refused(item, path, "<< must name mappings")
            made = {**part, **made}
        return made

    def _key(self, node: yaml.Node, path: KeyPath) -> str:
        if isinstance(node, yaml.ScalarNode) and node.tag == f"{_TAG}str":
            return str(node.value)
        if isinstance(node, yaml.ScalarNode):
            raise self._refused(node, path, f"the key {node.value!r} must be text: put it in quotes")
        raise self._refused(node, path, "a key must be text")

    def _refused(self, node: yaml.Node, path: KeyPath, message: str) -> ConfigError:
        where = f"{key_text(path)}: " if path else ""
        return ConfigError(f"{where}{message}", place=f"{self._file}:{node.start_mark.line + 1}")
