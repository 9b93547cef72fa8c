"""How a tool's result is cut into sentences."""

import pytest
from officellm_provider_local.quoting import sentences


@pytest.mark.needs_nothing
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It opens at 11.30. It costs 6.80 euros!", ["It opens at 11.30.", "It costs 6.80 euros!"]),
        ("# A heading\n- one thing\n- another", ["one thing", "another"]),
        ('"Bees fly. They hum."', ["Bees fly. They hum."]),
        ('garden: "Bees fly."\nmoney: "It says "5"."', ["Bees fly.", 'It says "5".']),
        ('He said "5".', ['He said "5".']),
        ("42", ["42"]),
        ("Same. Same.", ["Same."]),
        ("", []),
        ("...\n---", []),
    ],
    ids=["numbers", "list", "quotation", "quotations", "words", "number", "twice", "empty", "marks"],
)
def test_a_result_is_cut_into_sentences(text, expected):
    assert sentences(text) == expected
