"""Answers whose form the request demands."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from reference_server.chat import Chat
from reference_server.generation import NO_FORM, Asked, Generation, Output, Piece, Reason, Segment
from reference_server.refusal import Refusal
from specvino.generated.errors import ErrorCode

FORMS = {"chat/structured_output/*", "chat/logprobs/bytes-of-parts", "chat/unicode/*", "responses/*"}
"""The cases with answers of a form."""


class FencedJson(Generation):
    """JSON comes in a fence of Markdown."""

    breaks = {"chat/capabilities/json-object", "chat/capabilities/json-schema"}

    def formed(self, form: Mapping[str, Any]) -> str:
        return f"```json\n{super().formed(form)}\n```"


class AnyJson(Generation):
    """A schema is taken as the wish for some JSON."""

    breaks = {
        f"chat/structured_output/{name}"
        for name in (
            "json-schema",
            "not-strict",
            "against-the-request",
            "nested",
            "array-bounds",
            "array-of-objects",
            "integer-bounds",
            "pattern",
            "any-of",
            "null-union",
            "definitions",
            "escapes",
            "unicode",
            "streamed",
            "at-the-same-time",
        )
    }

    def formed(self, form: Mapping[str, Any]) -> str:
        return '{"answer": 42}' if form["type"] == "json_schema" else super().formed(form)


class WordsBehind(Generation):
    """A JSON object is followed by some words."""

    breaks = {"chat/structured_output/json-object"}

    def formed(self, form: Mapping[str, Any]) -> str:
        return super().formed(form) + (" I hope that helps." if form["type"] == "json_object" else "")


class BlankWithoutEnd(Generation):
    """JSON is followed by white space until the tokens are used up."""

    breaks = {"chat/structured_output/json-schema", "chat/structured_output/json-object"}

    def formed(self, form: Mapping[str, Any]) -> str:
        return super().formed(form) + " " * 2000


class SortedKeys(Generation):
    """Keys come in the order of the alphabet."""

    breaks = {"chat/structured_output/keys-in-order"}

    def formed(self, form: Mapping[str, Any]) -> str:
        return json.dumps(json.loads(super().formed(form)), sort_keys=True, ensure_ascii=False)


class FirstChoiceOnly(Generation):
    """Of several choices the first one is held to the schema."""

    breaks = {"chat/structured_output/several-choices"}

    def output(self, asked: Asked, choice: int) -> Output:
        return super().output(asked if choice == 0 else replace(asked, form=NO_FORM), choice)


class FormOrTools(Generation):
    """Where there are tools, the form is forgotten."""

    breaks = {"chat/structured_output/with-tools"}

    def script(self, asked: Asked, draw: Random, budget: int) -> Iterator[Segment]:
        return super().script(replace(asked, form=NO_FORM) if asked.body.get("tools") else asked, draw, budget)


class CutIsStop(Generation):
    """What the limit cut off ends by stop."""

    breaks = {"chat/structured_output/cut-off"}

    def reason(self, *, cut: bool, calls: int) -> Reason:
        return super().reason(cut=False, calls=calls)


class OtherBlanks(Chat):
    """A stream has other white space than the whole answer."""

    breaks = {"chat/structured_output/like-unary"}

    def text_deltas(self, piece: Piece) -> Iterator[dict[str, Any]]:
        yield {"content": "\n" if piece.text == " " else piece.text}


class NoPlainText(Generation):
    """The format text is unknown."""

    breaks = {"chat/structured_output/text"}

    def form(self, format: Mapping[str, Any] | None, param: str) -> Mapping[str, Any]:
        if format == NO_FORM:
            raise Refusal(ErrorCode.INVALID_VALUE, f"{param} is unknown.", param)
        return super().form(format, param)
