"""The images of a request: their order, their limits, and the error for the first refused one."""

import asyncio
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from support.images import file
from support.web import web, whole

from specvino.document import loading
from specvino.document.operations import operations
from specvino.engine.errors import EngineUnavailable, ImageError, PromptError
from specvino.engine.openvino.messages import images as image_messages
from specvino.engine.request import MAX_IMAGE_RATIO, Image, Message, PlacedImage, ReadImage
from specvino.handlers.errors import ApiError
from specvino.handlers.media import ImageSource, Media, MediaError, MediaSettings, MessageDraft, PlacedSource, load
from specvino.handlers.media.fetch import Fetcher
from specvino.handlers.media.rules import MAX_BYTES, MAX_DECODED_PIXELS, MAX_IMAGES, MAX_PIXELS

if TYPE_CHECKING:
    from specvino.engine.protocol import Engine


@dataclass
class Reader:
    """Stands in for an engine that sees; it takes any file for a picture of `side` pixels squared."""

    side: int = 1
    decoded: int = 1
    error: Exception | None = None
    read: list[tuple[bytes | str, int]] = field(default_factory=list)

    async def read_image(self, file: bytes | str, longest_side: int, most_pixels: int) -> ReadImage:
        self.read.append((file, longest_side))
        if self.error:
            raise self.error
        if self.decoded > most_pixels:
            raise ImageError(f"{most_pixels} left")
        return ReadImage(Image(self.side, self.side, b""), self.decoded)


def loaded(reader: Reader, *urls: str, settings: MediaSettings | None = None, detail: str | None = None) -> Any:
    media = Media(settings or MediaSettings())
    sources = [ImageSource(f"part.{index}", url, detail) for index, url in enumerate(urls)]
    return asyncio.run(media.load(sources, cast("Engine", reader)))


def refusal(reader: Reader, *urls: str, **options: Any) -> tuple[str, str | None, str]:
    with pytest.raises(ApiError) as error:
        loaded(reader, *urls, **options)
    return error.value.code.value, error.value.param, error.value.message


def test_images_by_their_params() -> None:
    reader = Reader()
    images = loaded(reader, "data:;base64,QQ==", "data:;base64,Qg==")
    assert list(images) == ["part.0", "part.1"]
    assert reader.read == [("QQ==", 2048), ("Qg==", 2048)]


@pytest.mark.parametrize(
    ("detail", "side"), [(None, 2048), ("auto", 2048), ("high", 2048), ("original", 2048), ("low", 512)]
)
def test_detail(detail: str | None, side: int) -> None:
    reader = Reader()
    loaded(reader, "data:;base64,QQ==", detail=detail)
    assert reader.read == [("QQ==", side)]


def test_they_come_back_to_their_places() -> None:
    first, second = (PlacedSource(at, ImageSource(f"part.{at}", "data:;base64,QQ==", None)) for at in (0, 5))
    drafts = [MessageDraft(Message("system", "s")), MessageDraft(Message("user", "\nseen\n"), (first, second))]
    media = Media(MediaSettings())
    image = Image(2, 2, b"")
    assert asyncio.run(media.read(drafts, cast("Engine", Reader(side=2)))) == (
        Message("system", "s"),
        Message("user", "\nseen\n", images=(PlacedImage(0, image), PlacedImage(5, image))),
    )


def test_the_bound_on_their_number() -> None:
    assert len(loaded(Reader(), *["data:;base64,QQ=="] * MAX_IMAGES)) == MAX_IMAGES
    reader = Reader()
    code, param, _ = refusal(reader, *["data:;base64,QQ=="] * (MAX_IMAGES + 1))
    assert (code, param) == ("invalid_image", f"part.{MAX_IMAGES}")
    assert not reader.read


