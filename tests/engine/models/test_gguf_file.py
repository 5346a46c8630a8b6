import re
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from gguf import GGUFReader, GGUFWriter

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.gguf_file import ARCHITECTURES, open_gguf


def write_gguf(path: Path, architecture: str = "llama", context_length: int | None = 2048) -> Path:
    """A GGUF file with a vocabulary and one tensor, which no engine could run."""
    writer = GGUFWriter(path, architecture)
    if context_length is not None:
        writer.add_context_length(context_length)
    writer.add_token_list(["a", "b" * 300, ""])
    writer.add_token_types([1, 1, 3])
    writer.add_chat_template("{{ messages }}")
    writer.add_tensor("output.weight", np.ones((4, 32), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_context_length_from_the_metadata(tmp_path: Path, architecture: str) -> None:
    path = write_gguf(tmp_path / "m.gguf", architecture, context_length=1234)
    source = open_gguf(path)
    assert (source.path, source.context_length, source.defaults, source.gguf) == (path, 1234, {}, True)


def test_the_vocabulary_is_not_read(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf")
    with patch.object(GGUFReader, "_get_field_parts", autospec=True, side_effect=GGUFReader._get_field_parts) as read:
        open_gguf(path)
    assert read.call_count == 3  # architecture, context length, chat template: not the two arrays


def test_another_architecture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ModelLoadError, match=r"can't load the architecture 'gemma' from GGUF, only llama, qwen2, qwen3$"
    ):
        open_gguf(write_gguf(tmp_path / "m.gguf", "gemma"))


@pytest.mark.parametrize("context_length", [None, 0])
def test_a_file_without_context_length_is_refused(tmp_path: Path, context_length: int | None) -> None:
    with pytest.raises(ModelLoadError, match=r"its metadata hold no llama\.context_length$"):
        open_gguf(write_gguf(tmp_path / "m.gguf", context_length=context_length))


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = write_gguf(tmp_path / "m.gguf").read_bytes()
    cut = tmp_path / "cut.gguf"
    for size in range(0, len(whole), 7):
        cut.write_bytes(whole[:size])
        with pytest.raises(ModelLoadError, match=r"cut\.gguf: .* download or copy it again$"):
            open_gguf(cut)


def test_a_truncated_file_is_told_what_its_tensors_need(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf")
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    tensors = f"has {len(whole) - 100:,} bytes, but its tensors need {len(whole):,}: it is truncated; download or copy"
    with pytest.raises(ModelLoadError, match=re.escape(tensors)):
        open_gguf(path)
    path.write_bytes(whole[:100])
    with pytest.raises(ModelLoadError, match=r"truncated or corrupt \(100 bytes\); download or copy it again$"):
        open_gguf(path)


def test_a_corrupt_length_is_refused(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf")
    data = path.read_bytes()
    length_of_a_token = data.index(b"b" * 300) - 8
    path.write_bytes(data[:length_of_a_token] + b"\xff" * 8 + data[length_of_a_token + 8 :])
    with pytest.raises(ModelLoadError, match="truncated or corrupt"):
        open_gguf(path)


def test_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"PK\3\4" * 1000)
    with pytest.raises(ModelLoadError, match="is not a GGUF file"):
        open_gguf(tmp_path / "m.gguf")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModelLoadError, match=r"m\.gguf: there is no such file$"):
        open_gguf(tmp_path / "m.gguf")


def test_a_folder_of_that_name(tmp_path: Path) -> None:
    with pytest.raises(ModelLoadError, match=r"can't be read: Is a directory$"):
        open_gguf(tmp_path)
