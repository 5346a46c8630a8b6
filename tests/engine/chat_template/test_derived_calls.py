from specvino.engine.chat_template.derived_calls import common_end, common_start, outside_tags


def test_what_texts_have_in_common() -> None:
    assert common_start("<a>x", "<a>y") == "<a>"
    assert common_end("x</a>", "y</a>", "</a>") == "</a>"
    assert common_start("x") == common_end("x") == "x"
    assert common_start("", "x") == ""


def test_no_place_is_within_a_tag() -> None:
    text = "a<|b|>c [TOOL] {[1]}"
    assert [outside_tags(text, index, forward=True) for index in (1, 2, 5, 6)] == [1, 6, 6, 6]
    assert outside_tags(text, 4, forward=False) == 1
    assert outside_tags(text, text.index("OOL"), forward=False) == text.index("[TOOL]")
    assert outside_tags(text, text.index("1]"), forward=False) == text.index("1]")
