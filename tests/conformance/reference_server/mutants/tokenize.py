"""Tokens gone wrong."""

from collections.abc import Mapping
from typing import Any

from reference_server.completions import Completions
from reference_server.http import Call
from reference_server.tokenize import Tokenize


class AlwaysLists(Tokenize):
    """The tokens of one text are a list in a list."""

    breaks = {"tokenize/lists/one"}

    def listed(self, found: list[list[int]]) -> Any:
        return found


class OtherName(Tokenize):
    """The tokens are called ids."""

    breaks = {"tokenize/capabilities/endpoint", "tokenize/rules/answer-shape"}

    def tokenize(self, call: Call) -> dict[str, Any]:
        return {"ids": super().tokenize(call)["tokens"]}


class ListsBackwards(Tokenize):
    """Of several texts the last one comes first."""

    breaks = {"tokenize/lists/several"}

    def listed(self, found: list[list[int]]) -> Any:
        return super().listed(found[::-1])


class ListInList(Tokenize):
    """A list of one text counts as several."""

    breaks = {"tokenize/lists/one-in-a-list"}

    def tokenize(self, call: Call) -> dict[str, Any]:
        found = super().tokenize(call)
        return {"tokens": [found["tokens"]]} if len(call.body["text"]) == 1 else found


class CountsUp(Tokenize):
    """Each list begins with another token."""

    breaks = {"tokenize/lists/again"}

    def with_special(self, found: list[int], body: Mapping[str, Any]) -> list[int]:
        return [self.server.generation.count(), *found]


class KeepsTheLast(Tokenize):
    """max_length keeps the last tokens."""

    breaks = {"tokenize/lists/cut"}

    def shortened(self, found: list[int], body: Mapping[str, Any]) -> list[int]:
        return found[-body.get("max_length", 0) :]


class AlwaysFills(Tokenize):
    """Lists are filled up to max_length, whether or not that is asked for."""

    breaks = {"tokenize/lists/long-enough"}

    def padded(self, found: list[int], body: Mapping[str, Any]) -> list[int]:
        return super().padded(found, {**body, "pad_to_max_length": "max_length" in body})


class FillsTheOtherSide(Tokenize):
    """Left and right are exchanged."""

    breaks = {"tokenize/lists/filled-on-the-right", "tokenize/lists/filled-on-the-left"}

    def pads_left(self, body: Mapping[str, Any]) -> bool:
        return not super().pads_left(body)


class ReadsOtherTokens(Completions):
    """The model reads other tokens than /tokenize tells."""

    breaks = {"tokenize/lists/read"}

    def prompt_ids(self, prompt: Any) -> list[int]:
        found = super().prompt_ids(prompt)
        return found if isinstance(prompt, str) else [id + 1 for id in found]


class TokenizesAnything(Tokenize):
    """Nobody looks at what is to be tokenized, nor by whom."""

    breaks = {
        "tokenize/lists/missing",
        "tokenize/lists/model",
        "tokenize/lists/no-such-side",
        "tokenize/lists/none",
        "tokenize/lists/padding-without-length",
        "tokenize/lists/wrong-type",
    }

    def tokenize(self, call: Call) -> dict[str, Any]:
        text = call.body.get("text")
        texts = text if isinstance(text, list) else [text]
        return {
            "tokens": self.listed(
                [self.with_special(self.server.generation.words.encode(str(each)), {}) for each in texts] or [[]]
            )
        }
