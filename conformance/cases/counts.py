"""How many tokens an answer says that it has."""

from collections.abc import Mapping

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.verdict import NotExercised

# What no prompt has none of.
PROMPTS = ("prompt_tokens", "input_tokens")


def counted(exchange: Exchange, name: str) -> int:
    """Returns a count of usage, such as `prompt_tokens`. Raises NotExercised where the answer hasn't it, which is for
    the rules about shapes, and where nothing of the prompt was counted, which is for that about usage."""
    usage = exchange.answer.get("usage")
    count = usage.get(name) if isinstance(usage, Mapping) else None
    if type(count) is not int:
        raise NotExercised(f"the answer has no usage.{name}")
    if count == 0 and name in PROMPTS:
        raise NotExercised(f"usage.{name} is 0, which counts nothing")
    return count
