"""The format of a model's calls, derived from the calls that its chat template renders.

Calls with unique names, arguments and ids are rendered in an assistant's turn. The texts around them, between two of
them, and between two arguments make up the format. llama.cpp does the same (`docs/autoparser.md` of b11434).
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
_IDS = ("idAAAAAA1", "idBBBBBB2")  # nine letters and digits, which Mistral's templates require
_KEYS = ("key_alpha", "key_beta")
_VALUES = ("value_gamma", "value_delta")

_DIGITS = re.compile(r"\d+")

# A value of each JSON type, and a pattern of its beginning as JSON or as a Python repr.
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
    """Renders an assistant's turn with calls. With `as_text`, arguments are JSON texts; `content` is the content of the
    message with calls."""

    def __init__(self, template: Template, content: str | None, *, as_text: bool) -> None:
        self._template = template
        self._content = content
        self._as_text = as_text
        self._header, _, self.ending = self._rendered({"role": "assistant", "content": ANSWER}).partition(ANSWER)
        # The tag that ends a turn before the last one, and whether it ended the last turn with calls.
        self.stopped = False
        later = self._rendered({"role": "assistant", "content": ANSWER}, {"role": "user", "content": "."})
        self.stop = next(iter(TAG.findall(later.partition(ANSWER)[2])), None)

    def text(self, *calls: tuple[str, Mapping[str, Any]]) -> str:
        """Returns the calls with the texts around them. Raises TemplateRefusal.

        The beginning and the end of the turn are those of a turn with content only.
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
            raise TemplateRefusal("It doesn't show user messages.")
        return text[text.rindex(QUESTION) + len(QUESTION) :]


def derived_calls(template: Template) -> CallFormat | None:
    """Returns the format in which a template renders calls; None without calls, or if the format can't be derived."""
    for as_text in (False, True):
        for content in ("", None):
            try:
                format = _derived(_Turn(template, content, as_text=as_text))
            except ValueError:  # the template refuses, or a part of a call isn't at the expected position
                continue
            if format is not None:
                return format
    return None


def _derived(turn: _Turn) -> CallFormat | None:
    arguments = dict(zip(_KEYS, _VALUES, strict=True))
    one = turn.text((_NAMES[0], arguments))
    if one.count(_NAMES[0]) != 1:
        return None  # it isn't rendered, or is rendered twice
    try:
        two = turn.text((_NAMES[0], arguments), (_NAMES[1], arguments))
    except TemplateRefusal:
        two = ""
    if not turn.stopped and turn.stop == turn.ending.strip():
        one, two = _without_own_stop(one, two)
    for style in (_json_call, _json_arguments, _elements, _literals):
        format = style(turn, one, two)
        if format is not None:
            return msgspec.structs.replace(format, parallel=_NAMES[1] in two)
    return None


def _without_own_stop(one: str, two: str) -> tuple[str, str]:
    """Returns the texts of one and of two calls without a token that only ends turns with calls, such as <|eom_id|>
    instead of <|eot_id|>.
    """
    last = list(TAG.finditer(one.rstrip()))[-1:]
    if last and last[0].end() == len(one.rstrip()) and last[0][0][1] != "/" and two.count(last[0][0]) <= 1:
        return one[: last[0].start()], two.partition(last[0][0])[0]
    return one, two


def _json_call(turn: _Turn, one: str, two: str) -> CallFormat | None:
    first = _object_with_name(one, _NAMES[0])
    if first is None:
        return None
    start, end, arguments, after = first
    head, tail = (part.replace(_NAMES[0], NAME) for part in (one[start:arguments], one[after:end]))
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
    if second is not None and (again := _object_with_name(two, _NAMES[0])) is not None:
        between, rest = two[again[1] : second[0]], two[second[1] :]
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
    between, after = between.replace(_KEYS[0], NAME), after.replace(_KEYS[1], NAME)  # end tags may repeat the name
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
    after_key, by_type = kinds
    cdata = CDATA[0] in turn.text((_NAMES[0], {_KEYS[0]: "<&\n>"}))
    return _named(one, two, head, rest, Elements((key, after_key), end, by_type, cdata), f"{key}{_KEYS[0]}")


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
    """Returns the format of a call: `head` is all text before the arguments, which begin with `first`; `rest` is all
    text after them.
    """
    before, _, middle = head.partition(_NAMES[0])
    between, numbered = None, False
    if _NAMES[1] in two:
        second = two.index(_NAMES[1])
        end = two.index(_VALUES[1]) + len(_VALUES[1])
        closing = len(one) - len(rest) - one.rindex(_VALUES[1]) - len(_VALUES[1])  # after the last value
        between, rest = two[end + closing : second], two[two.rindex(_VALUES[1]) + len(_VALUES[1]) + closing :]
        middle_of_second = two[second + len(_NAMES[1]) :].partition(first)[0]
        number = _number(middle, middle_of_second)
        if number is not None:
            middle, numbered = number, True
    section, start, tail, separator = _divided(before, between, rest)
    return _tidy(CallFormat(style, section, separator, start + NAME + middle, tail, numbered))


