import pytest

from specvino.handlers.media.load import base64_of, is_data_url
from specvino.handlers.media.rules import MAX_BYTES, InvalidImage


@pytest.mark.parametrize(
    "head", ["data:image/png;base64,", "DATA:;BASE64,", "data:;base64,", "data:image/png;name=x;base64,", "base64,"]
)
def test_heads(head: str) -> None:
    assert is_data_url(head + "QUJD")
    assert base64_of(head + "QUJD") == "QUJD"


@pytest.mark.parametrize("url", ["data:image/png,abc", "data:", "data:image/svg+xml,<svg/>"])
def test_only_base64(url: str) -> None:
    assert is_data_url(url)
    with pytest.raises(InvalidImage, match="base64"):
        base64_of(url)


@pytest.mark.parametrize(
    "url", ["http://x/base64,QUJD", "/a/base64,QUJD", "x;base64,QUJD", "", "file:data:;base64,QUJD"]
)
def test_other_urls(url: str) -> None:
    assert not is_data_url(url)


def test_the_bound_on_bytes() -> None:
    assert base64_of("base64," + "A" * (MAX_BYTES // 3 * 4))
    with pytest.raises(InvalidImage, match="bytes"):
        base64_of("base64," + "A" * (MAX_BYTES // 3 * 4 + 8))
