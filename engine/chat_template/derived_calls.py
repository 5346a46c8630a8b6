"""The format of a model's calls, derived from what its chat template writes of them.

Calls with names, arguments and ids that occur nowhere else are rendered in an assistant's turn. What stands around
them, between two of them, and between two arguments is the format. llama.cpp reads templates so, too
(`docs/autoparser.md` of b11434).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

import msgspec

from specvino.engine.chat_template.template import Template, TemplateRefusal
from specvino.engine.output_parsers.call_format import (
    CDATA,
    ID,
    NAME,
    CallFormat,
    Elements,
    JsonArguments,
    JsonCall,
    Literals,
)

TAG = re.compile(r"<[^<>\s][^<>]*>|\[/?[A-Z][A-Z_]*\]")

QUESTION, ANSWER = "\ue000question\ue000", "\ue000answer\ue000"
_NAMES = ("probe_first", "probe_second")
_IDS = ("idAAAAAA1", "idBBBBBB2")  # nine letters and digits: Mistral's templates take no others
_KEYS = ("key_alpha", "key_beta")
_VALUES = ("value_gamma", "value_delta")

_DIGITS = re.compile(r"\d+")

# A value of each JSON type, and what it begins with as JSON or as Python writes it.
_SAMPLES: Mapping[str, tuple[Any, str]] = {
    "string": (_VALUES[0], re.escape(_VALUES[0])),
    "integer": (12345, "12345"),
    "number": (12345.5, r"12345\.5"),
    "boolean": (True, "[tT]rue"),
    "null": (None, "null|None"),
    "array": ([12345], r"\["),
    "object": ({"a": 12345}, r"\{"),
}


class _Turn:
    """Renders what an assistant writes in a turn with calls. `as_text` gives arguments as JSON text; `content` is that
    of a message with calls."""

    def __init__(self, template: Template, content: str | None, *, as_text: bool) -> None:
        self._template = template
        self._content = content
        self._as_text = as_text
        self._header, _, self.ending = self._rendered({"role": "assistant", "content": ANSWER}).partition(ANSWER)
        # What ends a turn that others follow, and whether it ended the last turn with calls.
        self.stopped = False
        later = self._rendered({"role": "assistant", "content": ANSWER}, {"role": "user", "content": "."})
        self.stop = next(iter(TAG.findall(later.partition(ANSWER)[2])), None)

    def text(self, *calls: tuple[str, Mapping[str, Any]]) -> str:
        """Returns the calls with what stands around them. Raises TemplateRefusal.

        The beginning and the end of the turn are told by one with content alone.
        """
        written = self._rendered(self._message(calls))
        start = outside_tags(written, len(common_start(written, self._header)), forward=False)
        body = written[start:]
        last = max((body.rfind(text) for _, arguments in calls for text in (*arguments, _VALUES[1])), default=0)
        stop = -1
        if self.stop is not None and self.stop not in body[max(0, body.find(calls[0][0])) : last]:
            stop = body.find(self.stop, max(0, last))
        self.stopped = stop >= 0
        end = len(body) - len(common_end(body, self.ending))
        if self.stopped:
            end = min(stop, end)
        body = body[: outside_tags(body, end, forward=True)]
        for id in _IDS:
            body = body.replace(id, ID)
        return body

    def _message(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
        functions = [
            {"name": name, "arguments": json.dumps(arguments) if self._as_text else dict(arguments)}
            for name, arguments in calls
        ]
        written = [
            {"id": id, "type": "function", "function": function} for id, function in zip(_IDS, functions, strict=False)
        ]
        return {"role": "assistant", "content": self._content, "tool_calls": written}

    def _rendered(self, *messages: Mapping[str, Any]) -> str:
        question = {"role": "user", "content": QUESTION}
        text = self._template.render([question, *messages], _TOOLS, add_generation_prompt=False)
        if QUESTION not in text:
            raise TemplateRefusal("It doesn't show what a user says.")
        return text[text.rindex(QUESTION) + len(QUESTION) :]


def derived_calls(template: Template) -> CallFormat | None:
    """Returns the format of calls that a template shows; None where it shows none, or none that is understood."""
    for as_text in (False, True):
        for content in ("", None):
            try:
                found = _derived(_Turn(template, content, as_text=as_text))
            except ValueError:  # it refuses, or a part of a call isn't where it has to be
                continue
            if found is not None:
                return found
    return None


def _derived(turn: _Turn) -> CallFormat | None:
    arguments = dict(zip(_KEYS, _VALUES, strict=True))
    one = turn.text((_NAMES[0], arguments))
    if one.count(_NAMES[0]) != 1:
        return None  # it isn't shown, or twice
    try:
        two = turn.text((_NAMES[0], arguments), (_NAMES[1], arguments))
    except TemplateRefusal:
        two = ""
    if not turn.stopped and turn.stop == turn.ending.strip():
        one, two = _without_own_stop(one, two)
    for style in (_json_call, _json_arguments, _elements, _literals):
        found = style(turn, one, two)
        if found is not None:
            return msgspec.structs.replace(found, parallel=_NAMES[1] in two)
    return None


def _without_own_stop(one: str, two: str) -> tuple[str, str]:
    """Returns the texts of one and of two calls without the token by which turns with calls end in place of that of
    others, as <|eom_id|> stands for <|eot_id|>."""
    last = list(TAG.finditer(one.rstrip()))[-1:]
    if last and last[0].end() == len(one.rstrip()) and last[0][0][1] != "/" and two.count(last[0][0]) <= 1:
        return one[: last[0].start()], two.partition(last[0][0])[0]
    return one, two


def _json_call(turn: _Turn, one: str, two: str) -> CallFormat | None:
    place = _object_with_name(one, _NAMES[0])
    if place is None:
        return None
    start, end, arguments, behind = place
    head, tail = (part.replace(_NAMES[0], NAME) for part in (one[start:arguments], one[behind:end]))
    if not JsonCall(head, tail).is_readable:
        return None
    numbered = False
    second = _object_with_name(two, _NAMES[1])
    if second is not None:
        of_second = two[second[0] : second[2]].replace(_NAMES[1], NAME)
        number = _number(head, of_second)
        if number is not None:
            head, numbered = number, True
    between, rest = None, one[end:]
    if second is not None and (first := _object_with_name(two, _NAMES[0])) is not None:
        between, rest = two[first[1] : second[0]], two[second[1] :]
    section, start_text, end_text, separator = _divided(one[:start], between, rest)
    return _tidy(CallFormat(JsonCall(head, tail), section, separator, start_text, end_text, numbered))


def _json_arguments(turn: _Turn, one: str, two: str) -> CallFormat | None:
    first = _named_object(one, _NAMES[0])
    if first is None:
        return None
    name, arguments, end = first
    middle = one[name + len(_NAMES[0]) : arguments]
    second, numbered, between, rest = _named_object(two, _NAMES[1]), False, None, one[end:]
    if second is not None and (again := _named_object(two, _NAMES[0])) is not None:
        number = _number(middle, two[second[0] + len(_NAMES[1]) : second[1]])
        if number is not None:
            middle, numbered = number, True
        between, rest = two[again[2] : second[0]], two[second[2] :]
    section, head, tail, separator = _divided(one[:name], between, rest)
    return _tidy(CallFormat(JsonArguments(), section, separator, head + NAME + middle, tail, numbered))


def _elements(turn: _Turn, one: str, two: str) -> CallFormat | None:
    parts = _two_arguments(one)
    if parts is None:
        return None
    before, middle, between, after = parts
    between, after = between.replace(_KEYS[0], NAME), after.replace(_KEYS[1], NAME)  # end tags may have the name again
    (head, rest), key, end, gap = _divided(before, between, after)
    if not key.strip() or not end.strip() or gap.strip():
        return None
    if head.endswith(gap):
        head, key = head[: len(head) - len(gap)], gap + key
    elif rest.startswith(gap):
        end, rest = end + gap, rest[len(gap) :]
    else:
        return None
    kinds = _kinds(turn, middle, end.strip())
    if kinds is None:
        return None
    behind, named = kinds
    cdata = CDATA[0] in turn.text((_NAMES[0], {_KEYS[0]: "<&\n>"}))
    return _named(one, two, head, rest, Elements((key, behind), end, named, cdata), f"{key}{_KEYS[0]}")


def _literals(turn: _Turn, one: str, two: str) -> CallFormat | None:
    parts = _two_arguments(one)
    if parts is None:
        return None
    before, middle, between, after = parts
    quote = next((middle[at:] for at in range(len(middle)) if after.startswith(middle[at:])), "").strip()
    if not quote or before[-1:] not in ("(", "{") or not between.startswith(quote):
        return None
    closing = {"(": ")", "{": "}"}[before[-1]]
    rest = after.removeprefix(quote)
    if not rest.startswith(closing):
        return None
    style = Literals((before[-1], closing), middle.removesuffix(quote), between.removeprefix(quote), quote)
    return _named(one, two, before[:-1], rest[1:], style, before[-1])


def _named(one: str, two: str, head: str, rest: str, style: Elements | Literals, first: str) -> CallFormat | None:
    """Returns the format where `head` is all that stands before the arguments, which begin with `first`, and `rest`
    what stands behind them."""
    before, _, middle = head.partition(_NAMES[0])
    between, numbered = None, False
    if _NAMES[1] in two:
        second = two.index(_NAMES[1])
        end = two.index(_VALUES[1]) + len(_VALUES[1])
        closing = len(one) - len(rest) - one.rindex(_VALUES[1]) - len(_VALUES[1])  # of the last value
        between, rest = two[end + closing : second], two[two.rindex(_VALUES[1]) + len(_VALUES[1]) + closing :]
        middle_of_second = two[second + len(_NAMES[1]) :].partition(first)[0]
        number = _number(middle, middle_of_second)
        if number is not None:
            middle, numbered = number, True
    section, start, tail, separator = _divided(before, between, rest)
    return _tidy(CallFormat(style, section, separator, start + NAME + middle, tail, numbered))


def _two_arguments(one: str) -> tuple[str, str, str, str] | None:
    """Returns what stands before the first of two arguments, between its name and value, between both, and behind."""
    places = [one.find(text) for text in (_KEYS[0], _VALUES[0], _KEYS[1], _VALUES[1])]
    if -1 in places or places != sorted(places):
        return None
    ends = [place + len(text) for place, text in zip(places, (_KEYS[0], _VALUES[0], _KEYS[1], _VALUES[1]), strict=True)]
    return one[: places[0]], one[ends[0] : places[1]], one[ends[1] : places[2]], one[ends[3] :]


def _kinds(turn: _Turn, middle: str, end: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """Returns what stands between an argument's name and value, with ID where that depends on the value's type, and
    what stands there for each type."""
    found: dict[str, str] = {}
    for type, (value, begins) in _SAMPLES.items():
        text = turn.text((_NAMES[0], {_KEYS[0]: value}))
        if _KEYS[0] not in text:
            continue  # null may be as good as nothing
        behind = text.partition(_KEYS[0])[2].partition(end)[0]
        places = [match.start() for match in re.finditer(begins, behind)]
        if not places and type in ("array", "object"):
            continue  # written in a way of their own, which is read as text
        if not places:
            return None
        found[type] = behind[: places[0] if type in ("array", "object") else places[-1]]
    if {text for type, text in found.items() if type not in ("array", "object")} == {middle}:
        return middle, ()
    prefix = re.sub(r"\w+$", "", common_start(*found.values()))
    suffix = re.sub(r"^\w+", "", common_end(*(text[len(prefix) :] for text in found.values())))
    kinds = {type: text[len(prefix) : len(text) - len(suffix)] for type, text in found.items()}
    if not prefix.strip() or not suffix.strip():
        return None
    return prefix + ID + suffix, tuple(kinds.items())


def _divided(before: str, between: str | None, behind: str) -> tuple[tuple[str, str], str, str, str]:
    """Returns the section around all of several things, what stands before and behind each, and what between two: by
    what stands before the first one, between two of them, and behind the last one. Nothing is around one alone."""
    if between is None:
        return ("", ""), before, behind, ""
    cut = outside_tags(before, len(before) - len(common_end(before, between)), forward=True)
    start = before[cut:]
    left = between[: len(between) - len(start)]
    end = common_start(behind, left)
    for text in (behind, left):
        end = end[: outside_tags(text, len(end), forward=False)]
    return (before[:cut], behind[len(end) :]), start, end, left[len(end) :]


def _tidy(format: CallFormat) -> CallFormat:
    """Returns the format without white space around it, and with calls that nothing announces as bare ones."""
    begin, end = format.section
    separator, head, tail = format.separator, format.head, format.tail
    if not begin.strip():
        stripped = head.lstrip()
        begin, separator, head = "", separator + head[: len(head) - len(stripped)], stripped
    if not end.strip():
        stripped = tail.rstrip()
        end, tail, separator = "", stripped, tail[len(stripped) :] + separator
    named = not isinstance(format.arguments, JsonCall)
    start = re.split(f"[{NAME}{ID}]", head)[0] if named else head
    return CallFormat(
        format.arguments,
        (begin.lstrip(), end.rstrip()),
        separator,
        head,
        tail,
        format.numbered,
        bare=not begin.strip() and not start.strip(),
    )


def _objects(text: str) -> Iterator[tuple[int, int, Any]]:
    """Yields the JSON objects in a text: where each begins and ends, and its value."""
    decoder = json.JSONDecoder(strict=False)  # ID is a control character
    for place in (match.start() for match in re.finditer(r"\{", text)):
        try:
            value, end = decoder.raw_decode(text, place)
        except ValueError:
            continue
        yield place, end, value


def _object_with_name(text: str, name: str) -> tuple[int, int, int, int] | None:
    """Returns where the innermost JSON object of a call begins and ends, and where its arguments do."""
    for start, end, value in reversed(list(_objects(text))):
        if name not in value and name not in [each for each in value.values() if isinstance(each, str)]:
            continue
        for place, behind, arguments in _objects(text[start + 1 : end]):
            if set(arguments) == set(_KEYS):
                return start, end, start + 1 + place, start + 1 + behind
    return None


def _named_object(text: str, name: str) -> tuple[int, int, int] | None:
    """Returns where a name begins, and where the JSON object behind it begins and ends."""
    place = text.find(name)
    for start, end, value in _objects(text):
        if 0 <= place < start and set(value) == set(_KEYS):
            return place, start, end
    return None


def _number(first: str, second: str) -> str | None:
    """Returns the first text with ID in the place of a number that is one more in the second; None where there is
    none."""
    for match in _DIGITS.finditer(first):
        raised = f"{first[: match.start()]}{int(match[0]) + 1}{first[match.end() :]}"
        if raised == second:
            return f"{first[: match.start()]}{ID}{first[match.end() :]}"
    return None


def _tool(name: str) -> dict[str, Any]:
    properties = {key: {"type": "string", "description": "A probe."} for key in _KEYS}
    parameters = {"type": "object", "properties": properties, "required": list(_KEYS)}
    return {"type": "function", "function": {"name": name, "description": "A probe.", "parameters": parameters}}


_TOOLS: Sequence[Mapping[str, Any]] = [_tool(name) for name in _NAMES]


def common_start(*texts: str) -> str:
    """Returns the longest text with which all of them begin."""
    alike = takewhile(lambda characters: len(set(characters)) == 1, zip(*texts, strict=False))
    return "".join(characters[0] for characters in alike)


def common_end(*texts: str) -> str:
    """Returns the longest text with which all of them end."""
    return common_start(*(text[::-1] for text in texts))[::-1]


def outside_tags(text: str, place: int, *, forward: bool) -> int:
    """Returns the place, moved out of a tag that it is within."""
    for tag in TAG.finditer(text):
        if tag.start() < place < tag.end():
            return tag.end() if forward else tag.start()
    return place
