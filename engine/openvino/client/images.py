"""The client of the image processes; sends images to the worker once for all choices of a request, in chunks."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import NamedTuple

from specvino.engine.errors import EngineRestarted, ImageError
from specvino.engine.openvino.client.image_size import pixels_of
from specvino.engine.openvino.messages.images import (
    MAX_PIXELS,
    Decode,
    Decoded,
    ImageRefused,
    StartImageProcess,
    in_pieces,
)
from specvino.engine.openvino.messages.worker import ReleaseImages, SendImage
from specvino.engine.processes.request_reply import ProcessCrashed, RequestReplyClient
from specvino.engine.processes.supervisor import Supervisor
from specvino.engine.request import Conversation, Image, PlacedImage, ReadImage

# What a file costs in addition to its pixels, in pixels.
_ANY_FILE = 50_000

# Images of more pixels are decoded in a process of their own, so that smaller ones don't wait for one of 49 megapixels.
_LARGE = 4_000_000


class ImageClient:
    """Decodes images, small and large ones in a process each, one after the other; those whose clients have left are
    dropped before their turn. Clients take turns, and of a client's images a small one needn't wait for all large ones.
    """

    def __init__(self, deadline: float) -> None:
        self._small, self._large = (
            RequestReplyClient(
                name,
                "specvino.engine.openvino.sandbox.image",
                StartImageProcess(),
                Decoded | ImageRefused,
                deadline,
            )
            for name in ("image", "large_image")
        )

    @property
    def pids(self) -> dict[str, int | None]:
        """Returns the ids of the processes; None for one that wasn't needed yet or is being restarted."""
        return {"image": self._small.process.pid, "large_image": self._large.process.pid}

    async def decode(self, file: bytes | str, longest_side: int, most_pixels: int) -> ReadImage:
        """Returns the image in a file, given as its bytes or their base64. Raises ImageError and EngineUnavailable."""
        base64 = isinstance(file, str)
        data = file.encode(errors="replace") if isinstance(file, str) else file
        cost = cost_of(file)
        process = self._small if cost <= _LARGE else self._large
        try:
            answer = await process.ask(lambda id: Decode(id, data, base64, longest_side, most_pixels), cost=cost)
        except ProcessCrashed:
            raise ImageError("The image can't be decoded.") from None
        if isinstance(answer, ImageRefused):
            raise ImageError(answer.reason)
        return ReadImage(answer.image, answer.pixels)

    async def close(self) -> None:
        await self._small.close()
        await self._large.close()


def cost_of(file: bytes | str) -> float:
    """Returns what it costs to decode an image file, as a number of pixels: with the largest for a header that can't be
    read, and with what any file costs."""
    pixels = pixels_of(file)
    return _ANY_FILE + (MAX_PIXELS if pixels is None else min(pixels, MAX_PIXELS))


class PromptImages(NamedTuple):
    """The images of a prompt; Generate messages refer to them by `key`, which is unique to the prompt."""

    key: int
    images: Sequence[Image]


@asynccontextmanager
async def sent_images(worker: Supervisor, prompt_images: Sequence[PromptImages]) -> AsyncIterator[None]:
    """Sends the images to the worker, which keeps them while the context is active, for Generate messages that are sent
    within it. Raises EngineRestarted if the worker is lost before it has received all of them.
    """
    restarts = worker.restarts
    try:
        for key, images in prompt_images:
            for image in images:
                for piece, more in in_pieces(image):
                    worker.send(SendImage(key, piece, more))
                    await asyncio.sleep(0)  # other messages are sent in between
        if worker.restarts != restarts:
            raise EngineRestarted("The process restarted and dropped the request's images. Retry.")
        yield
    finally:
        for key, _ in prompt_images:
            worker.send(ReleaseImages(key))


def images_in(prompt: Conversation) -> list[Image]:
    """Returns a conversation's images in the order of their tags."""
    return [placed.image for message in prompt.messages for placed in message.images]


def without_pixels(prompt: Conversation) -> Conversation:
    """Returns the conversation for the chat template: with the positions of its images, but no pixels."""
    if not any(message.images for message in prompt.messages):
        return prompt
    messages = tuple(replace(message, images=_outlines(message.images)) for message in prompt.messages)
    return replace(prompt, messages=messages)


def _outlines(images: tuple[PlacedImage, ...]) -> tuple[PlacedImage, ...]:
    return tuple(replace(placed, image=replace(placed.image, rgb=b"")) for placed in images)
