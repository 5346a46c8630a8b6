"""Lark grammars as grammars: what they derive, and what is refused. Lark itself judges the texts."""

import itertools
import json
import re
from typing import Any

import pytest
from lark import Lark
from lark.exceptions import LarkError as Unparsed
from samples.lark_grammars import ARITHMETIC, DOUBLED, NESTED, PATCH, QUERY
from samples.sentences import sentences

from specvino.engine.grammar import (
    GrammarError,
    json_schema_example,
    lark,
    lower_json_schema,
    lower_structural_tag,
    structural_tag_example,
)
from specvino.engine.grammar._structural_tags.to_ebnf import as_grammar


def tag(grammar: str) -> dict[str, Any]:
    return {"type": "structural_tag", "format": lark(grammar)}


def schema(grammar: str, **keywords: Any) -> dict[str, Any]:
    return {"type": "string", "x-specvino-lark": grammar, **keywords}


def texts(grammar: str, count: int = 200) -> list[str]:
    made = as_grammar(tag(grammar))[0]
    return list(sentences(made, count, most_steps=200))


def parser_of(grammar: str) -> Lark:
    # Every way to split a text into terminals, as the grammars have it.
    return Lark(grammar, lexer="dynamic_complete")


def parses(parser: Lark, text: str) -> bool:
    try:
        parser.parse(text)
    except Unparsed:
        return False
    return True


@pytest.mark.parametrize("grammar", [ARITHMETIC, QUERY, NESTED], ids=["arithmetic", "query", "nested"])
def test_lark_parses_what_it_derives(grammar: str) -> None:
    derived = texts(grammar)
    assert len(set(derived)) > 50
    parser = parser_of(grammar)
    assert [text for text in derived if len(text) < 200 and not parses(parser, text)] == []


def test_a_patch() -> None:
    """Lark itself doesn't parse by this grammar: it has a terminal that may be empty."""
    for text in texts(PATCH):
        first, *lines = text.split("\n")
        assert first == "*** Begin"
        assert lines[-1 - (lines[-1] == "")] == "*** End"
        assert lines[0].startswith("*** ")
    assert structural_tag_example(tag(PATCH)) == "*** Begin\n*** Add: a\n+\n*** End"


def test_within_a_json_string_it_is_escaped() -> None:
    lowered = lower_json_schema(schema(PATCH), strict=True)
    assert lowered.unenforced == ()
    assert json.loads(json_schema_example(schema(PATCH))) == "*** Begin\n*** Add: a\n+\n*** End"
    quoted = json_schema_example(schema('start: "say \\"hi\\"\\n" /[\\x00-\\x1f]/ "\\\\"'))
    assert json.loads(quoted)[:9] == 'say "hi"\n'
    assert json.loads(quoted)[-1] == "\\"


@pytest.mark.parametrize(
    ("grammar", "expected"),
    [
        ('start: "a"~3', {"aaa"}),
        ('start: "a"~1..2', {"a", "aa"}),
        ('start: ["a"] "b"?', {"", "a", "b", "ab"}),
        ('start: ("a"?)+', {"", "a", "aa"}),
        ('start: ("a"? "b"?)~2', {"", "a", "b", "ab", "aa", "ba", "bb", "aba", "abb", "aab", "bab", "abab"}),
        ('start: "A"i "é"i', {"aé", "aÉ", "Aé", "AÉ"}),
        ('start: "a".."c"', {"a", "b", "c"}),
        (r"start: /a|b\/c/u", {"a", "b/c"}),
        ('!start: _a A -> tree\n_a.2: "x"\nA.-1: "y"', {"xy"}),
        ('start: "a" // comment\n  | "b" # another', {"a", "b"}),
        ("start: d\n%import common.DIGIT -> D\nd: D", set("0123456789")),
        ('start: "\\x41\\u0042\\t\\\\\\"\\b"', {'AB\t\\"\\b'}),
        ('start: "ß"i', {"ß"}),
        (r"start: /(a?)*/", {"", "a", "aa", "aaa"}),
    ],
)
def test_what_it_derives(grammar: str, expected: set[str]) -> None:
    derived = set(texts(grammar, 400))
    assert {text for text in derived if len(text) <= max(map(len, expected))} == expected
    if "+" not in grammar and "*" not in grammar:
        assert derived == expected


