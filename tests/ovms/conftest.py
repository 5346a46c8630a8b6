import contextlib
from collections.abc import Callable, Iterator

import httpx
import pytest
from support.serving_here import serving_here

Clients = Iterator[Callable[[str], httpx.Client]]


@pytest.fixture(scope="package")
def clients(tiny_text, tiny_vision, tmp_path_factory) -> Clients:
    """A client of each server that the cases name, which starts when it is asked for."""
    yield from _clients(tiny_text, tiny_vision, tmp_path_factory)


@pytest.fixture(scope="package")
def clients_as_ovms(tiny_text, tiny_vision, tmp_path_factory) -> Clients:
    """The same of servers that speak as OVMS."""
    yield from _clients(tiny_text, tiny_vision, tmp_path_factory, "--dialect", "ovms")


def _clients(tiny_text, tiny_vision, tmp_path_factory, *options) -> Clients:
    keys = tmp_path_factory.mktemp("keys") / "keys"
    keys.write_text("secret\n")
    settings = {
        "text": (tiny_text.path,),
        # What is refused here is refused before a model is asked.
        "key": ("--engine", "scripted", "--api-key-file", keys),
        "limit": ("--engine", "scripted", "--max-tokens-limit", 100),
        "vision": (tiny_vision.path, "--allowed-local-media-path", tmp_path_factory.mktemp("allowed")),
    }
    started: dict[str, httpx.Client] = {}
    with contextlib.ExitStack() as stack:

        def client(name: str) -> httpx.Client:
            if name not in started:
                server = stack.enter_context(
                    serving_here(*map(str, settings[name]), "--served-model-name", "m", *options)
                )
                base = server.url.rpartition("/v")[0]
                started[name] = stack.enter_context(httpx.Client(base_url=base, timeout=300))
            return started[name]

        yield client
