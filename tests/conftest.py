"""Models for tests: a tiny one trained for them, and the real default model."""

import gc
import json
import os
import shutil
import ssl
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import hypothesis
import pytest

from specvino.engine.models import ModelSource, resolve

# The garbage collector took a third of the CPU time of collecting tests, and an eighth of that of running them: it
# traversed a million objects of modules and tests again and again, which stay to the end.
gc.disable()

TINY_TEXT = Path(__file__).parent / "models" / "tiny_text"
TINY_VISION = TINY_TEXT.with_name("tiny_vision")

TESTS = Path(__file__).parent

# What starts processes, asks models or judges the whole document again and again: marked slow, and not in `make quick`.
SLOW = (
    "agents",
    "browser",
    "cli",
    "codegen/lint",
    "codegen/test_build",
    "codegen/test_new_dialect",
    "conformance/case_checks",
    "conformance/fuzz",
    "conformance/test_",
    "docs",
    "e2e",
    "engine/chat_template/test_kinds",
    "engine/models",
    "engine/openvino",
    "engine/output_parsers",
    "engine/processes",
    "go",
    "models",
    "ovms",
    "portal/test_build",
    "portal/test_support_drives_all",
    "proofs",
    "sdk",
    "templates",
    "test_outputs",
    "upstream/test_packages",
    "whole",
    "workarounds",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves slow files unread where `make quick` runs the others."""
    if not config.getoption("markexpr").startswith("not slow") or not collection_path.is_relative_to(TESTS):
        return None
    return collection_path.relative_to(TESTS).as_posix().startswith(SLOW) or None


LONGEST_ID = 200
"""Characters of a parameter in the name of a test: every worker sends all names to the first process, and reports
repeat them. Bodies of megabytes were 64 MB of names, and 0.8 GB of that process's memory."""


def pytest_make_parametrize_id(val: object) -> str | None:
    return str(val[:LONGEST_ID]) if isinstance(val, str | bytes) and len(val) > LONGEST_ID else None


# pytest-xdist runs the tests of a group in one worker, so that what they share is made once. A group is a file, but for
# tests that share a server or what takes seconds to read (the whole specification, the portal's source, the imports of
# all modules) with other files, and for files that would keep one worker busy when the others have ended.
SERVERS = ("scripted_server", "default_server", "tiny_server")
SHARING = ("codegen", "docs", "engine/openvino/vocabularies", "ovms", "portal", "proofs", "structure")
SPLIT = ("e2e/test_fuzz", "e2e/test_stock_schemathesis")


def _group(item: pytest.Item) -> str:
    path = item.path.relative_to(TESTS).as_posix()
    if path.startswith(SPLIT):
        return item.nodeid
    server = next((name for name in SERVERS if name in getattr(item, "fixturenames", ())), None)
    return server or next((folder for folder in SHARING if path.startswith(folder)), path)


# First, because pytest-xdist (3.8.0) reads the groups in the same hook of its own.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(TESTS).as_posix().startswith(SLOW):
            item.add_marker("slow")
    if hasattr(config, "workerinput"):
        # The slow ones first: what is left for the end should be short.
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)
        for item in items:
            item.add_marker(pytest.mark.xdist_group(_group(item)))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(20_000, 20)  # a large body is no garbage: with 700, a document's bounds take 12.5 s instead of 8.6
    gc.enable()


@cache
def _ssl_context(*arguments: Any, files: tuple[str | None, ...]) -> ssl.SSLContext:
    return httpx.create_ssl_context(*arguments)


def _shared_ssl_context(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
    return _ssl_context(verify, cert, trust_env, files=(os.getenv("SSL_CERT_FILE"), os.getenv("SSL_CERT_DIR")))


# httpx 0.28 reads the machine's certificates for each client, for 50 ms of CPU time: the tests read them once.
vars(httpx._transports.default)["create_ssl_context"] = _shared_ssl_context

# How fast a machine draws or runs examples is not what these tests are about.
hypothesis.settings.register_profile("specvino", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("specvino")


def pytest_configure(config: pytest.Config) -> None:
    if "not exhaustive" in config.getoption("markexpr"):
        hypothesis.settings.register_profile("few", hypothesis.settings.get_profile("specvino"), max_examples=20)
        hypothesis.settings.load_profile("few")


@pytest.fixture(scope="session")
def tiny_text() -> ModelSource:
    """A trained model of 0.8 MB that answers trigger words (tests/models/README.md); loads in 0.2 s."""
    return resolve(str(TINY_TEXT))


@pytest.fixture(scope="session")
def tiny_vision() -> ModelSource:
    """A trained model of 1.1 MB that names the colours of images (tests/models/README.md); loads in 0.2 s."""
    return resolve(str(TINY_VISION))


@pytest.fixture(scope="session")
def greedy_vision(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`tiny_vision` with temperature 0, for programs of others whose requests have none: luck would fail one in 100."""
    folder = tmp_path_factory.mktemp("greedy") / "model"
    shutil.copytree(TINY_VISION, folder)
    config = folder / "generation_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"temperature": 0}))
    return folder


@pytest.fixture(scope="session")
def smollm2() -> ModelSource:
    """The real default model, from the user's cache: downloaded (93 MB) once a machine."""
    return resolve("smollm2")
