"""The support matrix: every field, and what each system does with it."""

from collections.abc import Iterator
from html import escape
from itertools import groupby

from specvino.portal.pages.page import Page
from specvino.portal.source import ENDPOINTS, SYSTEMS, Field, Source, Support

LEVELS = {
    "full": ("full", "as documented"),
    "partial": ("partial", "not in all cases, see the note"),
    "ignored": ("ignored", "accepted without effect"),
    "refused": ("refused", "an error"),
    "absent": ("absent", "not in the system's answers"),
    "unknown": ("?", "nobody has found out yet"),
}

PARTS = {"request": "Request", "response": "Answer", "stream": "Stream"}

HEAD = """\
# Support matrix

What each system does with each field: {count} fields. A field's name leads to its row, so that you can link to it; what lies
inside a field that a system hasn't, has no row of its own for it. *Here* is what this project's server does.

<div class="filter" markdown="0">
<label>Field <input id="matrix-field" type="search" placeholder="min_p" autocomplete="off"></label>
<label>Endpoint <select id="matrix-endpoint"><option value="">all</option>{endpoints}</select></label>
<label>System <select id="matrix-system"><option value="">any</option>{systems}</select></label>
<label>Level <select id="matrix-level"><option value="">any</option>{levels}</select></label>
<output id="matrix-count" aria-live="polite"></output>
</div>

{legend}
"""


def pages(source: Source) -> Iterator[Page]:
    yield Page("matrix.md", "Support matrix", "\n".join(_text(source)))


def _text(source: Source) -> Iterator[str]:
    fields = source.fields
    yield "---\nhide: [toc]\n---\n"
    yield HEAD.format(
        count=len(fields),
        endpoints="".join(f'<option value="{name}">{escape(title)}</option>' for name, title in ENDPOINTS.items()),
        systems="".join(f'<option value="{name}">{escape(title)}</option>' for name, title in SYSTEMS.items()),
        levels="".join(f'<option value="{name}">{name}</option>' for name in LEVELS),
        legend=" · ".join(f"{_chip(name)} {words}" for name, (_, words) in LEVELS.items()),
    )
    for endpoint, group in groupby(fields, lambda field: field.endpoint):
        yield f"## {ENDPOINTS[endpoint]} {{ #{endpoint} }}\n"
        for part, several in groupby(group, lambda field: field.part):
            yield f'<h3 id="{endpoint}-{part}">{PARTS[part]}</h3>\n'
            yield from _table(list(several))


def _table(fields: list[Field]) -> Iterator[str]:
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in SYSTEMS.values())
    yield '<div class="matrix" tabindex="0" role="region" aria-label="Support by system" markdown="0">'
    yield f'<table><thead><tr><th scope="col">Field</th><th scope="col">Here</th>{heads}</tr></thead><tbody>'
    for field in fields:
        cells = "".join(_cell(system, field.support.get(system)) for system in SYSTEMS)
        anchor = escape(field.name, quote=True)
        name = f'<a href="#{anchor}"><code>{escape(field.path)}</code></a>'
        said = escape(field.description)
        levels = " ".join(f"{system}:{said.level}" for system, said in field.support.items())
        yield (
            f'<tr id="{anchor}" data-endpoint="{field.endpoint}" data-levels="{levels}">'
            f'<th scope="row">{name}<small>{said}</small></th><td>{escape(_here(field))}</td>{cells}</tr>'
        )
    yield "</tbody></table></div>\n"


def _here(field: Field) -> str:
    return "sent " + field.fate if field.part != "request" and field.fate not in ("", "never", "null") else (
        {"never": "not sent", "null": "always null"}.get(field.fate, field.fate)
    )


def _cell(system: str, support: Support | None) -> str:
    if support is None:
        return f'<td data-system="{system}"></td>'
    note = f"<small>{escape(support.note)}</small>" if support.note else ""
    return f'<td data-system="{system}">{_chip(support.level)}{note}</td>'


def _chip(level: str) -> str:
    return f'<span class="level {level}">{LEVELS[level][0]}</span>'