def test_the_document_names_the_limits() -> None:
    sentences = {
        refusal["when"]
        for operation in operations(loading.whole())
        for refusal in operation.definition.get("x-refusals", ())
        if refusal["code"] == "invalid_image"
    }
    limits = [MAX_BYTES, image_messages.MAX_PIXELS, MAX_IMAGE_RATIO, MAX_IMAGES, MAX_DECODED_PIXELS, MAX_PIXELS]
    for sentence in sentences:
        assert [int(number.replace(",", "")) for number in re.findall(r"\b\d[\d,]*\b", sentence)] == limits


def test_the_bound_on_the_pixels_that_are_decoded() -> None:
    reader = Reader(decoded=MAX_DECODED_PIXELS // 2 - 1)
    code, param, message = refusal(reader, *["data:;base64,QQ=="] * 64, detail="low")
    assert (code, param, message) == ("invalid_image", "part.2", "2 left")
    assert len(reader.read) == 3


def test_the_bound_on_their_pixels() -> None:
    assert loaded(Reader(side=2048), *["data:;base64,QQ=="] * 8)
    code, param, message = refusal(Reader(side=2048), *["data:;base64,QQ=="] * 9)
    assert (code, param) == ("invalid_image", "part.8")
    assert "pixels" in message


@pytest.mark.parametrize("error", [ImageError("It is damaged."), PromptError("It is damaged.")])
def test_what_the_engine_refuses(error: Exception) -> None:
    expected = ("invalid_image", "part.0", "It is damaged.")
    assert refusal(Reader(error=error), "data:;base64,QQ==") == expected


def test_an_engine_that_is_away() -> None:
    with pytest.raises(EngineUnavailable):
        loaded(Reader(error=EngineUnavailable("away", 1)), "data:;base64,QQ==")


@pytest.mark.parametrize(
    "url", ["http://images.test/a.png", "https://images.test/", "/a.png", "file:///a.png", "x", " "]
)
def test_without_leave_only_data_urls_are_read(url: str) -> None:
    code, param, _ = refusal(Reader(), "data:;base64,QQ==", url)
    assert (code, param) == ("invalid_image_url", "part.1")


def test_local_files(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"a")
    settings = MediaSettings(folder=tmp_path)
    reader = Reader()
    assert loaded(reader, f"file://{tmp_path}/a.png", settings=settings)
    assert reader.read == [(b"a", 2048)]
    assert refusal(reader, "../a.png", settings=settings)[:2] == ("invalid_image_url", "part.0")
    assert refusal(reader, "missing.png", settings=settings)[:2] == ("invalid_image", "part.0")


def test_an_address_that_is_not_public() -> None:
    settings = MediaSettings(domains=("localhost",))
    code, param, message = refusal(Reader(), "http://localhost:1/a.png", settings=settings)
    assert (code, param) == ("invalid_image_url", "part.0")
    assert "not public" in message


def fetching(answer: bytes, **options: Any) -> tuple[Reader, dict[str, Image]]:
    async def run() -> tuple[Reader, dict[str, Image]]:
        async with web(answer, **options) as server:
            reader = Reader()
            media = Media(MediaSettings(), Fetcher(("all",), allows=lambda _: True))
            sources = [ImageSource("part", f"http://127.0.0.1:{server.port}/a.png", None)]
            return reader, await media.load(sources, cast("Engine", reader))

    return asyncio.run(run())


def test_fetching() -> None:
    reader, images = fetching(whole(file("red")))
    assert list(images) == ["part"]
    assert reader.read == [(file("red"), 2048)]


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"])
def test_a_slow_server_is_not_waited_for(start: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "FETCH_SECONDS", 0.05)
    with pytest.raises(ApiError, match="too long") as error:
        fetching(start, silent=True)
    assert error.value.code.value == "failed_to_download_image"


def test_settings_from_a_command_line() -> None:
    parsed = MediaSettings.parse(["a.test, B.test", "1.2.3.4"], None)
    assert parsed.domains == ("a.test", "B.test", "1.2.3.4")
    for wrong in ("http://a.test", "a.test/", "a b", "", "a.test:80", "a@b", "*.test", "a.test,"):
        with pytest.raises(MediaError):
            MediaSettings.parse([wrong], None)
