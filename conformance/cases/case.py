"""Loads the cases from the YAML files below `cases/`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from specvino.conformance.verdict import Advice
from specvino.document import yaml_text
from specvino.document.validator import Validator

FOLDER = files("specvino.conformance") / "cases"

# The name of the file with an endpoint's capabilities.
CAPABILITIES = "capabilities.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case. `rule` is its id, `<endpoint>/<subject>/<name>`; `cases/case.schema.json` describes the other
    fields."""

    rule: str
    endpoint: str
    subject: str
    layer: str
    says: str
    spec: tuple[str, ...]
    issues: tuple[str, ...]
    profile: str
    needs: tuple[str, ...]
    only: str | None = None
    not_in: tuple[str, ...] = ()
    excluded_because: str = ""
    needs_full_support: bool
    alone: bool
    steps: Sequence[Mapping[str, Any]]
    check: str | None
    arguments: Mapping[str, Any]
    advice: Advice | None
    unchanged: bool = False
    """Whether requests are sent as they are, even if the model refuses a field of them."""


class BadCase(Exception):
    """Raised for a YAML file that isn't valid by its schema."""


@cache
def all_cases() -> tuple[Case, ...]:
    """Returns all cases, in the order of endpoints and files. Raises BadCase."""
    validator = Validator(json.loads((FOLDER / "case.schema.json").read_text("utf-8")))
    return tuple(
        case for endpoint in _sorted(FOLDER) if endpoint.is_dir() for case in _of_endpoint(endpoint, validator)
    )


def _of_endpoint(folder: Traversable, validator: Validator) -> Iterator[Case]:
    for file in _sorted(folder):
        if not file.name.endswith(".yaml") or file.name == CAPABILITIES:
            continue
        subject = f"{folder.name}/{file.name.removesuffix('.yaml')}"
        content = yaml_text.load(file.read_text("utf-8"))
        if problems := list(validator.violations(content)):
            raise BadCase(f"{subject}: {problems[0]}")
        for name, case in content["cases"].items():
            spec = case["spec"]
            yield Case(
                rule=f"{subject}/{name}",
                endpoint=folder.name,
                subject=content["subject"],
                layer=content.get("layer", "cases"),
                says=case["says"],
                spec=(spec,) if isinstance(spec, str) else tuple(spec),
                issues=tuple(case.get("issues", ())),
                profile=case.get("profile", "full"),
                needs=tuple(case.get("needs", ())),
                only=case.get("only"),
                not_in=tuple(case.get("not_in", ())),
                excluded_because=case.get("excluded_because", ""),
                needs_full_support=case.get("support") == "full",
                alone=case.get("alone", False),
                steps=case.get("steps", ()),
                check=case.get("check"),
                arguments=case.get("with", {}),
                advice=Advice(**case["advice"]) if "advice" in case else None,
            )


def _sorted(folder: Traversable) -> list[Traversable]:
    return sorted(folder.iterdir(), key=lambda path: path.name)
