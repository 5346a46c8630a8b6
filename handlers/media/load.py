"""Reads the images of a request, one after the other."""

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from specvino.engine.errors import PromptError
from specvino.engine.protocol import Engine
from specvino.engine.request import Image, Message, ReadImage
from specvino.handlers.media import files
from specvino.handlers.media.drafts import ImageSource, MessageDraft
from specvino.handlers.media.fetch import Fetcher
from specvino.handlers.media.rules import (
    FETCH_SECONDS,
    LONGEST_SIDES,
    MAX_BYTES,
    MAX_DECODED_PIXELS,
    MAX_IMAGES,
    MAX_PIXELS,
    DownloadFailed,
    InvalidImage,
    InvalidUrl,
    MediaRefused,
    MediaSettings,
)

# data:image/png;base64,... The type isn't read, since it may be wrong; OpenVINO Model Server accepts URLs without it.
_DATA_URL = re.compile(r"(data:[^,]{0,256};)?base64,", re.IGNORECASE)


class Media:
    """Reads images, which an engine decodes. Only tests pass a `fetcher`."""

    def __init__(self, settings: MediaSettings, fetcher: Fetcher | None = None) -> None:
        self._folder = settings.folder
        self._fetcher = fetcher or (Fetcher(settings.domains) if settings.domains else None)

    async def read(self, drafts: Sequence[MessageDraft], engine: Engine) -> tuple[Message, ...]:
        """Returns the messages with their images. Raises ApiError, and EngineUnavailable or EngineRestarted."""
        images = await self.load((placed.source for draft in drafts for placed in draft.images), engine)
        return tuple(draft.with_images(images[placed.source.param] for placed in draft.images) for draft in drafts)

    async def load(self, sources: Iterable[ImageSource], engine: Engine) -> dict[str, Image]:
        """Returns the images by their params. Raises the same errors as `read`."""
        images: dict[str, Image] = {}
        sources = list(sources)
        if len(sources) > MAX_IMAGES:  # before any image is fetched or decoded
            raise InvalidImage(f"The request has more than {MAX_IMAGES} images.").at(sources[MAX_IMAGES].param)
        for source in sources:
            with _at(source):
                self._require_allowed(source.url)
        pixels = decoded = 0
        deadline = asyncio.get_running_loop().time() + FETCH_SECONDS
        for source in sorted(sources, key=lambda source: _is_remote(source.url)):  # remote images last
            with _at(source):
                image, read = await self._read(source, engine, deadline, MAX_DECODED_PIXELS - decoded)
                decoded += read
                pixels += image.width * image.height
                if pixels > MAX_PIXELS:
                    raise InvalidImage(
                        f"The request's images have more than {MAX_PIXELS:,} pixels in total; try detail: low."
                    )
            images[source.param] = image
        return images

    async def _read(self, source: ImageSource, engine: Engine, deadline: float, most_pixels: int) -> ReadImage:
        side = LONGEST_SIDES.get(source.detail or "high", LONGEST_SIDES["high"])
        try:
            return await engine.read_image(await self._file(source.url, deadline), side, most_pixels)
        except PromptError as error:
            raise InvalidImage(str(error)) from error

    def _require_allowed(self, url: str) -> None:
        """Raises MediaRefused for a URL that this server doesn't read images from."""
        if is_data_url(url):
            return
        if _is_remote(url):
            if self._fetcher is None:
                raise InvalidUrl("This server doesn't fetch images; send them as data URLs.")
            self._fetcher.require_allowed(url)
        elif self._folder is None:
            raise InvalidUrl("An image's URL must begin with data: or, where this server allows it, with https://.")

    async def _file(self, url: str, deadline: float) -> bytes | str:
        if is_data_url(url):
            return base64_of(url)
        if _is_remote(url):
            assert self._fetcher is not None
            try:
                async with asyncio.timeout_at(deadline):
                    return await self._fetcher.fetch(url)
            except TimeoutError as error:
                raise DownloadFailed("The image's server took too long.") from error
        assert self._folder is not None
        return await asyncio.to_thread(files.read, url, self._folder)


def fetches(drafts: Iterable[MessageDraft]) -> bool:
    """Returns whether an image of the messages is on another server."""
    return any(_is_remote(placed.source.url) for draft in drafts for placed in draft.images)


def is_data_url(url: str) -> bool:
    """Returns whether the URL contains the image itself."""
    return url[:5].lower() == "data:" or _DATA_URL.match(url) is not None


def base64_of(url: str) -> str:
    """Returns the data of a data URL, which may still be invalid base64. Raises InvalidImage."""
    head = _DATA_URL.match(url)
    if head is None:
        raise InvalidImage("The data URL is not in base64; it must begin with data:image/png;base64, or the like.")
    text = url[head.end() :]
    if len(text) // 4 * 3 > MAX_BYTES:
        raise InvalidImage(f"The image is larger than {MAX_BYTES:,} bytes.")
    return text


def _is_remote(url: str) -> bool:
    return url[:7].lower() == "http://" or url[:8].lower() == "https://"


@contextmanager
def _at(source: ImageSource) -> Iterator[None]:
    """Converts a MediaRefused to an ApiError that names the image's part."""
    try:
        yield
    except MediaRefused as error:
        raise error.at(source.param) from error
