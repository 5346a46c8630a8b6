"""Models for tests: a tiny one trained for them, and the real default model."""

from pathlib import Path

import hypothesis
import pytest

from specvino.engine.models import ModelSource, resolve

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
    "decisions",
    "docs",
    "e2e",
    "engine/chat_template/test_kinds",
    "engine/models",
    "engine/openvino",
    "engine/output_parsers",
    "engine/processes",
    "models",
    "ovms",
    "portal/test_build",
    "portal/test_support_drives_all",
    "proofs",
    "sdk",
    "templates",
    "upstream/test_packages",
    "whole",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves slow files unread where `make quick` runs the others."""
    if config.getoption("markexpr") != "not slow" or not collection_path.is_relative_to(TESTS):
        return None
    return collection_path.relative_to(TESTS).as_posix().startswith(SLOW) or None


# Single tests that take minutes come first: at the end the other workers would have nothing to do meanwhile.
LONGEST = "e2e/test_fuzz"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.path.relative_to(TESTS).as_posix().startswith(LONGEST))
    for item in items:
        if item.path.relative_to(TESTS).as_posix().startswith(SLOW):
            item.add_marker("slow")


# How fast a machine draws or runs examples is not what these tests are about.
hypothesis.settings.register_profile("specvino", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("specvino")


@pytest.fixture(scope="session")
def tiny_text() -> ModelSource:
    """A trained model of 0.8 MB that answers trigger words (tests/models/README.md); loads in 0.2 s."""
    return resolve(str(TINY_TEXT))


@pytest.fixture(scope="session")
def tiny_vision() -> ModelSource:
    """A trained model of 1.1 MB that names the colours of images (tests/models/README.md); loads in 0.2 s."""
    return resolve(str(TINY_VISION))


@pytest.fixture(scope="session")
def smollm2() -> ModelSource:
    """The real default model, from the user's cache: downloaded (93 MB) once a machine."""
    return resolve("smollm2")
