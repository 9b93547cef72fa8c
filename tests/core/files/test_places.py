"""Lines of keys in JSON, TOML and YAML, and what is refused before anything is understood."""

from __future__ import annotations

import json
import tomllib

import pytest
import yaml
from hypothesis import given, strategies as st

from officellm.errors import ConfigError
from officellm.files.documents import MAX_BYTES, parse, read_text
from officellm.files.places import key_text

JSON = """{
  "a": 1,
  "list": [
    {"x": "with } and , and \\" in it"},
    [1,
     2]
  ], "same line": {
    "deep": null }
}
"""

TOML = '''\
# a comment with [brackets] = and "quotes"
title = "x"
a.b = 1
"quoted.key" = """
several # lines
[not a table]
"""

[table.inner]
when = 2024-01-01 10:00:00
list = [
  1, # one
  { x = 2, y = [3,
    4] },
]

[[agents]]
name = 'first'

  [agents.limits]
  max_turns = 3

[[agents]]
name = "second"
tools = { allow = ["a", "b"] }
'''

YAML = """\
base: &base
  x: 1
  y: [a,
    b]
copy:
  <<: *base
  z: |
    text: not a key
list:
- name: n
  inner: {k: v}
-
  name: m
"""


@pytest.mark.parametrize(
    ("suffix", "text", "path", "line"),
    [
        (".json", JSON, ("a",), 2),
        (".json", JSON, ("list", 0, "x"), 4),
        (".json", JSON, ("list", 1, 1), 6),
        (".json", JSON, ("same line",), 7),
        (".json", JSON, ("same line", "deep"), 8),
        (".toml", TOML, ("title",), 2),
        (".toml", TOML, ("a", "b"), 3),
        (".toml", TOML, ("quoted.key",), 4),
        (".toml", TOML, ("table", "inner"), 9),
        (".toml", TOML, ("table", "inner", "list", 1, "y", 1), 14),
        (".toml", TOML, ("agents", 0, "limits", "max_turns"), 21),
        (".toml", TOML, ("agents", 1), 23),
        (".toml", TOML, ("agents", 1, "tools", "allow", 1), 25),
        (".yaml", YAML, ("base", "y", 1), 4),
        (".yaml", YAML, ("copy", "z"), 7),
        (".yaml", YAML, ("copy", "x"), 2),
        (".yaml", YAML, ("list", 0, "inner", "k"), 11),
        (".yaml", YAML, ("list", 1, "name"), 13),
    ],
)
def test_a_key_is_found_on_its_line(suffix, text, path, line):
    document = parse(text, file="f", suffix=suffix)
    assert document.written(path) == path
    assert document.line(path) == line


def paths_of(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths_of(item, (*path, key))


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1), values, min_size=1, max_size=3))
def test_every_key_of_any_json_has_a_line(value):
    text = json.dumps(value, indent=1)
    document = parse(text, file="f", suffix=".json")
    assert document.value == value
    assert set(document.find_lines()) == set(paths_of(value))


@given(st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), values, min_size=1, max_size=3))
def test_every_key_of_any_yaml_has_a_line(value):
    document = parse(yaml.safe_dump(value), file="f", suffix=".yaml")
    assert document.value == value
    assert set(document.find_lines()) == set(paths_of(value))


