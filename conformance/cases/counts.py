"""How many tokens an answer says that it has."""

from collections.abc import Mapping

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.verdict import NotExercised


def counted(exchange: Exchange, name: str) -> int:
    """Returns a count of usage, such as `prompt_tokens`. Raises NotExercised where the answer hasn't it: whether it has
    to is for the rules about shapes."""
    usage = exchange.answer.get("usage")
    count = usage.get(name) if isinstance(usage, Mapping) else None
    if type(count) is not int:
        raise NotExercised(f"the answer has no usage.{name}")
    return count
