"""The table of fields, their handling and proofs: `python -m proofs.table` writes it to docs/field-handling.md."""

import importlib
import json
from collections.abc import Iterator
from pathlib import Path

from proofs.fields import Field, fields

FOLDER = Path(__file__).parent
TABLE = FOLDER.parents[1] / "docs" / "field-handling.md"

HEAD = """\
# Field handling

How this server handles each field of a request (`x-handling` in the document). A `supported` field changes the answer
as the document says; its proof is a test that fails if the field is removed from the request. An
`accepted` field has no effect by its nature. An `unsupported` field has no effect on this server, which reports or
rejects it. If only some values are supported, their JSON Schema follows.
`PYTHONPATH=tests .venv/bin/python -m proofs.table` writes this page, and a test checks it.

| field | handling | proof |
| --- | --- | --- |
"""


def proofs() -> Iterator[tuple[str, str]]:
    """Each field that a proof names, with the proof as `file::test`."""
    for file in sorted(FOLDER.glob("test_*.py")):
        module = importlib.import_module(f"proofs.{file.stem}")
        for name, test in vars(module).items():
            for mark in getattr(test, "pytestmark", ()):
                if mark.name == "proves":
                    yield from ((field, f"{file.name}::{name}") for field in mark.args)


def render() -> str:
    by_field: dict[str, list[str]] = {}
    for field, proof in proofs():
        by_field.setdefault(field, []).append(proof)
    return HEAD + "".join(_row(field, by_field.get(field.name, [])) for field in fields().values())


def _row(field: Field, proofs: list[str]) -> str:
    schemas = dict.fromkeys(json.dumps(schema) for schema in field.supported_values)
    supported_values = " ".join(f"`{schema}`" for schema in schemas)
    links = [f"[{proof.partition('::')[2]}](../tests/proofs/{proof.partition('::')[0]})" for proof in proofs]
    return (
        f"| `{field.name}` | {' or '.join(field.handling)} {supported_values}".rstrip() + f" | {', '.join(links)} |\n"
    )


if __name__ == "__main__":
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(render(), "utf-8")
