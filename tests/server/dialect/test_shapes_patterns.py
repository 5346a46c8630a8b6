"""Texts of ours get the form that a system's patterns ask for."""

import re

import pytest

from specvino.server.dialect.shapes import patterned

CALL = "call_30bb06ddad0343f096757bfc6416e331"


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("^chatcmpl-", "chatcmpl-1", "chatcmpl-1"),
        ("^chatcmpl-tool-", CALL, "chatcmpl-tool-30bb06ddad0343f096757bfc6416e331"),
        ("^[0-9A-Za-z]{9}$", CALL, "30bb06dda"),
        ("^resp-[0-9]+$", "resp_ff", "resp-255"),
        ("^((msg|rs)-[0-9]+|[0-9A-Za-z]{9})?$", "msg_10", "msg-16"),
        ("^chatcmpl-[0-9]{1,3}$", "chatcmpl-ffff", "chatcmpl-535"),
        ("^resp_[0-9]{1,6}$", "resp_ffffff", "resp_777215"),
        ("^[!-~]*$", " é a\n", "a"),
        ("^(a|b)$", "c", "c"),
    ],
)
def test_a_text_gets_the_form(pattern, text, expected) -> None:
    assert patterned(pattern)(text) == expected
    assert re.search(pattern, expected) or expected == text


def test_one_id_is_always_the_same_one() -> None:
    fit = patterned("^[0-9A-Za-z]{9}$")
    assert fit(CALL) == fit(CALL)
    assert fit(CALL) != fit(CALL[::-1])