@pytest.mark.parametrize(
    ("grammar", "characters"),
    [
        ('?!start: "a" b\n!?b: "x"\n?c: b', "abx"),
        ('start: "a" \\\n  "b" \\  \n | "c"', "abc"),
        ('start: "a"\n  // a comment\n  | "b" // another\n\n# and one more | "x"\n  | c\nc:\n  | "c"', "abcx"),
        ('start: a\na: "a"\n%override a: "b" | "c"', "abc"),
        ('start: A\nA: B\nB: "a"\n%override B: "b"', "ab"),
        ('start: A\n%declare A\n%override A: "b"', "ab"),
        ('start: a\na: "a"\n%extend a: "b" a\n%extend a: "c"', "abc"),
        ('start: A | "x" B\nA: B B\nB: "a"\n%extend B: "b"', "abx"),
        # An imported terminal: those beside which it was imported use the old one, or the extended one.
        ('start: HEXDIGIT | "." DIGIT\n%import common (HEXDIGIT, DIGIT)\n%override DIGIT: "x"', "1ax."),
        ('start: HEXDIGIT | "." DIGIT\n%import common (HEXDIGIT, DIGIT)\n%extend DIGIT: "x"', "1ax."),
        (
            'start: H | "." D\n%import common.HEXDIGIT -> H\n%import common.DIGIT -> D\n%extend D: "x"\n%extend D: "y"',
            "1axy.",
        ),
        (
            'start: H | "." D\n%import common (HEXDIGIT, DIGIT)\nH: HEXDIGIT\nD: DIGIT\n'
            '%override DIGIT: "x"\n%extend DIGIT: "y"',
            "1axy.",
        ),
        # An imported rule: those beside which it was imported use the new one.
        ('start: dotted_name\n%import python (dotted_name, name)\n%override name: "1" | "2"', "12a."),
        ('start: dotted_name\n%import python.dotted_name\n%import python.name -> n\n%override n: "1"', "1n."),
        ('start: key\n%import python.dotted_name -> key\n%import python.NAME\n%override NAME: "3"', "13n."),
        (
            "start: dotted_name\n%import python (dotted_name, name, NAME)\n"
            '%override NAME: "n"\n%extend name: "1"\n%extend name: "2"',
            "12n.",
        ),
        ('start: dotted_name\n%import python (dotted_name, name)\n%override name: "1"\n%extend name: "2"', "12a."),
    ],
)
def test_it_derives_what_lark_parses(grammar: str, characters: str) -> None:
    derived = set(texts(grammar, 1000))
    short = {"".join(text) for length in range(4) for text in itertools.product(characters, repeat=length)}
    parser = parser_of(grammar)
    assert {text for text in short if text in derived} == {text for text in short if parses(parser, text)}


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        ("start", "line 1, column 6 isn't expected"),
        ('start: "a', "line 1, column 8 isn't expected"),
        ('begin: "a"', "start isn't defined"),
        ("start: a", "a isn't defined"),
        ('start: "a"\nstart: "b"', "start is defined twice"),
        ("start: A\nA: a\na: /x/", "a terminal can't refer to the rule a"),
        ('start: A\nA: "x" A', "the terminal A refers to itself"),
        ('start: "ab".."c"', "isn't a range of characters"),
        ('start: "a"~3..2', "isn't a number of repetitions"),
        ('start: "\\xg"', "has an invalid escape"),
        ("start: a\na: a", "no text at all"),
        ("start: N\n%import common.NOTHING -> N", "NOTHING isn't defined"),
        ("start: N\n%import common.NOTHING -> N\n%extend N: /a/", "NOTHING isn't defined"),
        ('start: "a"\n%override b: "b"', "b can't be overridden: it isn't defined before"),
        ('start: a\n%override a: "b"\na: "a"', "a can't be overridden: it isn't defined before"),
        ('start: "a"\n%extend b: "b"', "b can't be extended: it isn't defined before"),
        ('start: A\n%declare A\n%extend A: "b"', "A can't be extended: it isn't defined before"),
        ('start: DIGIT\nDIGIT: "x"\n%import common.DIGIT', "DIGIT is defined twice"),
        ('start: _a\n?_a: "a"', "line 2, column 1 isn't expected"),
    ],
)
def test_what_is_no_grammar(grammar: str, message: str) -> None:
    for lower, constraint in ((lower_structural_tag, tag(grammar)), (lower_json_schema, schema(grammar))):
        with pytest.raises(GrammarError) as caught:
            lower(constraint)
        words = str(caught.value).replace("nothing can satisfy it", "no text at all")
        assert message in words
        assert not caught.value.unsupported


