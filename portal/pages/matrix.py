"""The support matrix: every field, and what each system does with it."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import groupby
from urllib.parse import urlencode

from specvino.document.loading import FILES, load
from specvino.generated.systems import SYSTEMS
from specvino.portal.pages import Page, cell, html
from specvino.portal.pages.fields import by_owner, chip, description, handled
from specvino.portal.source import TITLES, Field, Source, Support

EvidenceOf = Mapping[str, Callable[[str, str, str], str]]
"""By system, the address of the lines that show what it does with a field, by endpoint, part and path."""

LEVELS = {
    "full": "as documented",
    "partial": "not in all cases, see the note",
    "ignored": "accepted without effect",
    "refused": "an error",
    "absent": "not in the system's answers",
    "unknown": "unknown so far",
}

# So many letters of a cell are read at once; more are folded up.
SHORT = 160

PARTS = {"request": "request", "response": "answer", "stream": "events of the stream"}

HEAD = """\
---
hide: [navigation, toc]
search: {{exclude: true}}
---

# Support matrix

What each system does with each field: {count} fields. The name of a field links to its row. *Here* is
what this project's server does. A level links to its evidence: the lines of the system's source, in the version and of
the date above its column, that have the field, or the object or file that lacks it; the version as a whole where
nothing of the endpoint was read. Where a system lacks a field, the fields inside it are left blank.

<form class="filter" id="matrix-filter" markdown="0">
<label>Field <input id="matrix-field" name="field" type="search" placeholder="min_p" autocomplete="off"></label>
<label>Endpoint <select id="matrix-endpoint" name="endpoint"><option value="">all</option>{endpoints}</select></label>
<label>System <select id="matrix-system" name="system"><option value="">any</option>{systems}</select></label>
<label>Level <select id="matrix-level" name="level"><option value="">any</option>{levels}</select></label>
<output id="matrix-count" aria-live="polite"></output>
</form>

<ul class="legend" markdown="0">{legend}</ul>

<style>{labels}</style>

<div class="matrix" tabindex="0" role="region" aria-label="Support by system" markdown="0">
<table class="support"><thead><tr><th scope="col">Field</th><th scope="col">Here</th>{heads}</tr></thead>
"""

PLAIN = """\
# Support matrix

