"""`reasoning.encrypted_content`: thoughts that leave sealed, and come back."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from specvino.generated import models, wire
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.given import given
from specvino.handlers.responses.input import Item
from specvino.handlers.sealing import ForeignSeal, Sealer

INCLUDE = "reasoning.encrypted_content"


async def sealed(
    events: AsyncGenerator[wire.ResponseStreamEvent], sealer: Sealer
) -> AsyncGenerator[wire.ResponseStreamEvent]:
    """The events with the thoughts of each finished reasoning item, beside the thoughts themselves."""
    seals: dict[str, str] = {}

    def with_seal(item: Any) -> Any:
        if item["type"] != "reasoning":
            return item
        if item["id"] not in seals:  # no two seals of a text are equal, but the item is one
            seals[item["id"]] = sealer.seal("\n".join(part["text"] for part in item["content"] or item["summary"]))
        return {**item, "encrypted_content": seals[item["id"]]}

    async with aclosing(events):
        async for event in events:
            if event["type"] == "response.output_item.done":
                event["item"] = with_seal(event["item"])
            elif event["type"] in ("response.completed", "response.incomplete"):
                output = [with_seal(item) for item in event["response"]["output"]]
                event["response"] = {**event["response"], "output": output}
            yield event


def opened(item: Item, param: str, sealer: Sealer) -> Item:
    """An item of the input with its thoughts in clear, where they are given sealed only. Raises ApiError."""
    if not isinstance(item, models.InputReasoning) or not (blob := given(item.encrypted_content)):
        return item
    try:
        text = sealer.open(blob)
    except ForeignSeal:
        param = f"{param}.encrypted_content"
        message = f"{param} was not sealed by this server, or was changed: send the item as it came, or without it."
        raise ApiError(ErrorCode.INVALID_ENCRYPTED_CONTENT, message, param=param) from None
    if given(item.content):
        return item
    return item.model_copy(update={"content": [models.InputReasoningTextContent(type="reasoning_text", text=text)]})
