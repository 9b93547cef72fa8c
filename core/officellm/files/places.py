"""Where a key stands in a file: lines of keys in JSON and TOML text, and problems that name them. Reads no file."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from officellm.errors import ConfigError
from officellm.filekeys import snake

#: The keys and indexes that lead to a value, such as `("agents", 1, "provider")`.
KeyPath = tuple[str | int, ...]
#: The line, counted from 1, on which each key or list item begins.
Lines = dict[KeyPath, int]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong (or doubtful) at one place of a file; its text is one line."""

    file: str
    line: int | None
    key: str
    message: str
    column: int | None = None

    @property
    def place(self) -> str:
        """`file:line`, with the column for a syntax error."""
        numbers = [number for number in (self.line, self.column) if number is not None]
        return ":".join([self.file, *map(str, numbers)])

    @property
    def text(self) -> str:
        """The problem without its place."""
        text = f"{self.key}: {self.message}" if self.key else self.message
        return " ".join(text.split())  # what a problem quotes may hold anything

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"

    def error(self) -> ConfigError:
        """The same, to raise."""
        return ConfigError(self.text, place=self.place)


@dataclass(slots=True)
class Document:
    """A file that was read: its value, and lines that are looked for only when there is something to say."""

    file: str
    value: Any
    find_lines: Callable[[], Lines]
    _lines: Lines | None = field(default=None, init=False)

    def problem(self, path: KeyPath, message: str) -> Problem:
        """A problem at a key. A path through a short form (`tools: [x]` for `tools.allow`) finds what was written."""
        found, inner = self._follow(path)
        missing = path[-1:] if len(found) == len(path) - 1 and isinstance(inner, Mapping) else ()
        return Problem(self.file, self.line(found), key_text((*found, *missing)), message)

    def line(self, path: KeyPath) -> int:
        """The line of a key, or of the nearest one around it."""
        if self._lines is None:
            self._lines = self.find_lines()
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)

    def written(self, path: KeyPath) -> KeyPath:
        """The part of a path that stands in the file; keys match in snake_case and camelCase."""
        return self._follow(path)[0]

    def at(self, path: KeyPath) -> Any:
        """The value there, or what is around it."""
        return self._follow(path)[1]

    def _follow(self, path: KeyPath) -> tuple[KeyPath, Any]:
        value: Any = self.value
        found: list[str | int] = []
        for part in path:
            if isinstance(value, Mapping):
                key = part if part in value else next((key for key in value if snake(key) == part), None)
            else:
                key = part if isinstance(value, list) and isinstance(part, int) and part < len(value) else None
            if key is not None:
                found.append(key)
                value = value[key]
        return tuple(found), value


def key_text(path: KeyPath) -> str:
    """`agents[1].provider`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            plain = re.fullmatch(r"[\w@-]+", part) is not None
            text += f"{'.' if text else ''}{part if plain else json.dumps(part, ensure_ascii=False)}"
    return text


_JSON = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass(slots=True)
class JsonPlaces:
    """Lines of a JSON text, and the keys that were given twice."""

    lines: Lines
    twice: list[tuple[KeyPath, int]]


def json_places(text: str, *, first_line: int = 1) -> JsonPlaces:
    """Lines of valid JSON."""
    places = JsonPlaces({}, [])
    path: list[Any] = []
    opened: list[str] = []
    at_key = False
    line, counted = first_line, 0
    for token in _JSON.finditer(text):
        line += text.count("\n", counted, token.start())
        counted = token.start()
        sign = token.group()
        if sign in "}]":
            opened.pop()
            path.pop()
            at_key = False
        elif sign == ",":
            at_key = opened[-1] == "{"
            if not at_key:
                path[-1] += 1
        elif at_key:
            path[-1] = json.loads(sign)
            at_key = False
            where = tuple(path)
            if where in places.lines:
                places.twice.append((where, line))
            places.lines[where] = line
        elif sign != ":":
            places.lines.setdefault(tuple(path), line)
            if sign in "{[":
                opened.append(sign)
                path.append(0)
                at_key = sign == "{"
    return places


_TOML = re.compile(
    r'#[^\n]*|"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|[\[\]{},=\n]|[^\s\[\]{},=\"'#]+",
    re.DOTALL,
)


def toml_lines(text: str) -> Lines:
    """Lines of valid TOML: tables, arrays of tables, dotted and quoted keys, inline tables, arrays."""
    return _TomlScan(text).lines


class _TomlScan:
    def __init__(self, text: str) -> None:
        self.lines: Lines = {(): 1}
        self._tokens = list(_toml_tokens(text))
        self._at = 0
        self._items: dict[KeyPath, int] = {}
        table: KeyPath = ()
        while self._peek():
            if self._peek() == "\n":
                self._at += 1
            elif self._peek() == "[":
                table = self._header()
            else:
                self._pair(table)

    def _peek(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _take(self) -> tuple[str, int]:
        self._at += 1
        return self._tokens[self._at - 1]

    def _header(self) -> KeyPath:
        line = self._take()[1]
        is_array = self._peek() == "["
        if is_array:
            self._take()
        names = self._key()
        while self._peek() == "]":
            self._take()
        path: KeyPath = ()
        for name in names[:-1]:
            path = self._enter((*path, name), line)
        path = (*path, names[-1])
        if not is_array:
            return self._enter(path, line)
        self.lines.setdefault(path, line)
        self._items[path] = self._items.get(path, -1) + 1
        path = (*path, self._items[path])
        self.lines[path] = line
        return path

    def _enter(self, path: KeyPath, line: int) -> KeyPath:
        """The table of this name; for an array of tables, its last one."""
        self.lines.setdefault(path, line)
        return (*path, self._items[path]) if path in self._items else path

    def _key(self) -> list[str]:
        """The parts of a key, up to `=` or `]`."""
        parts: list[str] = []
        while self._peek() not in ("=", "]", ""):
            token, _ = self._take()
            if token[0] in "\"'":
                parts.append(next(iter(tomllib.loads(f"{token} = 0"))))
            else:
                parts.extend(part for part in token.split(".") if part)
        return parts

    def _pair(self, table: KeyPath) -> None:
        line = self._tokens[self._at][1]
        path = table
        for name in self._key():
            path = (*path, name)
            self.lines.setdefault(path, line)
        self._take()
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        opening = self._peek()
        if opening == "[":
            self._take()
            self._array(path)
        elif opening == "{":
            self._take()
            while self._peek() != "}":
                if self._peek() in (",", "\n"):
                    self._take()
                else:
                    self._pair(path)
            self._take()
        else:
            while self._peek() not in (",", "]", "}", "\n", ""):
                self._take()

    def _array(self, path: KeyPath) -> None:
        index = 0
        while self._peek() != "]":
            if self._peek() in (",", "\n"):
                self._take()
                continue
            self.lines[(*path, index)] = self._tokens[self._at][1]
            self._value((*path, index))
            index += 1
        self._take()


def _toml_tokens(text: str) -> Iterator[tuple[str, int]]:
    line, counted = 1, 0
    for token in _TOML.finditer(text):
        line += text.count("\n", counted, token.start())
        counted = token.start()
        if not token.group().startswith("#"):
            yield token.group(), line
