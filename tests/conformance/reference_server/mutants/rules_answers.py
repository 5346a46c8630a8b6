"""Answers that contradict themselves or their requests."""

from collections.abc import Mapping, Sequence
from typing import Any

from reference_server.chat import Chat
from reference_server.completions import Completions
from reference_server.generation import Asked, Generation, Output, Reason
from reference_server.items import Item
from reference_server.responses import Response, Responses
from reference_server.words import Token


class MiscountsTotal(Generation):
    """total_tokens is not the sum of the others."""

    breaks = {"chat/rules/usage-adds-up", "completions/rules/usage-adds-up", "responses/rules/usage-adds-up"}

    def total(self, prompt: int, completion: int) -> int:
        return completion


class OneTokenMore(Generation):
    """Each answer has a token more than it may have."""

    breaks = {"chat/rules/token-limit", "completions/rules/token-limit", "responses/rules/token-limit"}
    faults = 3

    def budget(self, asked: Asked) -> int:
        return super().budget(asked) + 1


class OneTokenLess(Generation):
    """Answers end by length before the limit."""

    breaks = {"chat/rules/finish-agrees", "completions/rules/finish-agrees", "responses/rules/finish-agrees"}
    faults = 2

    def budget(self, asked: Asked) -> int:
        return max(1, super().budget(asked) - 1)


class CallsButStops(Generation):
    """finish_reason is stop although tools are called, where agents end their loop."""

    breaks = {"chat/rules/finish-agrees"}

    def reason(self, *, cut: bool, calls: int) -> Reason:
        return "length" if cut else "stop"


class ShowsStops(Generation):
    """The text holds the stop text that ended it."""

    breaks = {"chat/rules/stop-absent", "completions/rules/stop-absent"}

    def kept(self, start: int, stop: str, body: Mapping[str, Any]) -> int:
        return start + len(stop)


class CallsWithNothing(Generation):
    """Functions are called without the arguments that they need."""

    breaks = {"chat/rules/arguments-valid", "responses/rules/arguments-valid"}

    def arguments(self, function: Mapping[str, Any]) -> dict[str, Any]:
        return {}


class TokensWithoutBlanks(Chat):
    """The tokens of logprobs lack the blank before a word."""

    breaks = {"chat/rules/logprobs-join"}

    def shown_logprob(self, token: Token) -> dict[str, Any]:
        text = token.text.strip() or token.text
        return {"token": text, "logprob": token.logprob, "bytes": list(text.encode())}


class DropsTokens(Completions):
    """The logprobs of a text lack its first token."""

    breaks = {"completions/rules/logprobs-join"}
    faults = 3

    def completion_logprobs(self, asked: Asked, tokens: Sequence[Token], offset: int) -> dict[str, Any] | None:
        shown = super().completion_logprobs(asked, tokens, offset)
        return shown and {name: text and text[1:] for name, text in shown.items()}


class OneChatId(Chat):
    """All answers have one id, since it is made of what doesn't change."""

    breaks = {"chat/rules/ids-unique"}

    def chat_id(self) -> str:
        return "chatcmpl-reference"


class OneCompletionId(Completions):
    """The same of text completions."""

    breaks = {"completions/rules/ids-unique"}

    def completion_id(self) -> str:
        return "cmpl-reference"


class OneResponseId(Responses):
    """The same of responses that are not stored."""

    breaks = {"responses/rules/ids-unique"}

    def response(self, asked: Asked, begun: Response, output: Output, items: Sequence[Item]) -> Response:
        whole = super().response(asked, begun, output, items)
        return whole if whole["store"] or asked.body.get("stream") else {**whole, "id": "resp_reference"}
