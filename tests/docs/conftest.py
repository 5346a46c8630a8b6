"""The server that all pages speak to."""

from collections.abc import Iterator

import pytest
from support.serving import Server, serving

from specvino.engine.models import ModelSource


@pytest.fixture(scope="package")
def server(smollm2: ModelSource) -> Iterator[Server]:
    with serving(str(smollm2.path), "--served-model-name", "smollm2") as server:
        yield server
