"""The support matrix: every field, and what each system does with it."""

import re
from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby

from specvino.document.operations import Schema
from specvino.generated.systems import SYSTEMS
from specvino.portal.pages import Page, html
from specvino.portal.pages.fields import by_owner, chip, description, handled
from specvino.portal.source import TITLES, Field, Source, Support

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
---

# Support matrix

What each system does with each field: {count} fields. The name of a field links to its row. *Here* is
what this project's server does. Where a system lacks a field, the fields inside it are left blank.

<form class="filter" id="matrix-filter" markdown="0">
<label>Field <input id="matrix-field" name="field" type="search" placeholder="min_p" autocomplete="off"></label>
<label>Endpoint <select id="matrix-endpoint" name="endpoint"><option value="">all</option>{endpoints}</select></label>
<label>System <select id="matrix-system" name="system"><option value="">any</option>{systems}</select></label>
<label>Level <select id="matrix-level" name="level"><option value="">any</option>{levels}</select></label>
<output id="matrix-count" aria-live="polite"></output>
</form>

<ul class="legend" markdown="0">{legend}</ul>

<div class="matrix" tabindex="0" role="region" aria-label="Support by system" markdown="0">
<table class="support"><thead><tr><th scope="col">Field</th><th scope="col">Here</th>{heads}</tr></thead>
"""


def pages(source: Source) -> Iterator[Page]:
    yield Page("matrix.md", "Support matrix", "".join(_text(source)))


def _text(source: Source) -> Iterator[str]:
    fields = source.fields
    used = dict.fromkeys(field.endpoint for field in fields)
    yield HEAD.format(
        count=len(fields),
        endpoints="".join(f'<option value="{name}">{escape(TITLES[name])}</option>' for name in used),
        systems="".join(f'<option value="{name}">{escape(title)}</option>' for name, title in SYSTEMS.items()),
        levels="".join(f'<option value="{name}">{name}</option>' for name in LEVELS),
        legend="".join(f"<li>{chip(name)} {words}</li>" for name, words in LEVELS.items()),
        heads="".join(_head(source, system, name) for system, name in SYSTEMS.items()),
    )
    seen: set[str] = set()
    for (endpoint, part), several in groupby(fields, lambda field: (field.endpoint, field.part)):
        anchor = f' id="{endpoint}"' if endpoint not in seen else ""
        seen.add(endpoint)
        name = f"{escape(TITLES[endpoint])} <span>{PARTS[part]}</span>"
        columns = len(SYSTEMS) + 2
        yield f'<tbody{anchor}><tr class="part"><th colspan="{columns}" scope="rowgroup">{name}</th></tr>\n'
        yield from (_row(field, source.schemas) for field in several)
        yield "</tbody>\n"
    yield "</table></div>\n"


def _row(field: Field, schemas: Mapping[str, Schema]) -> str:
    cells = "".join(_cell(system, field.support.get(system)) for system in SYSTEMS)
    anchor = escape(field.name, quote=True)
    # A line may break behind a dot.
    path = escape(field.path).replace(".", ".<wbr>")
    levels = " ".join(f"{system}:{support.level}" for system, support in field.support.items())
    words = by_owner(field, lambda schema: description(schema, schemas))
    return (
        f'<tr id="{anchor}" data-endpoint="{field.endpoint}" data-levels="{levels}"><th scope="row">'
        f'<a href="#{anchor}"><code>{path}</code></a><small>{words}</small></th>'
        f"<td>{_own_handling(field)}</td>{cells}</tr>\n"
    )


def _own_handling(field: Field) -> str:
    texts = dict.fromkeys(handled(field, owner.schema) for owner in field.owners)
    by_whom = by_owner(field, lambda schema: handled(field, schema))
    return _folded(" or ".join(texts), by_whom) if len(re.sub("<[^>]*>", "", by_whom)) > SHORT else by_whom


def _head(source: Source, system: str, name: str) -> str:
    version = source.dialect(system)["x-dialect"]["version"]["name"]
    return f'<th scope="col">{escape(name)} <small>{escape(version)}</small></th>'


def _cell(system: str, support: Support | None) -> str:
    if support is None:
        return f'<td data-system="{system}"></td>'
    note = f"<small>{html(support.note)}</small>" if support.note else ""
    return f'<td data-system="{system}">{chip(support.level)}{note}{_taken(support.taken)}</td>'


def _taken(words: str) -> str:
    if len(words) <= SHORT:
        return f"<small>{html(words)}</small>" if words else ""
    verb, _, values = words.partition(" ")
    return _folded(f"{verb} only", html(values))


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{html(summary)}</summary><small>{text}</small></details>"
