"""The input of custom tools, and the arguments of the functions that stand for them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specvino.handlers.tools import CustomInput, custom_arguments

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


def read(*pieces: str) -> str:
    input = CustomInput()
    return "".join([*map(input.feed, pieces), input.end()])


@given(TEXTS, st.booleans(), st.data())
def test_an_input_is_read_however_its_arguments_are_split(text: str, ascii: bool, data: Any) -> None:
    arguments = json.dumps({"input": text}, ensure_ascii=ascii)
    cut = data.draw(st.integers(0, len(arguments)))
    assert read(arguments[:cut], arguments[cut:]) == text
    assert read(*arguments) == text
    assert read(custom_arguments(text)) == text


@given(TEXTS)
def test_what_was_returned_is_a_beginning_of_the_input(text: str) -> None:
    arguments = custom_arguments(text)
    for cut in range(len(arguments)):
        assert text.startswith(CustomInput().feed(arguments[:cut]))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("{}", ""),
        ("", ""),
        ("{", ""),
        ('{"input": "a', "a"),
        ('{"input": "a\\', "a"),
        ('{"input": "a", "more": "b"}', "a"),
        ('{"patch": "a"}', '{"patch": "a"}'),
        ('{"input": 5}', '{"input": 5}'),
        ('{"input": "\\ud83dx\\ude00"}', "\ufffdx\ufffd"),
        ('{"input": "\\ud83d\\ud83d\\ude00"}', "\ufffd😀"),
    ],
)
def test_arguments_that_are_cut_off_or_have_another_form(arguments: str, text: str) -> None:
    assert read(arguments) == text
    assert read(*arguments) == text
