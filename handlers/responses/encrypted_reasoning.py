"""`reasoning.encrypted_content`: reasoning is encrypted in outputs, and decrypted when an input contains it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from specvino.generated import models, wire
from specvino.handlers.encryption import Cipher
from specvino.handlers.fields import or_none
from specvino.handlers.responses.request import InputItem

INCLUDE = "reasoning.encrypted_content"


async def encrypted(
    events: AsyncGenerator[wire.ResponseStreamEvent], cipher: Cipher
) -> AsyncGenerator[wire.ResponseStreamEvent]:
    """Yields the events with encrypted reasoning in each finished reasoning item, in addition to the plain text."""
    texts: dict[str, str] = {}

    def with_encrypted(item: Any) -> Any:
        if item["type"] != "reasoning":
            return item
        if item["id"] not in texts:  # encrypting the text again would give another result for the same item
            texts[item["id"]] = cipher.encrypt("\n".join(part["text"] for part in item["content"] or item["summary"]))
        return {**item, "encrypted_content": texts[item["id"]]}

    async with aclosing(events):
        async for event in events:
            if event["type"] == "response.output_item.done":
                event["item"] = with_encrypted(event["item"])
            elif event["type"] in ("response.completed", "response.incomplete"):
                output = [with_encrypted(item) for item in event["response"]["output"]]
                event["response"] = {**event["response"], "output": output}
            yield event


def decrypted(item: InputItem, param: str, cipher: Cipher) -> InputItem:
    """Returns an item, with its reasoning decrypted if it has only encrypted reasoning. Raises ApiError, which names
    the field `param`."""
    if not isinstance(item, models.InputReasoning) or not (blob := or_none(item.encrypted_content)):
        return item
    text = cipher.require(blob, param)
    if or_none(item.content):
        return item
    return item.model_copy(update={"content": [models.InputReasoningTextContent(type="reasoning_text", text=text)]})
