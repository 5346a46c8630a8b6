import pytest
from support.formats import Call, Outcome, parsed

START, END = "<|tool_call_start|>", "<|tool_call_end|>"


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ('city="x", days=42', {"city": "x", "days": 42}),
        ("city='x',days=42", {"city": "x", "days": 42}),
        (" city = 'x' ,\n days = 42 , ", {"city": "x", "days": 42}),
        ("detailed=True, options=None", {"detailed": True, "options": None}),
        ("detailed=true, options=null", {"detailed": True, "options": None}),
        ("""city='it\\'s "x"'""", {"city": 'it\'s "x"'}),
        ('city="a\\nb\\u00e9\\x41\\U0001F389"', {"city": "a\nbéA🎉"}),
        ('city="\\ud83c\\udf89"', {"city": "🎉"}),
        ('city="a\\d \\/"', {"city": "a\\d /"}),
        ("tags=['a', \"b\", ('c', 'd'), []]", {"tags": ["a", "b", ["c", "d"], []]}),
        ("options={'a': {'b': [1, 2.5]}, 'c': {}}", {"options": {"a": {"b": [1, 2.5]}, "c": {}}}),
        ('options={"a": true, b: false}', {"options": {"a": True, "b": False}}),
        ('city="x)", tags=["]"]', {"city": "x)", "tags": ["]"]}),
        ("factor=-1.5e3", {"factor": -1500.0}),
        ("", {}),
        (" ", {}),
    ],
)
def test_arguments(arguments: str, meant: dict[str, object]) -> None:
    got = parsed("lfm2", f"{START}[get_weather({arguments})]{END}")
    assert got == Outcome(calls=[Call("get_weather", meant)])


@pytest.mark.parametrize(
    "text",
    [
        f'{START}[get_weather(city="x"), now()]{END}',
        f'{START}[ get_weather(city="x") ,\n now() ]{END}\n',
        f'{START}[get_weather(city="x"), now()]',
        f'{START}[get_weather(city="x"), now()',
        f'{START}[get_weather(city="x")]{END}{START}[now()]{END}',
    ],
)
def test_several_calls(text: str) -> None:
    assert parsed("lfm2", text) == Outcome(calls=[Call("get_weather", {"city": "x"}), Call("now", {})])


@pytest.mark.parametrize(
    "text",
    [
        f"{START}[]{END}",
        f"{START}now(){END}",
        f"{START}[now]{END}",
        f"{START}[nope()]{END}",
        "[now()]",
        END,
        f"{START}[5]{END}",
        f"{START}[now ()]{END}",
    ],
)
def test_what_only_looks_like_a_call_is_text(text: str) -> None:
    assert parsed("lfm2", text) == Outcome(text)


@pytest.mark.parametrize(
    ("arguments", "passed_on", "left"),
    [
        ('city="x", days=', '{"city": "x"', " days="),
        ('city="x", days=4', '{"city": "x"', " days=4"),
        ('city="x" days=4)]', "", 'city="x" days=4)]'),
        ("city=Paris)]", "", "city=Paris)]"),
        ('"x")]', "", '"x")]'),
        ("city)]", "", "city)]"),
        ('city="\\', "", 'city="\\'),
        ('city="\\u12"', "", 'city="\\u12"'),
        ("factor=01)]", "", "factor=01)]"),
        ("options={1: 2", "", "options={1: 2"),
        ("options={'a' 2}", "", "options={'a' 2}"),
        ("tags=[1 2]", "", "tags=[1 2]"),
    ],
)
def test_arguments_that_break_off(arguments: str, passed_on: str, left: str) -> None:
    got = parsed("lfm2", f"{START}[get_weather({arguments}")
    assert got == Outcome(left, calls=[Call("get_weather", passed_on, complete=False)])


def test_a_second_call_of_an_unknown_tool_is_text() -> None:
    assert parsed("lfm2", f"{START}[now(), nope()]{END}") == Outcome(f", nope()]{END}", calls=[Call("now", {})])
