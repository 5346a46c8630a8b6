"""Images on their way to the worker: once for all choices of a request, and a piece at a time."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import NamedTuple

from specvino.engine.errors import EngineRestarted
from specvino.engine.openvino.messages.chunking import cut
from specvino.engine.openvino.messages.worker import ReleaseImages, SendImage
from specvino.engine.processes.supervisor import Supervisor
from specvino.engine.request import Conversation, Image, PlacedImage


class PromptImages(NamedTuple):
    """Holds the images of a prompt; Generates refer to them by `key`, which no other prompt has."""

    key: int
    images: Sequence[Image]


@asynccontextmanager
async def sent_images(worker: Supervisor, prompt_images: Sequence[PromptImages]) -> AsyncIterator[None]:
    """Has the worker hold the images meanwhile, for Generates that are sent without awaiting anything.

    Raises EngineRestarted if it is lost before it has them all.
    """
    restarts = worker.restarts
    try:
        for key, images in prompt_images:
            for image in images:
                for piece, more in cut(image):
                    worker.send(SendImage(key, piece, more))
                    await asyncio.sleep(0)  # others get in between
        if worker.restarts != restarts:
            raise EngineRestarted("The request was lost, and its images with it.")
        yield
    finally:
        for key, _ in prompt_images:
            worker.send(ReleaseImages(key))


def images_in(prompt: Conversation) -> list[Image]:
    """Returns a conversation's images, in the order of their tags' numbers."""
    return [placed.image for message in prompt.messages for placed in message.images]


def without_pixels(prompt: Conversation) -> Conversation:
    """Returns the conversation as the chat template needs it: of its images only the places."""
    if not any(message.images for message in prompt.messages):
        return prompt
    messages = tuple(replace(message, images=_outlines(message.images)) for message in prompt.messages)
    return replace(prompt, messages=messages)


def _outlines(images: tuple[PlacedImage, ...]) -> tuple[PlacedImage, ...]:
    return tuple(replace(placed, image=replace(placed.image, rgb=b"")) for placed in images)
