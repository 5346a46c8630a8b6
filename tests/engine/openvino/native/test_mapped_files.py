"""Weights that are taken out of memory."""

import mmap
import sys
from pathlib import Path

import psutil
import pytest

from specvino.engine.openvino.native import mapped_files

SIZE = 2**20


def in_memory(file: Path) -> int:
    """Returns how many bytes of a file are in this process's memory."""
    maps = psutil.Process().memory_maps(grouped=False)
    return sum(mapped.rss for mapped in maps if mapped.path == str(file.resolve()))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is mapped")
@pytest.mark.parametrize("linked", [False, True], ids=["file", "link"])
def test_only_weights_of_the_folder_are_taken_out(tmp_path: Path, *, linked: bool) -> None:
    """In the cache of the Hugging Face hub the files are links to others, whose names are digests."""
    model = tmp_path / "model"
    model.mkdir()
    weights, other = model / "openvino_model.bin", tmp_path / "other.bin"
    content = bytes(range(256)) * (SIZE // 256)
    other.write_bytes(content)
    if linked:
        (tmp_path / "d1gest").write_bytes(content)
        weights.symlink_to(tmp_path / "d1gest")
    else:
        weights.write_bytes(content)
    with (
        weights.open("rb") as first,
        other.open("rb") as second,
        mmap.mmap(first.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
        mmap.mmap(second.fileno(), 0, access=mmap.ACCESS_READ) as mapped_other,
    ):
        assert mapped[:] == mapped_other[:] == content
        assert in_memory(weights) == in_memory(other) == SIZE
        mapped_files.release(str(model))
        assert (in_memory(weights), in_memory(other)) == (0, SIZE)
        assert mapped[:] == content
