"""Scripts from files: what is read, and how every mistake is told."""

import json

import pytest

from officellm.errors import ConfigError
from officellm.messages import Usage
from officellm.testing import call, load_script, read_script, reply

YAML = """
- when: {system: research}
  replies:
    - calls:
        - {name: search, arguments: {query: "{task}"}, id: c1}
        - {name: broken, arguments: '{"a'}
        - {name: none, arguments: null}
      text: Looking
      reasoning: hm
      usage: {input: 7, output: 3, cached: 2, reasoning: 1}
    - {fault: 429}
    - {fault: {name: "503", retry_after: 0.5}, latency: 0.1}
    - done {last_tool}
  by: conversation
- replies: [{text: hi, stop: length, usage: null, repeat: true}]
"""


def test_everything_that_a_file_can_say_is_read(tmp_path):
    (tmp_path / "s.yaml").write_text(YAML, encoding="utf-8")
    first, second = load_script(tmp_path / "s.yaml").rules
    calls, limited, busy, done = first.replies
    assert (first.when, first.by) == ({"system": "research"}, "conversation")
    assert [(one.name, one.arguments, one.id) for one in calls.calls] == [
        ("search", {"query": "{task}"}, "c1"),
        ("broken", '{"a', None),
        ("none", None, None),
    ]
    assert (calls.text, calls.reasoning) == ("Looking", "hm")
    assert calls.usage == Usage(input=7, output=3, cached=2, reasoning=1)
    assert limited.fault_name == "429"
    assert (busy.fault["retry_after"], busy.latency) == (0.5, 0.1)
    assert done.text == "done {last_tool}"
    assert second.replies == (reply("hi", stop="length", usage=None, repeat=True),)


@pytest.mark.parametrize("suffix", [".json", ".yaml", ".yml"])
def test_json_is_read_whatever_the_file_is_called(tmp_path, suffix):
    file = tmp_path / f"s{suffix}"
    file.write_text(json.dumps(["a", {"text": "b"}]), encoding="utf-8")
    (only,) = load_script(file).rules
    assert [one.text for one in only.replies] == ["a", "b"]


@pytest.mark.parametrize(
    "spec",
    [["a"], {"replies": ["a"]}, [{"replies": ["a"]}], lambda heard: "a", [reply("a")], [call("f")]],
    ids=["texts", "one rule", "rules", "function", "replies", "calls"],
)
def test_a_script_can_be_written_in_many_ways(spec):
    script = read_script(spec)
    assert len(script.rules) == 1
    assert read_script(script) is script


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("5", "", "a script must be a list of replies or of rules, not 5"),
        ("[]", "", "a script needs at least one reply"),
        ("[5]", ": [0]", "a scripted reply must be a text"),
        ("[{texte: x}]", ": [0]", "unknown key 'texte' in a reply. Did you mean 'text'?"),
        ("[{text: 5}]", ": [0].text", "must be a text, not 5"),
        ("[{repeat: 1}]", ": [0].repeat", "must be true or false, not 1"),
        ("[{calls: f}]", ": [0].calls", "must be a list, not 'f'"),
        ("[{calls: [f]}]", ": [0].calls[0]", "a call must be a mapping, not 'f'"),
        ("[{calls: [{nam: f}]}]", ": [0].calls[0]", "unknown key 'nam' in a call. Did you mean 'name'?"),
        ("[{calls: [{arguments: {}}]}]", ": [0].calls[0]", "a call needs a `name`"),
        ("[{calls: [{name: f, arguments: [1]}]}]", ": [0].calls[0].arguments", "must be a mapping, a text or null"),
        ("[{calls: [{name: f, id: 1}]}]", ": [0].calls[0].id", "must be a text, not 1"),
        ("[{usage: 5}]", ": [0].usage", "usage must be a mapping, not 5"),
        ("[{usage: {total: 5}}]", ": [0].usage", "unknown key 'total' in usage"),
        ("[{usage: {input: -1}}]", ": [0].usage.input", "must be a whole number, 0 or more, not -1"),
        ("[{latency: soon}]", ": [0].latency", "must be a number, 0 or more, not 'soon'"),
        ("[{latency: 1000}]", ": [0]", "latency must be between 0 and 60 seconds"),
        ("[{stop: halt}]", ": [0]", "unknown stop 'halt'"),
        ("[{fault: 4299}]", ": [0].fault", "unknown fault '4299'. Did you mean '429'?"),
        ("[{fault: [a]}]", ": [0].fault", "must be a name, or a mapping with `name`"),
        ("[{fault: {name: hang, secs: 1}}]", ": [0].fault", "has no parameter 'secs'"),
        ("[{fault: cut_arguments}]", ": [0]", "this reply has none"),
        ("[{when: {}, replies: [a], bye: turn}]", ": [0]", "unknown key 'bye' in a rule. Did you mean 'by'?"),
        ("[{when: {}}]", ": [0]", "a rule needs `replies`, a list, not None"),
        ("[{replies: [{texte: x}]}]", ": [0].replies[0]", "unknown key 'texte'"),
        ("[{replies: [a], when: x}]", ": [0].when", "must be a mapping of conditions"),
        ("[{replies: [a], when: {sistem: x}}]", ": [0]", "unknown condition 'sistem'. Did you mean 'system'?"),
        ("[{replies: [a]}, b]", ": [1]", "a rule must be a mapping, not 'b'"),
        ("[a", "", "not valid YAML"),
    ],
)
def test_a_mistake_is_told_with_file_and_key(tmp_path, text, place, message):
    file = tmp_path / "s.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        load_script(file)
    assert str(error.value).startswith(f"{file}{place}: ")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.json", b"[", "not valid JSON"),
        ("s.json", b"\xff\xfe\xff", "cannot be read"),
        ("absent.yaml", None, "cannot be read"),
    ],
    ids=["json", "bytes", "absent"],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, content, message):
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=message) as error:
        load_script(file)
    assert error.value.place == str(file)
