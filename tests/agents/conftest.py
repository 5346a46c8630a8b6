import pytest
from support.serving import serving


@pytest.fixture(scope="session")
def scripted_server():
    """The API without a model: it says what it is told to say, and so calls what it is told to call."""
    names = ("m", "gpt-5.5", "gpt-6.2-sol")  # Codex 0.171 has other tools for the models that it knows
    options = [option for name in names for option in ("--served-model-name", name)]
    with serving("--engine", "scripted", *options) as server:
        yield server


@pytest.fixture(scope="session")
def tiny_server(tiny_text):
    """The API on the tiny trained model, which calls get_weather when it is asked for the weather."""
    with serving(str(tiny_text.path), "--served-model-name", "tiny") as server:
        yield server
