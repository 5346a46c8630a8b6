"""Tokens gone wrong."""

from collections.abc import Mapping
from typing import Any

from reference_server.http import Call
from reference_server.server import ReferenceServer


class AlwaysLists(ReferenceServer):
    """The tokens of one text are a list in a list."""

    breaks = {"tokenize/lists/one"}

    def listed(self, found: list[list[int]]) -> Any:
        return found


class OtherName(ReferenceServer):
    """The tokens are called ids."""

    breaks = {"tokenize/capabilities/endpoint", "tokenize/rules/answer-shape"}

    def tokenize(self, call: Call) -> dict[str, Any]:
        return {"ids": super().tokenize(call)["tokens"]}


class ListsBackwards(ReferenceServer):
    """Of several texts the last one comes first."""

    breaks = {"tokenize/lists/several"}

    def listed(self, found: list[list[int]]) -> Any:
        return super().listed(found[::-1])


class ListInList(ReferenceServer):
    """A list of one text counts as several."""

    breaks = {"tokenize/lists/one-in-a-list"}

    def tokenize(self, call: Call) -> dict[str, Any]:
        found = super().tokenize(call)
        return {"tokens": [found["tokens"]]} if len(call.body["text"]) == 1 else found


class CountsUp(ReferenceServer):
    """Each list begins with another token."""

    breaks = {"tokenize/lists/again"}

    def with_special(self, found: list[int], body: Mapping[str, Any]) -> list[int]:
        return [self.count(), *found]


class KeepsTheLast(ReferenceServer):
    """max_length keeps the last tokens."""

    breaks = {"tokenize/lists/cut"}

    def shortened(self, found: list[int], body: Mapping[str, Any]) -> list[int]:
        return found[-body.get("max_length", 0) :]


class AlwaysFills(ReferenceServer):
    """Lists are filled up to max_length, whether or not that is asked for."""

    breaks = {"tokenize/lists/long-enough"}

    def padded(self, found: list[int], body: Mapping[str, Any]) -> list[int]:
        return super().padded(found, {**body, "pad_to_max_length": "max_length" in body})


class FillsTheOtherSide(ReferenceServer):
    """Left and right are exchanged."""

    breaks = {"tokenize/lists/filled-on-the-right", "tokenize/lists/filled-on-the-left"}

    def pads_left(self, body: Mapping[str, Any]) -> bool:
        return not super().pads_left(body)


class ReadsOtherTokens(ReferenceServer):
    """The model reads other tokens than /tokenize tells."""

    breaks = {"tokenize/lists/read"}

    def prompt_ids(self, prompt: Any) -> list[int]:
        found = super().prompt_ids(prompt)
        return found if isinstance(prompt, str) else [id + 1 for id in found]


class TokenizesAnything(ReferenceServer):
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
        return {"tokens": self.listed([self.with_special(self.words.encode(str(each)), {}) for each in texts] or [[]])}
