"""Runs each proof for its fields, unary and streamed, with the field and without; and the servers to ask."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from support.serving_here import serving_here

from proofs.asking import PATHS, Ask
from proofs.dropping import BrokenProof, Dropping
from proofs.telling import write
from specvino.engine.models import ModelSource

WAYS = ("unary", "streamed")


class Run(NamedTuple):
    """One run of a proof."""

    field: str
    way: str
    drop: bool
    on: str

    def __str__(self) -> str:
        return f"{self.field}-{self.way}-{'dropped' if self.drop else 'kept'}"


def runs(field: str, on: str = "tiny", ways: tuple[str, ...] | None = None) -> Iterator[Any]:
    """All runs of a proof. Without its field it judges the proof, not the server: the second way is `exhaustive`."""
    first, *others = ways or (WAYS if field.split(".")[0] in PATHS else WAYS[:1])
    yield Run(field, first, False, on)
    yield Run(field, first, True, on)
    for way in others:
        yield Run(field, way, False, on)
        yield pytest.param(Run(field, way, True, on), marks=pytest.mark.exhaustive)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marks = metafunc.definition.iter_markers("proves")
    listed = [run for mark in marks for field in mark.args for run in runs(field, **mark.kwargs)]
    if listed:
        metafunc.parametrize("run", listed, ids=str)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """A proof without its field must fail, and by its assertion: any other exception is a failure as ever."""
    run, transport = (pyfuncitem.funcargs.get(name) for name in ("run", "transport"))
    if not isinstance(run, Run) or not run.drop:
        return (yield)
    try:
        yield
    except AssertionError:
        if not isinstance(transport, Dropping) or not transport.dropped:
            raise BrokenProof(f"no request has the field {run.field}") from None
        return True
    raise BrokenProof(f"the proof holds without {run.field}")


@pytest.fixture
def transport(run: Run) -> Dropping:
    return Dropping(run.field if run.drop else None)


@pytest.fixture
def http(run: Run, transport: Dropping, request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    """A client of the proof's server, which loses the field if it is to be dropped."""
    with httpx.Client(transport=transport, base_url=request.getfixturevalue(run.on), timeout=300) as client:
        yield client


@pytest.fixture
def ask(run: Run, http: httpx.Client) -> Ask:
    return Ask(http, run.field, streamed=run.way == "streamed")


@contextmanager
def model(path: Path, *options: str) -> Iterator[str]:
    with serving_here(str(path), "--served-model-name", "m", *options) as server:
        yield server.url


@pytest.fixture(scope="package")
def tiny(tiny_text: ModelSource) -> Iterator[str]:
    """The tiny model; tests/models/README.md says what it answers."""
    with model(tiny_text.path) as url:
        yield url


@pytest.fixture(scope="package")
def vision(tiny_vision: ModelSource) -> Iterator[str]:
    """The tiny model that names the colours of images."""
    with model(tiny_vision.path) as url:
        yield url


@pytest.fixture(scope="package")
def lookup(tiny_text: ModelSource) -> Iterator[str]:
    """The tiny model, which looks up in the prompt how a text may go on."""
    with model(tiny_text.path, "--prompt-lookup") as url:
        yield url


@pytest.fixture(scope="package")
def drafting(tiny_text: ModelSource) -> Iterator[str]:
    """The tiny model, drafting for itself."""
    with model(tiny_text.path, "--draft-model", str(tiny_text.path)) as url:
        yield url


@pytest.fixture(scope="package")
def trusting(tiny_text: ModelSource) -> Iterator[str]:
    """The tiny model, on a server that takes the chat templates of requests."""
    with model(tiny_text.path, "--trust-request-chat-template") as url:
        yield url


@pytest.fixture(scope="package")
def telling(tiny_text: ModelSource, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The tiny model with the tokenizer and the chat template of `telling.py`."""
    folder = tmp_path_factory.mktemp("telling")
    write(tiny_text.path, folder)
    with model(folder) as url:
        yield url
