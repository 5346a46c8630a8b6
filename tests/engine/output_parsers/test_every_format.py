"""What holds for each tool format, however awkward the arguments."""

import json
from itertools import takewhile
from typing import Any

import pytest
from support.formats import TOOLS, WRITERS, Call, Outcome, outcome, parsed, pieces_of

from specvino.engine.output_parsers import MESSAGE_FRAMINGS, TOOL_PARSERS, AnswerText, parser_for

FORMATS = sorted(WRITERS)
FRAMED = set(MESSAGE_FRAMINGS)  # their text is in messages
AMID_TEXT = sorted(set(FORMATS) - FRAMED)  # their calls may stand anywhere in an answer

# A value can't hold what ends it; everything else that looks like framing is just text.
MARKERS = (
    "<tool_call> </tool_call> <function=f> <parameter=k> </function> [TOOL_CALLS] [ARGS] <|python_tag|> functools[ "
    "<|tool_call_start|> <|tool_call_end|> <|tool_call> <tool_call|> <think> </think> <param name='x'> ), ], }, ; {"
)
ARGUMENTS: dict[str, dict[str, Any]] = {
    "plain": {"city": "Paris"},
    "none": {},
    "unicode": {"city": "Zürich 東京 🎉 \u2028 e\u0301"},
    "quotes": {"city": """a "b" 'c' `d` \\" \\'"""},
    "backslashes": {"city": "C:\\new\\table \\u0041 \\"},
    "control characters": {"city": "one\ntwo\tthree\n\n"},
    "markers": {"city": MARKERS},
    "looks like json": {"city": '{"a": [1, 2]}'},
    "looks like a number": {"city": "007"},
    "looks like a boolean": {"city": "true"},
    "empty text": {"city": ""},
    "blank text": {"city": "  x "},
    "numbers": {"city": "x", "days": -12, "factor": 1.5e-07},
    "boolean and null": {"detailed": False, "options": None},
    "nested objects": {"options": {"a": {"b": [1, {"c": None}], "d": {}}, "e": [[], [True]]}},
    "list of texts": {"tags": ["a, b", "[c]", "(d)", "{e: f}", ""]},
    "key with a hyphen": {"unit-name": "°C"},
}


def written(tool_parser: str, name: str, arguments: dict[str, Any]) -> str:
    return WRITERS[tool_parser](name, arguments)


def test_every_format_has_a_writer_and_heads() -> None:
    assert WRITERS.keys() == TOOL_PARSERS.keys(), "WRITERS in tests/support/formats.py"
    assert HEADS.keys() == TOOL_PARSERS.keys(), "HEADS in this file"


@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS.keys())
@pytest.mark.parametrize("tool_parser", FORMATS)
def test_arguments_come_out_as_they_were_meant(tool_parser: str, arguments: dict[str, Any]) -> None:
    text = written(tool_parser, "get_weather", arguments)
    assert parsed(tool_parser, text) == Outcome(calls=[Call("get_weather", arguments)])


@pytest.mark.parametrize("tool_parser", FORMATS)
def test_long_texts_are_passed_on_whole(tool_parser: str) -> None:
    arguments = {"city": "line of \"text\" 'here'\n" * 500}
    text = written(tool_parser, "get_weather", arguments)
    parts = [text[at : at + 7] for at in range(0, len(text), 7)]
    assert outcome(pieces_of(tool_parser, None, parts)) == Outcome(calls=[Call("get_weather", arguments)])


@pytest.mark.parametrize("tool_parser", AMID_TEXT)
def test_text_around_calls_is_content(tool_parser: str) -> None:
    call = written(tool_parser, "get_weather", {"city": "Rome"})
    got = parsed(tool_parser, f"Let me look. {call}\nBetween. {call} After.")
    assert got.calls == [Call("get_weather", {"city": "Rome"})] * 2
    assert got.text == "Let me look. \nBetween.  After."


@pytest.mark.parametrize("tool_parser", AMID_TEXT)
def test_white_space_around_calls_is_none(tool_parser: str) -> None:
    call = written(tool_parser, "now", {})
    got = parsed(tool_parser, f"\n\n{call}\n{call}\n\n")
    assert got == Outcome(calls=[Call("now", {})] * 2)


