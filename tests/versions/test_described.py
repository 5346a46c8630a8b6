"""The documents of other systems agree with what the systems' classes describe, in the version that they name."""

import pytest

from specvino.document.loading import dialect_file, load, whole
from specvino.upstream import allow_list
from specvino.upstream.drift import drift
from specvino.upstream.report import as_markdown
from specvino.upstream.table import table
from versions import description

SYSTEMS = description.systems()


def test_every_system_with_classes_is_described() -> None:
    assert {*SYSTEMS} == {"openai", "vllm", "sglang", "mlc-llm", "fastdeploy"}


@pytest.mark.parametrize("system", SYSTEMS)
def test_there_is_no_new_difference(system) -> None:
    found = drift(system, load(dialect_file(system)), whole(), description.read(system), allow_list.read(system))
    assert found.is_clean, as_markdown(found)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_described_version_is_that_of_the_document(system) -> None:
    version = table(system).version or load(dialect_file(system))["x-dialect"]["version"]["name"]
    source, _ = description.read(system)
    assert source == f"{table(system).distribution or system} {version}"
    assert description.read(system)[1].parts.keys() == table(system).classes.keys()
