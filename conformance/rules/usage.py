"""The rule for the counts of tokens that an answer reports."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from specvino.conformance.endpoints import COUNTS
from specvino.conformance.http.exchange import Exchange, Request
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.rules.rule import Rule, endpoint_of

# The fields of a request that become its prompt.
PROMPTS = ("conversation", "input", "instructions", "messages", "previous_response_id", "prompt", "system", "tools")


def _has_content(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_has_content(inner) for name, inner in value.items() if name not in ("role", "type"))
    if isinstance(value, list):
        return any(map(_has_content, value))
    return value is not None and value != ""


class UsageAddsUp(Rule):
    name = "usage-adds-up"
    says = "total_tokens is the sum of both counts, no detail exceeds its total, and no text has 0 tokens."
    specs: ClassVar = {
        "chat": "/components/schemas/Usage",
        "completions": "/components/schemas/Usage",
        "responses": "/components/schemas/ResponseUsage",
        "messages": "/components/schemas/AnthropicUsage",
    }

    def applies(self, exchange: Exchange) -> bool:
        return exchange.ok and exchange.request.endpoint in COUNTS and isinstance(exchange.answer.get("usage"), dict)

    def violations(self, exchange: Exchange) -> Iterator[str]:
        endpoint = endpoint_of(exchange)
        usage: dict[str, Any] = self.dialect.described(endpoint, exchange.answer)["usage"]
        before, after = COUNTS[endpoint]
        prompt, completion, total = (usage.get(name) for name in (before, after, "total_tokens"))
        if not (isinstance(prompt, int) and isinstance(completion, int)):
            return  # the rules for shapes report that
        if isinstance(total, int) and total != prompt + completion:
            yield f"total_tokens is {total}, but {before} and {after} are {prompt} and {completion}"
        if prompt == 0 and exchange.request.asked("generate", True) and self._has_prompt(exchange.request):
            yield f"{before} is 0, though there was a prompt"
        echoed = exchange.request.asked("echo", False)
        if completion == 0 and not echoed and any(output.text or output.reasoning for output in outputs(exchange)):
            yield f"{after} is 0, though the answer has text"
        for count in (before, after):
            details = usage.get(f"{count}_details")
            for name, part in details.items() if isinstance(details, dict) else ():
                if type(part) is int and not 0 <= part <= usage[count]:
                    yield f"{count}_details.{name} is {part} of {usage[count]}"

    def _has_prompt(self, request: Request) -> bool:
        """Returns whether a request has a text, an image or a token: not every chat template makes tokens of a turn
        without any. What isn't valid may have a part that the server doesn't know, and nothing else."""
        has_content = any(_has_content(request.asked(name)) for name in PROMPTS)
        return has_content and self.dialect.accepts(request.endpoint or "", request.body) is not False
