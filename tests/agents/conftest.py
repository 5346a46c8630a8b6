import pytest
from support.serving import serving


@pytest.fixture(scope="session")
def scripted_server():
    """The API without a model: it says what it is told to say, and so calls what it is told to call."""
    with serving("--engine", "scripted", "--served-model-name", "m") as server:
        yield server


@pytest.fixture(scope="session")
def tiny_server(tiny_text):
    """The API on the tiny trained model, which calls get_weather when it is asked for the weather."""
    with serving(str(tiny_text.path), "--served-model-name", "tiny") as server:
        yield server
