import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specvino.engine.output_parsers.json_scanner import DEEPEST, JsonScanner

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def scan(text: str) -> tuple[str, str]:
    """What is valid, and what is left."""
    scanner = JsonScanner()
    valid, end = scanner.feed(text)
    return valid, text[end:]


@given(VALUES, st.sampled_from([None, 1]), st.booleans(), st.text(max_size=3))
def test_any_object_is_followed_to_its_end(value: Any, indent: int | None, ascii_only: bool, behind: str) -> None:
    text = json.dumps({"a": value}, indent=indent, ensure_ascii=ascii_only)
    scanner = JsonScanner()
    assert scanner.feed(text + behind) == (text, len(text))
    assert scanner.done


@given(st.text('{}[]",:\\u0e1-.tru e\n', max_size=12))
def test_it_agrees_with_the_standard_parser(text: str) -> None:
    scanner = JsonScanner()
    valid, _ = scanner.feed('{"a":' + text + "}")
    try:
        json.loads('{"a":' + text + "}", strict=False)
    except ValueError:
        # It may have ended before: then what it took is valid.
        if scanner.done:
            json.loads(valid)
    else:
        assert scanner.done
        json.loads(valid)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ('{"a": 01}', '{"a": 0'),
        ('{"a": 1.}', '{"a": 1.'),
        ('{"a": .5}', '{"a": '),
        ('{"a": -}', '{"a": -'),
        ('{"a": 1e+}', '{"a": 1e+'),
        ('{"a": NaN}', '{"a": '),
        ('{"a": nul}', '{"a": nul'),
        ('{"a": "\\x"}', '{"a": "\\'),
        ('{"a": "\\u12g4"}', '{"a": "\\u12'),
        ('{"a": 1,}', '{"a": 1,'),
        ('{"a" 1}', '{"a" '),
        ("{1: 2}", "{"),
        ('{"a": [1 2]}', '{"a": [1 '),
        ('{"a": [1}', '{"a": [1'),
        ('{"a": 1]', '{"a": 1'),
        ("{]", "{"),
    ],
)
def test_it_breaks_at_the_first_character_that_cant_be(text: str, valid: str) -> None:
    assert scan(text) == (valid, text[len(valid) :])


def test_control_characters_become_escapes() -> None:
    assert scan('{"a": "x\n\t\x00y"}') == ('{"a": "x\\n\\t\\u0000y"}', "")


def test_what_other_parsers_would_refuse_is_broken() -> None:
    deep = '{"a":' * (DEEPEST + 1)
    assert scan(deep)[1] == "{" + '"a":'
    assert scan('{"a": ' + "1" * 5000)[1] != ""
