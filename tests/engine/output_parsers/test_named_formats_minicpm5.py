import pytest
from support.formats import Call, Outcome, parsed


@pytest.mark.parametrize(
    "text",
    [
        '<function name="get_weather"><param name="city">Paris</param><param name="days">3</param></function>',
        '<function name="get_weather">\n <param name="city">Paris</param>\n<param name="days"> 3 </param>\n</function>',
    ],
)
def test_one_call(text: str) -> None:
    assert parsed("minicpm5", text) == Outcome(calls=[Call("get_weather", {"city": "Paris", "days": 3})])


def test_several_calls_and_text() -> None:
    now = '<function name="now"></function>'
    got = parsed("minicpm5", f"Now: {now}\n{now} and then")
    assert got == Outcome("Now:  and then", calls=[Call("now", {}), Call("now", {})])


def test_json_in_single_quotes() -> None:
    text = """<function name="get_weather"><param name="options">{'a': ['it\\'s', True]}</param></function>"""
    assert parsed("minicpm5", text) == Outcome(calls=[Call("get_weather", {"options": {"a": ["it's", True]}})])


def test_line_breaks_belong_to_the_value() -> None:
    text = '<function name="get_weather"><param name="city">\nParis\n</param></function>'
    assert parsed("minicpm5", text) == Outcome(calls=[Call("get_weather", {"city": "\nParis\n"})])


@pytest.mark.parametrize(
    "text",
    [
        "<function",
        '<function name="">x</function>',
        "<function name='now'></function>",
        "<function=now></function>",
        '<param name="city">Paris</param>',
        "</function>",
        "if a <f and b> c",
        '<function  name="now"></function>',
    ],
)
def test_what_only_looks_like_a_call_is_text(text: str) -> None:
    assert parsed("minicpm5", text) == Outcome(text)


def test_arguments_that_break_off() -> None:
    start = '<function name="get_weather"><param name="city">'
    assert parsed("minicpm5", start + "Par") == Outcome(calls=[Call("get_weather", '{"city": "Par', complete=False)])
    got = parsed("minicpm5", start + "Paris</param> or so</function>")
    assert got == Outcome(" or so</function>", calls=[Call("get_weather", '{"city": "Paris"', complete=False)])
