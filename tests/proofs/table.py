"""The table field -> fate -> proof: `PYTHONPATH=.dev:tests python -m proofs.table` writes docs/fates.md."""

import importlib
import json
from collections.abc import Iterator
from pathlib import Path

from proofs.fields import Field, fields

FOLDER = Path(__file__).parent
TABLE = FOLDER.parents[1] / "docs" / "fates.md"

HEAD = """\
# What becomes of each field

Of each field of a request: `honoured` changes the answer as the document says, and the proof is a test that fails as
soon as the field is dropped on its way to the server; `noted` has no effect by nature; `unsupported` can't be honoured
here, and is reported or refused. Where a field is only honoured in some of its values, the schema of those stands
beside it. `PYTHONPATH=.dev:tests python -m proofs.table` makes this page, and a test keeps it so.

| field | fate | proof |
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
    found: dict[str, list[str]] = {}
    for field, proof in proofs():
        found.setdefault(field, []).append(proof)
    return HEAD + "".join(_row(field, found.get(field.name, [])) for field in fields().values())


def _row(field: Field, proofs: list[str]) -> str:
    honours = " ".join(f"`{json.dumps(schema)}`" for schema in field.honours)
    links = [f"[{proof.partition('::')[2]}](../tests/proofs/{proof.partition('::')[0]})" for proof in proofs]
    return f"| `{field.name}` | {' or '.join(field.fates)} {honours}".rstrip() + f" | {', '.join(links)} |\n"


if __name__ == "__main__":
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(render(), "utf-8")