What each system does with each field ({levels}). A field inside one that a system lacks has no level there.
"""


@dataclass(frozen=True)
class Matrix:
    """The page of all fields. `repository` is the address of the project's repository, or empty."""

    source: Source
    evidence: EvidenceOf
    repository: str

    def pages(self) -> Iterator[Page]:
        yield Page("matrix.md", "Support matrix", "".join(self._text()), "".join(self._plain()))

    @cached_property
    def _columns(self) -> dict[str, tuple[str, str, str]]:
        """Returns, by system, its name, version and date."""
        versions = {system: self.source.dialect(system)["x-dialect"]["version"] for system in SYSTEMS}
        return {system: (SYSTEMS[system], version["name"], version["date"]) for system, version in versions.items()}

    def _parts(self) -> Iterator[tuple[str, str, list[Field]]]:
        for (endpoint, part), several in groupby(self.source.fields, lambda field: (field.endpoint, field.part)):
            yield endpoint, part, list(several)

    def _text(self) -> Iterator[str]:
        fields = self.source.fields
        used = dict.fromkeys(field.endpoint for field in fields)
        labels = "Here", *(f"{name} {version}\n{date}" for name, version, date in self._columns.values())
        yield HEAD.format(
            count=len(fields),
            endpoints="".join(f'<option value="{name}">{escape(TITLES[name])}</option>' for name in used),
            systems="".join(f'<option value="{name}">{escape(title)}</option>' for name, title in SYSTEMS.items()),
            levels="".join(f'<option value="{name}">{name}</option>' for name in LEVELS),
            legend="".join(f"<li>{chip(name)} {words}</li>" for name, words in LEVELS.items()),
            labels="".join(
                f'.matrix td:nth-of-type({number}){{--label:"{css(label)}"}}' for number, label in enumerate(labels, 1)
            ),
            heads="".join(
                f'<th scope="col">{escape(name)} <small>{escape(version)}<br>{date}</small></th>'
                for name, version, date in self._columns.values()
            ),
        )
        seen: set[str] = set()
        for endpoint, part, several in self._parts():
            anchor = f' id="{endpoint}"' if endpoint not in seen else ""
            seen.add(endpoint)
            name = f"{escape(TITLES[endpoint])} <span>{PARTS[part]}</span>"
            columns = len(SYSTEMS) + 2
            yield f'<tbody{anchor}><tr class="part"><th colspan="{columns}" scope="rowgroup">{name}</th></tr>\n'
            yield from (self._row(field) for field in several)
            yield "</tbody>\n"
        yield "</table></div>\n"

    def _row(self, field: Field) -> str:
        cells = "".join(self._cell(system, field) for system in SYSTEMS)
        anchor = escape(field.name, quote=True)
        # A line may break behind a dot.
        path = escape(field.path).replace(".", ".<wbr>")
        words = by_owner(field, lambda schema: description(schema, self.source.schemas))
        return (
            f'<tr id="{anchor}" data-endpoint="{field.endpoint}"><th scope="row">'
            f'<a href="#{anchor}"><code>{path}</code></a><small>{words}</small>{self._corrections(field)}</th>'
            f"<td>{_own_handling(field)}</td>{cells}</tr>\n"
        )

    def _corrections(self, field: Field) -> str:
        if not self.repository:
            return ""
        links = {
            "This is wrong": report(self.repository, field),
            "Edit the description": edit(self.repository, field),
        }
        named = (f'<a href="{escape(address, quote=True)}">{words}</a>' for words, address in links.items())
        return f"<small>{' · '.join(named)}</small>"

    def _cell(self, system: str, field: Field) -> str:
        support = field.support.get(system)
        if support is None:
            return "<td></td>"
        address = self.evidence[system](field.endpoint, field.part, field.path)
        note = f"<small>{html(support.note)}</small>" if support.note else ""
        return f"<td>{chip(support.level, address)}{note}{_taken(support.taken)}</td>"

    def _plain(self) -> Iterator[str]:
        yield PLAIN.format(levels="; ".join(f"{level}: {words}" for level, words in LEVELS.items()))
        head = " | ".join(" ".join(column) for column in self._columns.values())
        for endpoint, part, several in self._parts():
            yield f"\n## {TITLES[endpoint]}, {PARTS[part]}\n\n"
            yield f"| field | here | {head} |\n| --- | --- |{' --- |' * len(SYSTEMS)}\n"
            for field in several:
                here = " or ".join(dict.fromkeys(handled(field, owner.schema) for owner in field.owners))
                levels = " | ".join(cell(_level(field.support.get(system))) for system in SYSTEMS)
                yield f"| `{field.name}` | {cell(here)} | {levels} |\n"


def _level(support: Support | None) -> str:
    return f"{support.level} {support.remark}".strip() if support else ""


def _own_handling(field: Field) -> str:
    texts = dict.fromkeys(handled(field, owner.schema) for owner in field.owners)
    by_whom = by_owner(field, lambda schema: handled(field, schema))
    return _folded(" or ".join(texts), by_whom) if len(re.sub("<[^>]*>", "", by_whom)) > SHORT else by_whom


def _taken(words: str) -> str:
    if len(words) <= SHORT:
        return f"<small>{html(words)}</small>" if words else ""
    return _folded("its values", html(words))


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{html(summary)}</summary><small>{text}</small></details>"


def css(text: str) -> str:
    """Returns a text as it stands within quotes in a style sheet of a page."""
    return re.sub(r'["\\<\n]', lambda match: f"\\{ord(match[0]):x} ", text)


def report(repository: str, field: Field) -> str:
    """Returns the address of a new issue on a field, with what the document states of it."""
    marking = "\n".join(f"{system}: {support.level}" for system, support in field.support.items())
    filled = {"template": "field-marking.yml", "title": field.name, "field": field.name, "marking": marking}
    return f"{repository}/issues/new?{urlencode(filled)}"


def edit(repository: str, field: Field) -> str:
    """Returns the address for editing the file that describes a field."""
    return f"{repository}/edit/main/openapi/{load(FILES)[field.owners[0].component]}"