@pytest.mark.parametrize(
    ("grammar", "reason"),
    [
        ("start: /a/s", "the flags of /a/s can't be enforced"),
        ("start: /a(?=b)/ /b/", "can't be enforced"),
        ('start: twice{"a"}\ntwice{x}: x x', "templates can't be enforced"),
        ("start: t\nt{x}: x", "the template t can't be enforced"),
        ("start: A\n%declare A", "the terminal A is only declared"),
        ("start: A\n%import .secrets.A", "can't be imported"),
        ("start: A\n%import etc.passwd.A", "etc.passwd can't be imported"),
        ('start: "a"\nt{x}: x\n%extend t{x}: "b"', "the template t can't be extended"),
        ('start: "a"~600', "a repetition of 600"),
        ('start: list*\nlist: | "a" list', "the repetition of a rule that refers to itself and may be empty"),
        ("start: " + " | ".join('"a"' for _ in range(5000)), "it has more than 4000 parts"),
        ("start: A A\nA: /([a-z]0?){1200}/", "with its repetitions written out it has 2400 characters"),
        ('start: a a\na: (("x"~512)~512)~512', "with its repetitions written out it has 4456448 characters"),
        ('start: "a"~' + "9" * 5000, "at most 512 repetitions can be enforced"),
        ('start: "x" /^a/', "lookarounds and anchors can't be enforced"),
        ("start: /a)|(?:b/", "it can't be parsed"),
    ],
)
def test_what_can_not_be_enforced(grammar: str, reason: str) -> None:
    for lowered in (
        lambda: lower_structural_tag(tag(grammar)),
        lambda: lower_json_schema(schema(grammar), strict=True),
    ):
        with pytest.raises(GrammarError) as caught:
            lowered()
        assert reason in str(caught.value)
        assert caught.value.unsupported
    assert lower_json_schema(schema(grammar)).unenforced == (("x-specvino-lark",),)


def test_what_is_ignored_may_stand_around_terminals() -> None:
    derived = set(texts('start: "a" b\nb: "b"\n%ignore "!"'))
    assert {"ab", "!ab", "a!b", "ab!"} <= derived
    assert {text.replace("!", "") for text in derived} == {"ab"}


def test_other_keywords_beside_it_are_not_enforced() -> None:
    other = {"x-specvino-lark": 'start: "b"'}
    lowered = lower_json_schema(schema('start: "a"', pattern="b", minLength=3, allOf=[other]))
    assert set(lowered.unenforced) == {("pattern",), ("minLength",), ("x-specvino-lark",)}


@pytest.mark.parametrize("expression", [r"\W", r"\D", r"\S", r"\s", r"\d", r"\w", r"[^\s]", r"[^\W]", r"[\D!]", "."])
def test_a_regular_expression_matches_as_in_python(expression: str) -> None:
    derived = texts(f"start: /{expression}{{20}}/", 50)
    assert [text for text in derived if not re.fullmatch(f"{expression}{{20}}", text)] == []


def test_a_string_of_json_by_the_common_grammar() -> None:
    grammar = "start: ESCAPED_STRING\n%import common.ESCAPED_STRING"
    parser = parser_of(grammar)
    assert [text for text in texts(grammar) if not parses(parser, text)] == []


def test_names_of_rules_that_the_grammar_gives_itself() -> None:
    grammar = f'start: x x_3 X X\nx: "(" x ")" | "a"\nx_3: "[" x_3 "]" | "b"\nX: "{"y" * 70}"'
    assert structural_tag_example(tag(grammar)) == "ab" + "y" * 140


def test_one_that_can_not_be_enforced_leaves_the_others_alone() -> None:
    broken = 'start: a\na: "(" a ")" | b*\nb: | "x" b'
    properties = {"a": schema(broken), "b": schema('start: b+\nb: "(" b ")" | "y"')}
    lowered = lower_json_schema({"type": "object", "properties": properties, "required": ["a", "b"]})
    assert lowered.unenforced == (("properties", "a", "x-specvino-lark"),)


def test_what_is_ignored_is_written_once() -> None:
    options = " | ".join(f'"{n}" A "," A' for n in range(45))
    comments = "%import common (SH_COMMENT, C_COMMENT, WS)\n%ignore SH_COMMENT\n%ignore C_COMMENT\n%ignore WS"
    assert lower_structural_tag(tag(f"start: {options}\nA: /[a-z]/\n{comments}")).kind == "grammar"


def test_values_that_are_listed_are_not_enforced_by_it() -> None:
    assert lower_json_schema({"enum": ["b"], "x-specvino-lark": 'start: "a"'}).unenforced == (("x-specvino-lark",),)
    assert lower_json_schema({"type": "string", "x-specvino-lark": 5}).unenforced == ()


def test_what_is_used_often_is_written_once() -> None:
    lowered = lower_structural_tag(tag(DOUBLED))
    assert len(lowered.text) < 10_000


def test_many_counted_characters_are_refused() -> None:
    """In rules that refer to themselves, too."""
    options = " | ".join(f"/([a-z]{{99}}{n})/" for n in range(30))
    with pytest.raises(GrammarError, match=r"most tokens fit at 5\d\d places"):
        lower_structural_tag(tag(f'start: "(" start ")" | {options}'))


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(GrammarError, match="nested too deeply"):
        lower_structural_tag(tag("start: " + "[" * 3000 + '"a"' + "]" * 3000))


def test_within_a_tag_that_only_xgrammar_supports() -> None:
    parts = {"type": "sequence", "elements": [{"type": "any_text"}, lark('start: "a"')]}
    lowered = lower_structural_tag({"type": "structural_tag", "format": parts})
    assert lowered.kind == "structural_tags_config"
    assert json.loads(lowered.text)["format"]["elements"][1] == {"type": "grammar", "grammar": 'root ::= "a"\n'}
