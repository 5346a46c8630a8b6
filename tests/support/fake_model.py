"""A model of the catalogue that is quick to pull; the fixture `fake` of tests/engine/models makes one."""

from dataclasses import dataclass
from pathlib import Path

from specvino.engine.models.catalogue import PackagedModel


@dataclass
class FakeModel:
    model: PackagedModel
    wheel: Path
    cache: Path
