"""The rule for logprobs of chat and text completions."""

import json
from collections.abc import Iterator
from typing import Any, ClassVar

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import Output, outputs
from specvino.conformance.rules.rule import Rule, endpoint_of

CHOICES = {"chat": "ChatChoice", "completions": "CompletionChoice"}


class LogprobsJoin(Rule):
    name = "logprobs-join"
    says = "The tokens of logprobs join to the text, and no logprob is above 0."
    specs: ClassVar = {
        "chat": "/components/schemas/ChatLogprobs",
        "completions": "/components/schemas/CompletionLogprobs",
    }

    def applies(self, exchange: Exchange) -> bool:
        requested = exchange.request.asked("logprobs", False)
        choices = CHOICES.get(endpoint_of(exchange))
        if choices is None or not self.dialect.has_property(choices, "logprobs"):
            return False  # the system has no logprobs
        is_count = isinstance(requested, int) and not isinstance(requested, bool) and requested >= 0
        top = exchange.request.asked("top_logprobs", 0)
        # Cases report invalid values that aren't refused.
        return exchange.ok and (requested is True or is_count) and isinstance(top, int) and top >= 0

    def violations(self, exchange: Exchange) -> Iterator[str]:
        for index, output in enumerate(outputs(exchange)):
            logprobs = output.choice.get("logprobs")
            if logprobs is None:
                requested = json.dumps(exchange.request.asked("logprobs"))
                yield f"logprobs: {requested} was sent, but the answer has no choices.{index}.logprobs"
            elif not isinstance(logprobs, dict):
                yield f"logprobs were requested, but are {logprobs!r}"
            elif "content" in logprobs:
                yield from _chat(logprobs["content"] or [], output)
            elif "tokens" in logprobs:
                prompt = exchange.request.asked("prompt") if exchange.request.asked("echo", False) else ""
                skips_prompt = isinstance(prompt, str) and not self.dialect.echoes_logprobs
                text = output.text.removeprefix(prompt) if skips_prompt else output.text
                # Tokens without their spaces don't join to the text.
                yield from _completions(logprobs, text if self.dialect.logprob_text(" ") else "")


def _chat(tokens: list[dict[str, Any]], output: Output) -> Iterator[str]:
    for token in tokens:
        if token.get("logprob", 0) > 0:
            yield f"the logprob of {token.get('token')!r} is {token['logprob']}, above 0"
    if output.calls or output.reasoning:
        return  # the tokens include those of calls and reasoning
    if all(isinstance(token.get("bytes"), list) for token in tokens):
        joined = bytes(byte for token in tokens for byte in token["bytes"]).decode("utf-8", "replace")
    else:
        joined = "".join(token.get("token") or "" for token in tokens)
    # The text has neither the end-of-turn token nor what a stop string removed.
    if not joined.startswith(output.text.strip("\ufffd")):
        yield f"the tokens join to {joined[:120]!r}, but the text is {output.text[:120]!r}"


def _completions(logprobs: dict[str, Any], text: str) -> Iterator[str]:
    lengths = {name: len(logprobs[name]) for name in logprobs if isinstance(logprobs[name], list)}
    if len(set(lengths.values())) > 1:
        yield f"the lists of logprobs have different lengths: {lengths}"
    joined = "".join(map(str, logprobs["tokens"] or ()))
    if not joined.startswith(text.strip("\ufffd")) and "\ufffd" not in joined:
        yield f"the tokens join to {joined[:120]!r}, but the text is {text[:120]!r}"
    offsets = logprobs.get("text_offset")
    if isinstance(offsets, list) and offsets != sorted(offsets):
        yield f"text_offset decreases: {offsets[:20]}"
