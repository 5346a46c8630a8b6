"""Reads the images of a request, one after the other."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace

from specvino.engine.errors import PromptError
from specvino.engine.protocol import Engine
from specvino.engine.request import Image, Message, PlacedImage
from specvino.handlers.media import data_url, files
from specvino.handlers.media.fetch import Fetcher
from specvino.handlers.media.place import MessageDraft
from specvino.handlers.media.refusals import DownloadFailed, InvalidImage, InvalidUrl, Refused
from specvino.handlers.media.settings import FETCH_SECONDS, LONGEST_SIDES, MAX_IMAGES, MAX_PIXELS, MediaSettings
from specvino.handlers.media.source import ImageSource


class Media:
    """Reads images with an engine. `fetcher` is that of `settings`, but in tests."""

    def __init__(self, engine: Engine, settings: MediaSettings, fetcher: Fetcher | None = None) -> None:
        self._engine = engine
        self._folder = settings.folder
        self._fetcher = fetcher or (Fetcher(settings.domains) if settings.domains else None)

    async def read(self, drafts: Sequence[MessageDraft]) -> tuple[Message, ...]:
        """Returns the messages with their images. Raises ApiError, and EngineUnavailable or EngineRestarted."""
        images = await self.load(placed.source for draft in drafts for placed in draft.images)
        return tuple(
            replace(
                draft.message,
                images=tuple(PlacedImage(placed.at, images[placed.source.param]) for placed in draft.images),
            )
            for draft in drafts
        )

    async def load(self, sources: Iterable[ImageSource]) -> dict[str, Image]:
        """Returns the images by their params. Raises as `read` does."""
        images: dict[str, Image] = {}
        sources = list(sources)
        if len(sources) > MAX_IMAGES:  # before any is fetched or decoded
            raise InvalidImage(f"The request has more than {MAX_IMAGES} images.").at(sources[MAX_IMAGES].param)
        pixels = 0
        late = asyncio.get_running_loop().time() + FETCH_SECONDS
        for source in sources:
            try:
                image = await self._read(source, late)
                pixels += image.width * image.height
                if pixels > MAX_PIXELS:
                    raise InvalidImage(f"The images have more than {MAX_PIXELS:,} pixels in all; try the detail low.")
            except Refused as error:
                raise error.at(source.param) from error
            images[source.param] = image
        return images

    async def _read(self, source: ImageSource, late: float) -> Image:
        side = LONGEST_SIDES.get(source.detail or "high", LONGEST_SIDES["high"])
        try:
            return await self._engine.read_image(await self._file(source.url, late), side)
        except PromptError as error:
            raise InvalidImage(str(error)) from error

    async def _file(self, url: str, late: float) -> bytes | str:
        if data_url.is_data_url(url):
            return data_url.base64_of(url)
        if url[:7].lower() == "http://" or url[:8].lower() == "https://":
            if self._fetcher is None:
                raise InvalidUrl("This server doesn't fetch images; send them as data URLs.")
            try:
                async with asyncio.timeout_at(late):
                    return await self._fetcher.fetch(url)
            except TimeoutError as error:
                raise DownloadFailed("The image's server took too long.") from error
        if self._folder is None:
            raise InvalidUrl("An image's URL must begin with data: or, where this server allows it, with https://.")
        return await asyncio.to_thread(files.read, url, self._folder)
