"""What the bill of materials has beside packages, and that each component has a licence."""

from typing import Any

import pytest

from audit import components
from audit.components import completed
from specvino.portal import reference

PACKAGE: dict[str, Any] = {"name": "a", "version": "1", "licenses": [{"license": {"id": "MIT"}}]}


def test_the_model_and_scalar_are_components() -> None:
    bom = completed({"bomFormat": "CycloneDX", "components": [PACKAGE]})
    first, model, scalar = bom["components"]
    assert (bom["bomFormat"], first) == ("CycloneDX", PACKAGE)
    assert (model["type"], model["name"]) == ("machine-learning-model", "smollm2")
    assert scalar["purl"] == f"pkg:npm/%40scalar/api-reference@{scalar['version']}"
    for one in (model, scalar):
        assert one["licenses"][0]["license"]["id"]
        assert len(one["hashes"][0]["content"]) == 64


@pytest.mark.parametrize("licenses", [{}, {"licenses": []}])
def test_a_component_without_a_licence_is_an_error(licenses: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="components without a licence: b"):
        completed({"components": [PACKAGE, {"name": "b"} | licenses]})


def test_another_scalar_than_the_notice_names_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "script", lambda: b"other")
    with pytest.raises(ValueError, match=r"scalar.js isn't the file"):
        components.scalar()