def _two_arguments(one: str) -> tuple[str, str, str, str] | None:
    """Returns the texts before the first of two arguments, between its name and value, between both, and after them."""
    texts = (_KEYS[0], _VALUES[0], _KEYS[1], _VALUES[1])
    starts = [one.find(text) for text in texts]
    if -1 in starts or starts != sorted(starts):
        return None
    ends = [start + len(text) for start, text in zip(starts, texts, strict=True)]
    return one[: starts[0]], one[ends[0] : starts[1]], one[ends[1] : starts[2]], one[ends[3] :]


def _kinds(turn: _Turn, middle: str, end: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """Returns the text between an argument's name and value, with ID in place of the part that depends on the value's
    type, and that part for each type."""
    texts: dict[str, str] = {}
    for type, (value, begins) in _SAMPLES.items():
        text = turn.text((_NAMES[0], {_KEYS[0]: value}))
        if _KEYS[0] not in text:
            continue  # null may be omitted
        after = text.partition(_KEYS[0])[2].partition(end)[0]
        starts = [match.start() for match in re.finditer(begins, after)]
        if not starts and type in ("array", "object"):
            continue  # a notation of its own, which is read as text
        if not starts:
            return None
        texts[type] = after[: starts[0] if type in ("array", "object") else starts[-1]]
    if {text for type, text in texts.items() if type not in ("array", "object")} == {middle}:
        return middle, ()
    prefix = re.sub(r"\w+$", "", common_start(*texts.values()))
    suffix = re.sub(r"^\w+", "", common_end(*(text[len(prefix) :] for text in texts.values())))
    kinds = {type: text[len(prefix) : len(text) - len(suffix)] for type, text in texts.items()}
    if not prefix.strip() or not suffix.strip():
        return None
    return prefix + ID + suffix, tuple(kinds.items())


def _divided(before: str, between: str | None, after: str) -> tuple[tuple[str, str], str, str, str]:
    """Takes the texts before the first item, between two items and after the last one. Returns the texts around all
    items (the section), the texts around one item, and the separator. A single item (`between` is None) has no section.
    """
    if between is None:
        return ("", ""), before, after, ""
    cut = outside_tags(before, len(before) - len(common_end(before, between)), forward=True)
    start = before[cut:]
    left = between[: len(between) - len(start)]
    end = common_start(after, left)
    for text in (after, left):
        end = end[: outside_tags(text, len(end), forward=False)]
    return (before[:cut], after[len(end) :]), start, end, left[len(end) :]


def _tidy(format: CallFormat) -> CallFormat:
    """Returns the format without surrounding white space. Calls without a marker become bare."""
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
    """Yields the JSON objects in a text, each with its start, end and value."""
    decoder = json.JSONDecoder(strict=False)  # ID is a control character
    for start in (match.start() for match in re.finditer(r"\{", text)):
        try:
            value, end = decoder.raw_decode(text, start)
        except ValueError:
            continue
        yield start, end, value


def _object_with_name(text: str, name: str) -> tuple[int, int, int, int] | None:
    """Returns the start and end of the innermost JSON object of a call, and those of its arguments."""
    for start, end, value in reversed(list(_objects(text))):
        if name not in value and name not in [member for member in value.values() if isinstance(member, str)]:
            continue
        for inner_start, inner_end, arguments in _objects(text[start + 1 : end]):
            if set(arguments) == set(_KEYS):
                return start, end, start + 1 + inner_start, start + 1 + inner_end
    return None


def _named_object(text: str, name: str) -> tuple[int, int, int] | None:
    """Returns the start of a name, and the start and end of the JSON object after it."""
    index = text.find(name)
    for start, end, value in _objects(text):
        if 0 <= index < start and set(value) == set(_KEYS):
            return index, start, end
    return None


def _number(first: str, second: str) -> str | None:
    """Returns the first text with ID in place of a number that is one higher in the second text; None if there is
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
    """Returns the longest common prefix of the texts."""
    alike = takewhile(lambda characters: len(set(characters)) == 1, zip(*texts, strict=False))
    return "".join(characters[0] for characters in alike)


def common_end(*texts: str) -> str:
    """Returns the longest common suffix of the texts."""
    return common_start(*(text[::-1] for text in texts))[::-1]


def outside_tags(text: str, index: int, *, forward: bool) -> int:
    """Returns the index, moved to the edge of the tag if it is inside one, so that no tag is split."""
    for tag in TAG.finditer(text):
        if tag.start() < index < tag.end():
            return tag.end() if forward else tag.start()
    return index
