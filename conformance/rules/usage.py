"""Usage: counted tokens."""

from collections.abc import Iterator
from typing import Any, ClassVar

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.rules.rule import Rule

NAMES = {
    "chat": ("prompt_tokens", "completion_tokens"),
    "completions": ("prompt_tokens", "completion_tokens"),
    "responses": ("input_tokens", "output_tokens"),
}


class UsageAddsUp(Rule):
    name = "usage-adds-up"
    says = "total_tokens is the sum of the others, no part is more than its whole, and an answer has tokens."
    specs: ClassVar = {
        "chat": "/components/schemas/Usage",
        "completions": "/components/schemas/Usage",
        "responses": "/components/schemas/ResponseUsage",
    }

    def applies(self, exchange: Exchange) -> bool:
        return exchange.ok and exchange.request.endpoint in NAMES and isinstance(exchange.answer.get("usage"), dict)

    def violations(self, exchange: Exchange) -> Iterator[str]:
        usage: dict[str, Any] = exchange.answer["usage"]
        before, after = NAMES[exchange.request.endpoint or ""]
        given, made, total = (usage.get(name) for name in (before, after, "total_tokens"))
        if not (isinstance(given, int) and isinstance(made, int) and isinstance(total, int)):
            return  # the shape is wrong, which is for another rule
        if total != given + made:
            yield f"total_tokens is {total}, but {before} and {after} are {given} and {made}"
        if given == 0:
            yield f"{before} is 0, though there was a prompt"
        echoed = exchange.request.asked("echo", False)
        if made == 0 and not echoed and any(output.text or output.reasoning for output in outputs(exchange)):
            yield f"{after} is 0, though the answer has text"
        for whole in (before, after):
            details = usage.get(f"{whole}_details")
            for name, part in details.items() if isinstance(details, dict) else ():
                if type(part) is int and not 0 <= part <= usage[whole]:
                    yield f"{whole}_details.{name} is {part} of {usage[whole]}"