def toml_of(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml_of(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[\n" + ",\n".join(map(toml_of, value)) + "]"
    return '"""\n#]}"' + '"""' if value is None else json.dumps(value, ensure_ascii=True).replace("\\ud", "x")


@given(st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), values, min_size=1, max_size=3))
def test_every_key_of_any_toml_has_a_line(value):
    text = "".join(f"{key} = {toml_of(item)}\n" for key, item in value.items())
    try:
        wanted = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    document = parse(text, file="f", suffix=".toml")
    assert set(document.find_lines()) == set(paths_of(wanted))


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("suffix", "text", "said"),
    [
        (".json", "", "f: the file is empty"),
        (".yaml", "# only a comment\n", "f: the file is empty"),
        (".toml", " \n", "f: the file is empty"),
        (".txt", "a: 1", "f: the suffix '.txt' names no language that is read here: .yaml, .yml, .toml, .json"),
        (".json", '{"a": 1,\n "b" 2}', "f:2:6: not valid JSON: Expecting ':' delimiter"),
        (".json", '{"a": 1,\n "a": 1}', "f:2: a: this key is given twice"),
        (".json", '{"x": [{"a": 1,\n"b": 2, "\\u0061": 3}]}', "f:2: x[0].a: this key is given twice"),
        (".json", '{"a": NaN}', "f:1: a: not a finite number"),
        (".json", '{\n"a": 1e999}', "f:2: a: not a finite number"),
        (".json", '{"a": "\\ud800"}', "f:1: a: holds half of a character (a lone surrogate)"),
        (".json", '{"a": ' + "9" * 5000 + "}", "f: a number with too many digits"),
        (".json", '{"a": ' + "9" * 100 + "}", "f:1: a: a number with too many digits"),
        (".json", "[" * 102 + "]" * 102, "nested more than 100 deep"),
        (".json", "[" * 100_000, "nested more than 100 deep"),
        (".yaml", "a: 1\na: 2\n", "f:2: a: this key is given twice"),
        (".yaml", "x:\n  - b: 1\n    b: 2\n", "f:3: x[0].b: this key is given twice"),
        (".yaml", "a: [1\nb: 2", "f:2:2: not valid YAML: expected ',' or ']', but got ':'"),
        (".yaml", "a: 1\n---\nb: 2\n", "f:2:1: not valid YAML: but found another document"),
        (".yaml", "a: !!python/name:os.system\n", "f:1: a: the tag !!python/name:os.system is not read here"),
        (".yaml", "a: !!binary aGk=\n", "f:1: a: the tag !!binary is not read here"),
        (".yaml", "a: !!int x\n", "f:1: a: not a value of this type: 'x'"),
        (".yaml", "a: *nobody\n", "f:1:4: not valid YAML: found undefined alias 'nobody'"),
        (".yaml", "a: &a [*a]\n", "nested more than 100 deep, or inside itself"),
        (".yaml", BOMB, "more than 50000 values, aliases counted where they are used"),
        (".yaml", "on: 1\n", "f:1: the key 'on' must be text: put it in quotes"),
        (".yaml", "[a]: 1\n", "f:1: a key must be text"),
        (".yaml", "a: .inf\n", "f:1: a: not a finite number"),
        (".yaml", "a: b\n\x07", "f:2: not valid YAML: special characters are not allowed"),
        (".yaml", 'a: "\\UFFFFFFFF"\n', "not valid YAML"),
        (".yaml", "a:\n  <<: 5\n", "f:2: a: << must name mappings"),
        (".toml", "a = 1\nb = = 2\n", "f:2:5: not valid TOML: Invalid value"),
        (".toml", "a = 1\na = 2\n", "f:2:6: not valid TOML: Cannot overwrite a value"),
        (".toml", "a = inf\n", "f:1: a: not a finite number"),
        (".toml", "a = " + "[" * 20_000, "nested more than 100 deep"),
    ],
)
def test_a_text_that_cannot_be_meant_is_refused_with_its_line(suffix, text, said):
    with pytest.raises(ConfigError) as error:
        parse(text, file="f", suffix=suffix)
    assert said in str(error.value)
    assert str(error.value).startswith("f")


def test_dates_are_text_in_every_language():
    assert parse("a: 2024-01-31\n", file="f", suffix=".yaml").value == {"a": "2024-01-31"}
    assert parse("a = 2024-01-31\n", file="f", suffix=".toml").value == {"a": "2024-01-31"}


def test_a_merge_key_fills_in_and_never_overwrites():
    text = "one: &one {a: 1, b: 1}\ntwo: &two {b: 2, c: 2}\nall:\n  <<: [*one, *two]\n  a: 0\n"
    assert parse(text, file="f", suffix=".yaml").value["all"] == {"a": 0, "b": 1, "c": 2}


def test_a_key_path_reads_like_code():
    assert key_text(("agents", 1, "tools", "allow", 0)) == "agents[1].tools.allow[0]"
    assert key_text(("routes", "two words")) == 'routes."two words"'


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a: 1\nb: \xff\n", "f.yaml:2: not UTF-8 text: byte 0xff"),
        ("a: 1".encode("utf-16"), "f.yaml:1: not UTF-8 text"),
        (b"#" * (MAX_BYTES + 1), "f.yaml: larger than 1024 KiB"),
    ],
    ids=["not utf-8", "utf-16", "too large"],
)
def test_a_file_that_is_no_text_is_refused(tmp_path, data, said):
    (tmp_path / "f.yaml").write_bytes(data)
    with pytest.raises(ConfigError) as error:
        read_text(tmp_path / "f.yaml")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [("missing.yaml", "no such file"), (".", "this is a folder, not a file"), ("a\0b", "cannot be read")],
)
def test_a_file_that_cannot_be_opened_is_refused(tmp_path, name, said):
    with pytest.raises(ConfigError, match=said):
        read_text(tmp_path / name)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    (tmp_path / "f.json").write_bytes(b"\xef\xbb\xbf{}")
    assert read_text(tmp_path / "f.json") == "{}"
