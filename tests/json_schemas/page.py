"""The page docs/json-schemas.md: `python -m json_schemas --write` writes it."""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from bench.tables import Table

from json_schemas import suite
from json_schemas.corpus import FAMILIES
from json_schemas.figures import Figures, SuiteFigures, of_all

PAGE = Path(__file__).parents[2] / "docs" / "json-schemas.md"

COSTS = "Converting a schema"

_HEAD = """\
# JSON Schemas

Which schemas the grammars of structured outputs enforce: a public corpus, and the JSON-Schema-Test-Suite. `tox run -e
schemas` checks that all texts of the grammars satisfy the schemas, and `tox run -e schemas -- python -m json_schemas
--write` writes this page. [Structured outputs](structured-outputs.md) has what a token costs.

- **Enforced**: a grammar allows only what satisfies the schema.
- **Named**: the answer of a request that isn't strict names keywords that the grammar doesn't enforce; a strict request
  is refused for them.
- **Refused**: the schema is invalid, nothing satisfies it, it refers to something outside, or is too large. Nothing
  satisfies `additionalProperties: false` beside an `allOf` or `oneOf` that requires properties: it doesn't know them.

"""

_SUITE = f"""\
The draft 2020-12 of the suite, as jsonschema {suite.VERSION} has it. A grammar may allow less than its schema: an
object that names properties has no others, a keyword of one type implies this type, and some formats are narrower.
**Reachable** are the valid instances that the grammars allow, of the schemas that are enforced in full. No instance
that the suite rejects is reachable.

"""

_MOST = 15


def figures_of_corpus() -> dict[str, Figures]:
    return {family.title: of_all(family.schemas()) for family in FAMILIES}


def figures_of_suite() -> dict[str, SuiteFigures]:
    figures = {}
    for file, groups in groupby(suite.groups(), lambda group: group.file):
        figures[file] = SuiteFigures()
        for group in groups:
            figures[file].add_group(group)
    return figures


def page(corpus: Mapping[str, Figures], of_suite: Mapping[str, SuiteFigures]) -> str:
    """Returns the page. What is after the heading COSTS isn't the same on each machine."""
    tables = [*_corpus(corpus), "## The JSON-Schema-Test-Suite\n", _SUITE + _suite(of_suite), _costs(corpus)]
    return _HEAD + "\n".join(tables)


def _corpus(corpus: Mapping[str, Figures]) -> list[str]:
    sources = {family.title: family.source for family in FAMILIES}
    rows = [[title, *_shares([figures]), sources[title]] for title, figures in corpus.items()]
    rows.append(["all", *_shares(corpus.values()), ""])
    columns = ["schemas of", "number", "enforced", "named", "refused", "source"]
    named = _most(corpus.values(), "named")
    refused = _most(corpus.values(), "refused")
    return [
        Table("A public corpus", columns, rows).markdown(),
        Table("Keywords that are named in the corpus", ["keyword", "schemas"], named).markdown(),
        Table("Reasons of refusals in the corpus", ["reason", "schemas"], refused).markdown(),
    ]


def _suite(of_suite: Mapping[str, SuiteFigures]) -> str:
    rows = [[file, *_counts(figures)] for file, figures in of_suite.items()]
    total = [sum(map(int, column)) for column in zip(*(row[1:] for row in rows), strict=True)]
    columns = ["file", "schemas", "enforced", "named", "refused", "valid instances", "reachable"]
    lines = Table("", columns, [*rows, ["all", *map(str, total)]]).markdown()
    return lines.partition("\n\n")[2]


def _costs(corpus: Mapping[str, Figures]) -> str:
    rows = [[title, *(f"{time:.1f}" for time in figures.milliseconds)] for title, figures in corpus.items()]
    table = Table(COSTS, ["CPU time (ms)", "median", "99th percentile", "maximum"], rows).markdown()
    return table.replace("\n\n", f"\n\nOn {os.cpu_count()} shared cores, without compiling the grammar.\n\n", 1)


def _shares(figures: Collection[Figures]) -> list[str]:
    schemas = sum(figure.schemas for figure in figures)
    enforced = sum(figure.enforced for figure in figures)
    refused = sum(figure.refused.total() for figure in figures)
    counts = (enforced, schemas - enforced - refused, refused)
    return [f"{schemas:,}", *(f"{100 * count / schemas:.0f} %" for count in counts)]


def _counts(figures: SuiteFigures) -> list[str]:
    refused = figures.refused.total()
    named = figures.schemas - figures.enforced - refused
    return list(map(str, (figures.schemas, figures.enforced, named, refused, figures.valid, figures.reachable)))


def _most(figures: Iterable[Figures], kind: str) -> Sequence[Sequence[str]]:
    total: Counter[str] = sum((getattr(figure, kind) for figure in figures), Counter())
    return [[f"{name.replace('|', '/')}", str(count)] for name, count in total.most_common(_MOST)]