@pytest.mark.parametrize("tool_parser", AMID_TEXT)
def test_a_call_of_an_unknown_tool_is_text(tool_parser: str) -> None:
    for name in ("nope", "get_weather2", "get_", "no", "get_weather."):
        text = f"See: {written(tool_parser, name, {'city': 'Rome'})} there"
        assert parsed(tool_parser, text) == Outcome(text)


@pytest.mark.parametrize("tool_parser", AMID_TEXT)
def test_a_call_after_one_of_an_unknown_tool_is_found(tool_parser: str) -> None:
    unknown, known = (written(tool_parser, name, {"city": "Rome"}) for name in ("nope", "get_weather"))
    got = parsed(tool_parser, f"{unknown}\n{known}")
    assert got == Outcome(unknown + "\n", calls=[Call("get_weather", {"city": "Rome"})])


@pytest.mark.parametrize("tool_parser", AMID_TEXT)
def test_without_tools_everything_is_text(tool_parser: str) -> None:
    text = f"\n {written(tool_parser, 'now', {})} "
    assert parsed(tool_parser, text, tools=()) == Outcome(text)


HEADS = {
    "seed_oss": ["<seed:tool_call>", "<seed:tool_call>\n<function=get_weather"],
    "glm45": ["<tool_call>", "<tool_call>now"],
    "granite": ["<|tool_call|>", '<|tool_call|>[{"name"'],
    "kimi_k2": [
        "<|tool_calls_section_begin|>",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0",
    ],
    "deepseek_v31": ["<｜tool▁calls▁begin｜>", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"],
    "minimax_m2": ["<minimax:tool_call>", '<minimax:tool_call>\n<invoke name="now"'],
    "hermes3": ["<tool_call>", '<tool_call>\n{"name": "', '<tool_call>{"id": 1, "name": "get_wea'],
    "llama3": ["<|python_tag|>", '<|python_tag|>{"name": "now", "para'],
    "phi4": ["functools[", 'functools[{"name"'],
    "mistral": ["[TOOL_CALLS]", '[TOOL_CALLS] [{"name": "now", '],
    "devstral": ["[TOOL_CALLS]", "[TOOL_CALLS]now", "[TOOL_CALLS]get_weather[ARGS]"],
    "gptoss": ["<|channel|>", "<|channel|>commentary to=functions.now <|constrain|>json<|message|>"],
    "qwen3coder": ["<tool_call>", "<tool_call>\n<function=", "<tool_call>\n<function=get_weather"],
    "lfm2": ["<|tool_call_start|>", "<|tool_call_start|>[", "<|tool_call_start|>[now"],
    "gemma4": ["<|tool_call>", "<|tool_call>call:now"],
    "onyx": [" to=now<|message|>", ' to=now<|message|><atem:function_calls>\n<atem:invoke name="n'],
    "minicpm5": ['<function name="', '<function name="now"'],
}


@pytest.mark.parametrize("tool_parser", FORMATS)
def test_the_head_of_a_call_is_no_text_where_the_output_ends(tool_parser: str) -> None:
    for head in HEADS[tool_parser]:
        for cut in (False, True):
            assert parsed(tool_parser, head, cut=cut) == Outcome()
            if tool_parser not in FRAMED:
                assert parsed(tool_parser, f"So: {head}", cut=cut) == Outcome("So: ")
                assert parsed(tool_parser, head, tools=(), cut=cut) == Outcome(head)
        if tool_parser not in FRAMED:
            assert parsed(tool_parser, f"{head}!?", cut=True) == Outcome(f"{head}!?")


@pytest.mark.parametrize("tool_parser", AMID_TEXT)
def test_a_part_of_a_marker_is_text_unless_the_output_is_cut(tool_parser: str) -> None:
    marker = HEADS[tool_parser][0]
    for length in range(1, len(marker)):
        assert parsed(tool_parser, f"a {marker[:length]}") == Outcome(f"a {marker[:length]}")
        assert parsed(tool_parser, f"a {marker[:length]}", cut=True) == Outcome("a ")
        assert parsed(tool_parser, f"a {marker[:length]}", tools=(), cut=True) == Outcome(f"a {marker[:length]}")


@pytest.mark.parametrize("tool_parser", AMID_TEXT)
def test_a_call_of_an_unknown_tool_is_text_though_it_is_cut(tool_parser: str) -> None:
    text = written(tool_parser, "nope", {"city": "Rome"})
    unknown = text[: text.index("nope") + 3]
    assert parsed(tool_parser, unknown, cut=True) == Outcome(unknown)


@pytest.mark.parametrize("tool_parser", FORMATS)
@pytest.mark.parametrize("name", ["unicode", "quotes", "control characters", "numbers", "nested objects", "none"])
def test_an_output_cut_anywhere(tool_parser: str, name: str) -> None:
    """Nothing raises; only the last call is incomplete, and its arguments begin the complete ones."""
    call = written(tool_parser, "get_weather", ARGUMENTS[name])
    marker = HEADS[tool_parser][0].replace("now", "get_weather")
    text = f"{call}\n{written(tool_parser, 'now', {})}" if tool_parser not in FRAMED else call
    complete = "".join(piece.text for piece in pieces_of(tool_parser, None, [call]) if hasattr(piece, "text"))
    for cut in range(len(text)):
        got = outcome(pieces_of(tool_parser, None, [text[:cut]]))
        if not got.calls:
            assert got.text == ("" if text[:cut].startswith(marker) else text[:cut])
            continue
        first, *others = got.calls
        assert first.name == "get_weather"
        assert others in ([], [Call("now", {})]) or not others[0].complete
        if first.complete:
            assert first.arguments == ARGUMENTS[name]
        else:
            common = "".join(
                a for a, b in takewhile(lambda pair: pair[0] == pair[1], zip(complete, first.arguments, strict=False))
            )
            # A value's end tag may be cut, too: then its beginning can't be distinguished from the value.
            cut_tag = first.arguments[len(common) :].removeprefix("\\n")
            assert any(
                tag.startswith(cut_tag) for tag in ("</param>", "</parameter>", "</atem:parameter>", "</arg_value>")
            )
            assert not others
            # What didn't become arguments is there as text.
            assert text[:cut].endswith(got.text)


@pytest.mark.parametrize("tool_parser", FORMATS)
@pytest.mark.parametrize("name", ["unicode", "quotes", "control characters", "numbers", "nested objects", "none"])
def test_of_a_call_that_is_cut_no_markup_is_shown(tool_parser: str, name: str) -> None:
    """Neither as text nor in the arguments, which begin the complete ones."""
    call = written(tool_parser, "get_weather", ARGUMENTS[name])
    text = f"{call}\n{call}" if tool_parser not in FRAMED else call
    complete = "".join(piece.text for piece in pieces_of(tool_parser, None, [call]) if hasattr(piece, "text"))
    for cut in range(len(text)):
        got = outcome(pieces_of(tool_parser, None, [text[:cut]], cut=True))
        assert not got.text.strip()
        if got.calls and not got.calls[-1].complete:
            # A line break may be the value's, or belong to its end tag.
            shown = got.calls[-1].arguments
            assert complete.startswith((shown, shown.removesuffix("\\n")))


@pytest.mark.parametrize("tool_parser", ["hermes3", "llama3", "phi4", "mistral", "devstral", "gptoss"])
def test_json_arguments_are_passed_on_as_soon_as_they_come(tool_parser: str) -> None:
    """After each character all arguments so far have been sent."""
    text = written(tool_parser, "get_weather", {"city": "Paris 🎉", "days": 5})
    arguments = json.dumps({"city": "Paris 🎉", "days": 5}, ensure_ascii=False)
    start = text.index(arguments)
    for cut in range(start + 1, start + len(arguments) + 1):
        pieces = pieces_of(tool_parser, None, [text[:cut]])
        assert "".join(p.text for p in pieces if hasattr(p, "text")) == arguments[: cut - start]


@pytest.mark.parametrize("tool_parser", FORMATS)
def test_ordinary_text_isnt_held_back(tool_parser: str) -> None:
    parser = parser_for(TOOL_PARSERS[tool_parser], None, TOOLS)
    for part in ("Hello", ", ", "1 > 0", " and so on.\n", "東京"):
        assert parser.push(part) == [AnswerText(part)]
    assert parser.finish() == []
