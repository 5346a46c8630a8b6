"""Images on their way to the worker: once for all choices of a request, and a piece at a time."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from specvino.engine.errors import EngineRestarted
from specvino.engine.openvino.messages.chunking import cut
from specvino.engine.openvino.messages.worker import Hide, Show
from specvino.engine.processes.supervisor import Supervisor
from specvino.engine.request import Image


class Pictures(NamedTuple):
    """The images of a prompt; Generates refer to them by `key`, which no other prompt has."""

    key: int
    images: Sequence[Image]


@asynccontextmanager
async def shown(worker: Supervisor, pictures: Sequence[Pictures]) -> AsyncIterator[None]:
    """The worker holds the images meanwhile, for Generates that are sent without awaiting anything.

    Raises EngineRestarted if it is lost before it has them all.
    """
    restarts = worker.restarts
    try:
        for key, images in pictures:
            for image in images:
                for piece, more in cut(image):
                    worker.send(Show(key, piece, more))
                    await asyncio.sleep(0)  # others get in between
        if worker.restarts != restarts:
            raise EngineRestarted("The request was lost, and its images with it.")
        yield
    finally:
        for key, _ in pictures:
            worker.send(Hide(key))
