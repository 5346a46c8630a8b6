"""Reads the images of a request, one after the other."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from specvino.engine.errors import PromptError
from specvino.engine.protocol import Engine
from specvino.engine.request import Image, Message, ReadImage
from specvino.handlers.media import data_url, files
from specvino.handlers.media.fetch import Fetcher
from specvino.handlers.media.place import MessageDraft
from specvino.handlers.media.refusals import DownloadFailed, InvalidImage, InvalidUrl, MediaRefused
from specvino.handlers.media.settings import (
    FETCH_SECONDS,
    LONGEST_SIDES,
    MAX_DECODED_PIXELS,
    MAX_IMAGES,
    MAX_PIXELS,
    MediaSettings,
)
from specvino.handlers.media.source import ImageSource


class Media:
    """Reads images, which an engine decodes. `fetcher` is that of `settings`, but in tests."""

    def __init__(self, settings: MediaSettings, fetcher: Fetcher | None = None) -> None:
        self._folder = settings.folder
        self._fetcher = fetcher or (Fetcher(settings.domains) if settings.domains else None)

    async def read(self, drafts: Sequence[MessageDraft], engine: Engine) -> tuple[Message, ...]:
        """Returns the messages with their images. Raises ApiError, and EngineUnavailable or EngineRestarted."""
        images = await self.load((placed.source for draft in drafts for placed in draft.images), engine)
        return tuple(draft.with_images(images[placed.source.param] for placed in draft.images) for draft in drafts)

    async def load(self, sources: Iterable[ImageSource], engine: Engine) -> dict[str, Image]:
        """Returns the images by their params. Raises as `read` does."""
        images: dict[str, Image] = {}
        sources = list(sources)
        if len(sources) > MAX_IMAGES:  # before any is fetched or decoded
            raise InvalidImage(f"The request has more than {MAX_IMAGES} images.").at(sources[MAX_IMAGES].param)
        for source in sources:
            with _at(source):
                self._require_allowed(source.url)
        pixels = decoded = 0
        late = asyncio.get_running_loop().time() + FETCH_SECONDS
        for source in sorted(sources, key=lambda source: _is_remote(source.url)):  # what is fetched comes last
            with _at(source):
                image, read = await self._read(source, engine, late, MAX_DECODED_PIXELS - decoded)
                decoded += read
                pixels += image.width * image.height
                if pixels > MAX_PIXELS:
                    raise InvalidImage(f"The images have more than {MAX_PIXELS:,} pixels in all; try the detail low.")
            images[source.param] = image
        return images

    async def _read(self, source: ImageSource, engine: Engine, late: float, most_pixels: int) -> ReadImage:
        side = LONGEST_SIDES.get(source.detail or "high", LONGEST_SIDES["high"])
        try:
            return await engine.read_image(await self._file(source.url, late), side, most_pixels)
        except PromptError as error:
            raise InvalidImage(str(error)) from error

    def _require_allowed(self, url: str) -> None:
        """Raises MediaRefused for a place that nothing is read from."""
        if data_url.is_data_url(url):
            return
        if _is_remote(url):
            if self._fetcher is None:
                raise InvalidUrl("This server doesn't fetch images; send them as data URLs.")
            self._fetcher.require_allowed(url)
        elif self._folder is None:
            raise InvalidUrl("An image's URL must begin with data: or, where this server allows it, with https://.")

    async def _file(self, url: str, late: float) -> bytes | str:
        if data_url.is_data_url(url):
            return data_url.base64_of(url)
        if _is_remote(url):
            assert self._fetcher is not None
            try:
                async with asyncio.timeout_at(late):
                    return await self._fetcher.fetch(url)
            except TimeoutError as error:
                raise DownloadFailed("The image's server took too long.") from error
        assert self._folder is not None
        return await asyncio.to_thread(files.read, url, self._folder)


def fetches(drafts: Iterable[MessageDraft]) -> bool:
    """Returns whether an image of the messages is on another server."""
    return any(_is_remote(placed.source.url) for draft in drafts for placed in draft.images)


def _is_remote(url: str) -> bool:
    return url[:7].lower() == "http://" or url[:8].lower() == "https://"


@contextmanager
def _at(source: ImageSource) -> Iterator[None]:
    """Names the part that holds the image in what is refused of it."""
    try:
        yield
    except MediaRefused as error:
        raise error.at(source.param) from error
