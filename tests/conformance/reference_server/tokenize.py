"""POST /tokenize."""

from collections.abc import Mapping
from typing import Any

from reference_server.http import Call, Route
from reference_server.part import Part
from reference_server.words import BEGIN, PAD


class Tokenize(Part):
    routes = (Route("POST", "/tokenize", "tokenize"),)

    def tokenize(self, call: Call) -> dict[str, Any]:
        body = self.server.requests.accepted(call, "TokenizeRequest")
        texts = [body["text"]] if isinstance(body["text"], str) else body["text"]
        return {"tokens": self.listed([self.text_tokens(text, body) for text in texts])}

    def listed(self, found: list[list[int]]) -> Any:
        """One list for one text."""
        return found[0] if len(found) == 1 else found

    def text_tokens(self, text: str, body: Mapping[str, Any]) -> list[int]:
        found = self.with_special(self.server.generation.words.encode(text), body)
        return self.padded(self.shortened(found, body), body)

    def with_special(self, found: list[int], body: Mapping[str, Any]) -> list[int]:
        """With what the model expects before a text."""
        return [BEGIN, *found] if body.get("add_special_tokens", True) else found

    def shortened(self, found: list[int], body: Mapping[str, Any]) -> list[int]:
        """The first ones."""
        return found[: body.get("max_length")]

    def padded(self, found: list[int], body: Mapping[str, Any]) -> list[int]:
        if not body.get("pad_to_max_length"):
            return found
        filling = [PAD] * (body["max_length"] - len(found))
        return [*filling, *found] if self.pads_left(body) else [*found, *filling]

    def pads_left(self, body: Mapping[str, Any]) -> bool:
        return body.get("padding_side") == "left"
