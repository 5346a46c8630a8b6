"""The JSON-Schema-Test-Suite, draft 2020-12, from the source package of jsonschema, which has it in it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from json_schemas.archives import Source

VERSION = "4.26.0"

_INSIDE = "/json/tests/draft2020-12/"
_SUITE = Source("jsonschema", VERSION, lambda path: _INSIDE in path and path.endswith(".json"))

KNOWN = Path(__file__).with_suffix(".yaml")
"""What becomes of each schema that isn't enforced in full; `python -m json_schemas --write` writes it."""

_HEAD = f"""\
# The schemas of the JSON-Schema-Test-Suite (draft 2020-12, as jsonschema {VERSION} has it) that grammars don't enforce
# in full, by file and group: the keywords that are named as not enforced, or the reason of a refusal.
# Written by `python -m json_schemas --write`.
"""


@dataclass(frozen=True, eq=False)
class Group:
    """A schema, and instances with the suite's verdict."""

    file: str
    name: str
    schema: Any
    instances: tuple[tuple[Any, bool], ...]


@cache
def groups() -> tuple[Group, ...]:
    (root,) = _SUITE.folder.glob(f"*{_INSIDE}")
    all_groups = []
    for path in sorted(root.rglob("*.json")):
        for group in json.loads(path.read_text("utf-8")):
            file = path.relative_to(root).with_suffix("").as_posix()
            instances = tuple((test["data"], test["valid"]) for test in group["tests"])
            all_groups.append(Group(file, group["description"], group["schema"], instances))
    return tuple(all_groups)


def known() -> dict[str, dict[str, str]]:
    content: dict[str, dict[str, str]] = yaml.safe_load(KNOWN.read_text("utf-8"))
    return content


def write(outcomes: Mapping[str, Mapping[str, str]]) -> None:
    listed = {file: dict(groups) for file, groups in outcomes.items() if groups}
    text = yaml.safe_dump(listed, sort_keys=False, allow_unicode=True, width=1000)
    KNOWN.write_text(_HEAD + text, encoding="utf-8")
