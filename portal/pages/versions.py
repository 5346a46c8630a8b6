"""A page for each older version of a system that is described: what the newest one changed."""

from collections.abc import Iterator
from itertools import groupby

from specvino.document.loading import dialects
from specvino.document.system_fields import system_name
from specvino.generated.systems import SYSTEMS
from specvino.portal.pages import Page, cell
from specvino.portal.pages.dialects import about, link, path
from specvino.portal.source import TITLES, Source, Support, supported

HEAD = """\
# {name} {version}

The API as {name} had it in {version}, {about}. Take
[its document](../openapi/{dialect}.json){{ download="{dialect}.json" }} (OpenAPI 3.1), or use the command line with it:

```sh
specvino spec --dialect {dialect}                    # print the document
specvino conform --dialect {dialect} URL             # judge a server of this version
specvino sdk python --dialect {dialect} -o client    # make a client for it
```

## What {newest} changed

Since {version}, of the fields in this project's document. What isn't listed is as on
[the page of {newest}]({system}.md).
"""


def pages(source: Source) -> Iterator[Page]:
    for dialect in dialects():
        if dialect != (system := system_name(dialect)):
            version = source.dialect(dialect)["x-dialect"]["version"]["name"]
            yield Page(path(dialect), f"{SYSTEMS[system]} {version}", "".join(_text(source, dialect, system)))


def _text(source: Source, dialect: str, system: str) -> Iterator[str]:
    head = source.dialect(dialect)["x-dialect"]
    newest = source.dialect(system)["x-dialect"]["version"]["name"]
    version = head["version"]["name"]
    yield HEAD.format(
        name=SYSTEMS[system],
        version=version,
        about=about(head["version"]),
        dialect=dialect,
        newest=newest,
        system=system,
    )
    changed = [field for field in source.fields if field.name in head["levels"]]
    for endpoint, fields in groupby(changed, lambda field: field.endpoint):
        yield f"\n### {TITLES[endpoint]}\n\n| field | in {version} | in {newest} |\n| --- | --- | --- |\n"
        for field in fields:
            before, after = supported(head["levels"][field.name]), field.support.get(system)
            yield f"| {link(field)} | {_level(before)} | {_level(after)} |\n"


def _level(support: Support | None) -> str:
    return cell(f"{support.level} {support.remark}".strip()) if support else "not there"
