import pytest
from support.serving import serving


@pytest.fixture(scope="package")
def scripted_server():
    """The API without a model."""
    with serving("--engine", "scripted", "--max-model-len", "4096", "--served-model-name", "m") as server:
        yield server


@pytest.fixture(scope="package")
def default_server(smollm2):
    """The API on the real default model."""
    with serving("--served-model-name", "smollm2") as server:
        yield server


@pytest.fixture(scope="package")
def tiny_server(tiny_text):
    """The API on the tiny trained model."""
    with serving(str(tiny_text.path), "--served-model-name", "tiny") as server:
        yield server
