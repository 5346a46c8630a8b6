from pathlib import Path

import pytest


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Of a database that isn't there yet."""
    return f"sqlite:///{tmp_path / 'folder' / 'responses.db'}"
