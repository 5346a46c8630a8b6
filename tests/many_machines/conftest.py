"""Replicas on a Ray cluster of this machine, and a PostgreSQL server for what they store."""

from collections.abc import Iterator

import pytest
from support.postgresql import postgresql
from support.replicas import deployed
from support.serving import Server


@pytest.fixture(scope="session")
def two() -> Iterator[Server]:
    """Two replicas with the scripted engine, without a store."""
    options = ("--engine", "scripted", "--served-model-name", "m", "--response-store", "none")
    with deployed(*options, "--replicas", "2", "--max-num-seqs", "16") as server:
        yield server


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with postgresql(tmp_path_factory.mktemp("postgresql")) as url:
        yield url
