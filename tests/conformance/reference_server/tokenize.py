"""POST /tokenize and /detokenize."""

from collections.abc import Mapping
from typing import Any

from reference_server.generation import CONTEXT
from reference_server.http import Call, Route
from reference_server.part import Part
from reference_server.words import BEGIN, PAD


class Tokenize(Part):
    routes = (Route("POST", "/tokenize", "tokenize"), Route("POST", "/detokenize", "detokenize"))

    def tokenize(self, call: Call) -> dict[str, Any]:
        body = self.server.requests.accepted(call, "TokenizeRequest")
        if "messages" in body:
            return self.described([self.conversation_tokens(body)], body)
        if "content" in body:
            return self.described([self.mixed_tokens(body["content"])], body)
        given = self.given_text(body)
        texts = [given] if isinstance(given, str) else given
        return self.described([self.text_tokens(text, body) for text in texts], body)

    def detokenize(self, call: Call) -> dict[str, Any]:
        body = self.server.requests.accepted(call, "DetokenizeRequest")
        return {"prompt": self.texts(body["tokens"])}

    def texts(self, tokens: list[Any]) -> Any:
        """One text for one list."""
        several = any(isinstance(token, list) for token in tokens)
        return [self.text(token) for token in tokens] if several else self.text(tokens)

    def text(self, tokens: list[int]) -> str:
        return self.server.generation.words.decode(tokens)

    def described(self, lists: list[list[int]], body: Mapping[str, Any]) -> dict[str, Any]:
        """The answer, with what is told of one list alone."""
        answer = {"tokens": self.listed(lists), "count": self.count(lists), "max_model_len": CONTEXT}
        if len(lists) > 1:
            return answer
        if body.get("with_pieces"):
            answer["tokens"] = [{"id": id, "piece": self.spelt(id)} for id in lists[0]]
        if body.get("return_token_strs"):
            answer["token_strs"] = [self.spelt(id) for id in lists[0]]
        return answer

    def count(self, lists: list[list[int]]) -> Any:
        """One number for one text."""
        return len(lists[0]) if len(lists) == 1 else [len(ids) for ids in lists]

    def spelt(self, id: int) -> str:
        return self.server.generation.words.text_of(id)

    def given_text(self, body: Mapping[str, Any]) -> Any:
        """The prompt wins over the text."""
        return body.get("prompt", body.get("text"))

    def conversation_tokens(self, body: Mapping[str, Any]) -> list[int]:
        turns = [self.server.chat.turn(message, "messages") for message in body["messages"]]
        return self.server.generation.words.encode(self.server.chat.rendered(turns))

    def mixed_tokens(self, content: Any) -> list[int]:
        """Numbers are tokens already."""
        encode = self.server.generation.words.encode
        parts = [content] if isinstance(content, str) else content
        return [id for part in parts for id in (encode(part) if isinstance(part, str) else [part])]

    def listed(self, lists: list[list[int]]) -> Any:
        """One list for one text."""
        return lists[0] if len(lists) == 1 else lists

    def text_tokens(self, text: str, body: Mapping[str, Any]) -> list[int]:
        ids = self.with_special(self.server.generation.words.encode(text), body)
        return self.padded(self.shortened(ids, body), body)

    def with_special(self, ids: list[int], body: Mapping[str, Any]) -> list[int]:
        """With what the model expects before a text."""
        return [BEGIN, *ids] if body.get("add_special_tokens", True) else ids

    def shortened(self, ids: list[int], body: Mapping[str, Any]) -> list[int]:
        """The first ones."""
        return ids[: body.get("max_length")]

    def padded(self, ids: list[int], body: Mapping[str, Any]) -> list[int]:
        if not body.get("pad_to_max_length"):
            return ids
        filling = [PAD] * (body["max_length"] - len(ids))
        return [*filling, *ids] if self.pads_left(body) else [*ids, *filling]

    def pads_left(self, body: Mapping[str, Any]) -> bool:
        return body.get("padding_side") == "left"
