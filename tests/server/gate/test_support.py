"""Fields without effect are found: unknown names and values that can't be honoured, wherever they stand."""

import pytest
from support.app import MINIMAL

from specvino.handlers.errors import ApiError
from specvino.server.gate.support import apply, header

CHAT = "CreateChatCompletionRequest"


def names(**fields):
    return apply("report", MINIMAL | fields, CHAT)


def test_nothing_to_report():
    assert names(temperature=1, user="u", metadata={"any": "thing"}, seed=None) == []


def test_unknown_names_at_every_depth():
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "a", "cache": 1}]},
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "extra": 0}}]},
        {"role": "user", "tool_calls": []},
    ]
    assert names(messages=messages, foo=None, stream=True, stream_options={"bar": 1}) == [
        "messages.0.content.0.cache",
        "messages.1.tool_calls.0.function.extra",
        "messages.2.tool_calls",
        "foo",
        "stream_options.bar",
    ]


def test_an_unsupported_field_counts_only_where_it_asks_for_something():
    assert names(logit_bias={"1": 5}) == ["logit_bias"]
    assert names(logit_bias={}) == []
    assert names(logit_bias=None) == []


def test_free_maps_are_not_searched():
    assert names(metadata={"foo": "x"}, unknown={"inner": 1}) == ["unknown"]


def test_reject_names_the_first():
    with pytest.raises(ApiError) as caught:
        apply("reject", MINIMAL | {"logit_bias": {"1": 5}}, CHAT)
    assert (caught.value.code, caught.value.param) == ("unsupported_parameter", "logit_bias")
    with pytest.raises(ApiError) as caught:
        apply("reject", MINIMAL | {"foo": 1}, CHAT)
    assert (caught.value.code, caught.value.param) == ("unknown_parameter", "foo")
    assert apply("reject", MINIMAL, CHAT) == []


def test_ignore():
    assert apply("ignore", MINIMAL | {"foo": 1}, CHAT) == []


def test_long_names_and_many_of_them_are_cut():
    found = names(**{"k" * 200_000: 0}, **{f"x{i}": 0 for i in range(100)})
    assert len(found) == 16
    assert found[0] == "k" * 100


def test_header_is_ascii_and_short():
    assert header(["a", "messages.0.x y", "é,", "b[]"]) == "a, messages.0.x%20y, %C3%A9%2C, b[]"
    assert header([str(i) for i in range(100)]).count(",") == 15
