"""Tokens gone wrong."""

from collections.abc import Mapping
from typing import Any

from reference_server.completions import Completions
from reference_server.http import Call
from reference_server.refusal import Refusal
from reference_server.tokenize import Tokenize
from specvino.generated.errors import ErrorCode


class AlwaysLists(Tokenize):
    """The tokens of one text are a list in a list."""

    breaks = {"tokenize/lists/one"}

    def listed(self, lists: list[list[int]]) -> Any:
        return lists


class OtherName(Tokenize):
    """The tokens are called ids."""

    breaks = {"tokenize/capabilities/endpoint", "tokenize/rules/answer-shape"}

    def tokenize(self, call: Call) -> dict[str, Any]:
        return {"ids": super().tokenize(call)["tokens"]}


class ListsBackwards(Tokenize):
    """Of several texts the last one comes first."""

    breaks = {"tokenize/lists/several"}

    def listed(self, lists: list[list[int]]) -> Any:
        return super().listed(lists[::-1])


class ListInList(Tokenize):
    """A list of one text counts as several."""

    breaks = {"tokenize/lists/one-in-a-list"}

    def tokenize(self, call: Call) -> dict[str, Any]:
        answer, text = super().tokenize(call), call.body.get("text")
        return {**answer, "tokens": [answer["tokens"]]} if isinstance(text, list) and len(text) == 1 else answer


class CountsUp(Tokenize):
    """Each list begins with another token."""

    breaks = {"tokenize/lists/again"}

    def with_special(self, ids: list[int], body: Mapping[str, Any]) -> list[int]:
        return [self.server.generation.count(), *ids]


class KeepsTheLast(Tokenize):
    """max_length keeps the last tokens."""

    breaks = {"tokenize/lists/cut"}

    def shortened(self, ids: list[int], body: Mapping[str, Any]) -> list[int]:
        return ids[-body.get("max_length", 0) :]


class AlwaysFills(Tokenize):
    """Lists are filled up to max_length, whether or not that is asked for."""

    breaks = {"tokenize/lists/long-enough"}

    def padded(self, ids: list[int], body: Mapping[str, Any]) -> list[int]:
        return super().padded(ids, {**body, "pad_to_max_length": "max_length" in body})


class FillsTheOtherSide(Tokenize):
    """Left and right are exchanged."""

    breaks = {"tokenize/lists/filled-on-the-right", "tokenize/lists/filled-on-the-left"}
    faults = 2

    def pads_left(self, body: Mapping[str, Any]) -> bool:
        return not super().pads_left(body)


class ReadsOtherTokens(Completions):
    """The model reads other tokens than /tokenize tells."""

    breaks = {"tokenize/lists/read"}

    def prompt_ids(self, prompt: Any) -> list[int]:
        ids = super().prompt_ids(prompt)
        return ids if isinstance(prompt, str) else [id + 1 for id in ids]


class OtherTokensOfPrompts(Tokenize):
    """Of a prompt the first character is lost."""

    breaks = {"tokenize/forms/prompt"}

    def given_text(self, body: Mapping[str, Any]) -> Any:
        texts = super().given_text(body)
        return texts[1:] if "prompt" in body else texts


class BareTurns(Tokenize):
    """The chat template's own tokens are left out."""

    breaks = {"tokenize/forms/conversation"}

    def conversation_tokens(self, body: Mapping[str, Any]) -> list[int]:
        return [id for message in body["messages"] for id in self.server.generation.words.encode(message["content"])]


class CountsTooMany(Tokenize):
    """The count is of the characters."""

    breaks = {"tokenize/forms/counted"}

    def count(self, lists: list[list[int]]) -> Any:
        return sum(len(self.spelt(id)) for ids in lists for id in ids)


class SpellsInCapitals(Tokenize):
    """The texts of tokens are in capital letters."""

    breaks = {"tokenize/forms/strings", "tokenize/forms/pieces"}
    faults = 2

    def spelt(self, id: int) -> str:
        return super().spelt(id).upper()


class ReadsNumbers(Tokenize):
    """A token between texts is read as a number."""

    breaks = {"tokenize/forms/mixture"}

    def mixed_tokens(self, content: Any) -> list[int]:
        return super().mixed_tokens(content if isinstance(content, str) else [str(part) for part in content])


class OtherTexts(Tokenize):
    """The text of tokens is in capital letters."""

    breaks = {"detokenize/texts/back", "detokenize/texts/several"}

    def text(self, tokens: list[int]) -> str:
        return super().text(tokens).upper()


class OtherNameOfTexts(Tokenize):
    """The text of tokens is called otherwise."""

    breaks = {"detokenize/rules/answer-shape"}
    faults = 2

    def detokenize(self, call: Call) -> dict[str, Any]:
        return {"output": super().detokenize(call)["prompt"]}


class NoWayBack(Tokenize):
    """Nobody can have a text of tokens."""

    breaks = {"detokenize/capabilities/endpoint"}

    def detokenize(self, call: Call) -> dict[str, Any]:
        raise Refusal(ErrorCode.INTERNAL_ERROR, "There is no way back.")


class DetokenizesAnything(Tokenize):
    """Nobody looks at what is to be detokenized, nor by whom."""

    breaks = {"detokenize/texts/missing", "detokenize/texts/model", "detokenize/texts/wrong-type"}
    faults = 2

    def detokenize(self, call: Call) -> dict[str, Any]:
        tokens = call.body.get("tokens") or []
        known = [token for token in tokens if isinstance(token, int | list)]
        return {"prompt": self.texts(known)}


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
    faults = 2

    def tokenize(self, call: Call) -> dict[str, Any]:
        try:
            return super().tokenize(call)
        except Refusal:
            return self.described([self.text_tokens(str(call.body.get("text")), {})], {})
