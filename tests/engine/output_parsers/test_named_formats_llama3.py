import pytest
from support.formats import Call, Outcome, parsed

WEATHER = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
NOW = '{"name": "now", "parameters": {}}'
CALLS = [Call("get_weather", {"city": "Paris"}), Call("now", {})]


@pytest.mark.parametrize(
    "text",
    [
        f"{WEATHER}; {NOW}",
        f"{WEATHER};{NOW}",
        f"\n{WEATHER}\n;\n{NOW}\n",
        f"{WEATHER}\n{NOW}",
        f"<|python_tag|>{WEATHER}; {NOW}",
        f"<|python_tag|>{WEATHER}<|python_tag|>{NOW}",
        f"<|python_tag|>\n{WEATHER};\n<|python_tag|>{NOW}".replace(";", ""),
        '{"type": "function", "name": "get_weather", "parameters": {"city": "Paris"}}; ' + NOW,
        '{"name": "get_weather", "arguments": {"city": "Paris"}}; ' + NOW,
        '{"name": "get_weather", "parameters": {"city": "Paris"}, "id": 1}; ' + NOW,
    ],
)
def test_calls(text: str) -> None:
    assert parsed("llama3", text) == Outcome(calls=CALLS)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Bob", "parameters": {"age": 5}}',
        '{"name": "get_weather", "age": 5}',
        '{"name": "get_weather"}',
        '{"name": "get_weather", "parameters": 5}',
        '{"city": "Paris", "name": "get_weather", "parameters": {}}',
        '{"answer": 42}',
        "{}",
        "{",
        "{ so }",
        f"The call is {WEATHER}",
        '[{"name": "get_weather", "parameters": {}}]',
        "<|python_tag|>print(1)",
    ],
)
def test_a_json_answer_and_code_are_text(text: str) -> None:
    assert parsed("llama3", text) == Outcome(text)


@pytest.mark.parametrize("text", ["{", '{"name": "get_wea', '{"id": 5, "na'])
def test_without_its_tag_the_head_of_a_call_is_text_unless_the_output_is_cut(text: str) -> None:
    assert parsed("llama3", text) == Outcome(text)
    assert parsed("llama3", text, cut=True) == Outcome()


def test_separators_within_strings() -> None:
    got = parsed("llama3", '{"name": "get_weather", "parameters": {"city": "a; b}; {"}}; ' + NOW)
    assert got == Outcome(calls=[Call("get_weather", {"city": "a; b}; {"}), Call("now", {})])


def test_text_before_and_after() -> None:
    got = parsed("llama3", f"Let me see.<|python_tag|>{NOW}; and so on")
    assert got == Outcome("Let me see.; and so on", calls=[Call("now", {})])


def test_a_second_object_that_is_no_call() -> None:
    assert parsed("llama3", f'{NOW}; {{"a": 1}}') == Outcome('; {"a": 1}', calls=[Call("now", {})])
