"""llama.cpp's table of fields, as it is written in C++."""

import pytest

from specvino.upstream.annotations import UNREAD
from specvino.upstream.described import Unreadable
from specvino.upstream.field_table import fields

TABLE = """
    add((new field_num("size", params.size))
        ->set_hard_limits(-1, INT32_MAX)
        ->add_alias("length")
        ->set_desc("Text (with a parenthesis"));
    add((new field_num("share", params.share))
        ->set_hard_limits(0.0f, 0.99f));
    add((new field_num("time", params.time))
        ->set_hard_limits(-1, std::numeric_limits<int64_t>::max()));
    add((new field_num("count", params.count))
        ->set_hard_limits(1, base.parallel));
    add((new field_num("soft", params.soft))
        ->set_limits(0, INT32_MAX));
    // add((new field_num("planned", params.planned))
    add((new field_bool("on", params.on)));
    add((new field_bool("own", params.own))
        ->set_handler([&](context & c, const json & data) { }));
    add((new field_str("word"))
        ->set_handler([&](context & c, const json & data) { }));
    add((new field_json("list"))
        ->set_handler([&](context & c, const json & data) { }));
#if 0
    add((new field_num("off", params.off)));
#endif
"""
NUMBER = {"type": ["number", "boolean", "null"]}


def test_names_types_and_limits() -> None:
    size = {**NUMBER, "minimum": -1, "maximum": 2147483647}
    assert fields(TABLE) == {
        "type": "object",
        "properties": {
            "size": size,
            "length": size,
            "share": {**NUMBER, "minimum": 0, "maximum": 0.99, "not": {"enum": [True]}},
            "time": {"type": ["number", "null"], "minimum": -1, "maximum": 9223372036854775807},
            "count": {**NUMBER, "minimum": 1, "not": {"enum": [False]}},
            "soft": NUMBER,
            "on": {"type": ["boolean", "null"]},
            "own": {UNREAD: "field_bool"},
            "word": {"type": ["string", "null"]},
            "list": {UNREAD: "field_json"},
        },
    }


def test_a_file_without_a_table() -> None:
    with pytest.raises(Unreadable, match="no table"):
        fields("int main() {}")
