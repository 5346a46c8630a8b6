"""Builds the site: hand-written pages, pages made from the document, and MkDocs over both."""

import json
import logging
import re
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import typer
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.exceptions import MkDocsException

from specvino.document import loading, yaml_text
from specvino.generated.errors import ERRORS
from specvino.generated.streams import STREAMS
from specvino.generated.systems import SYSTEMS
from specvino.portal.pages import (
    Page,
    commands,
    dialects,
    doubles,
    endpoints,
    errors,
    html,
    matrix,
    python_api,
    streams,
    versions,
    vocabulary,
)
from specvino.portal.pages.fields import description, kind
from specvino.portal.plain import llms, plain, summary
from specvino.portal.reference import ASSETS, SCRIPT, script
from specvino.portal.reference import HERE as REFERENCE
from specvino.portal.source import Source

HERE = files("specvino.portal")

# Writes the pages that compare servers, of the reports in some files, into a folder.
SideBySide = Callable[[Sequence[Path], Path], object]

# The hand-written pages, which stand in docs/.
WRITTEN = files("specvino.docs")

# The parts of the site that are made from the document.
MADE: dict[str, Callable[[Source], Iterator[Page]]] = {
    "dialects": dialects.pages,
    "versions": versions.pages,
    "endpoints": endpoints.pages,
    "streams": streams.pages,
    "errors": errors.pages,
    "vocabulary": vocabulary.pages,
    "reference": dialects.references,
}

# A file that every site has and no source folder, by which one that was built before is known.
MARK = "openapi/specvino.json"


@dataclass(frozen=True, slots=True)
class Made:
    """Parts of the project that the site shows.

    `cli` is the command line to document, `side_by_side` makes the pages that compare servers, `start_lines` are those
    of the systems, and `evidence` has the addresses of what the matrix states.
    """

    cli: typer.Typer
    side_by_side: SideBySide
    start_lines: Mapping[str, doubles.StartLine]
    evidence: matrix.EvidenceOf


@dataclass(frozen=True, slots=True)
class Addresses:
    """The future addresses of the site and its repository. Without `url`, with a trailing slash, there are no canonical
    links, previews and sitemap; without `repository`, without one, no links that report and correct a row of the
    matrix."""

    url: str = ""
    repository: str = ""


NOWHERE = Addresses()


class BuildError(Exception):
    """The site can't be built; `str()` is the reason."""


def build(output: Path, parts: Made, addresses: Addresses = NOWHERE) -> None:
    """Writes the site to `output`, replacing an earlier one. Raises BuildError."""
    if output.exists() and not output.is_dir():
        raise BuildError(f"{output} isn't a folder")
    if output.is_dir() and any(output.iterdir()) and not (output / MARK).exists():
        raise BuildError(f"{output} contains something else than a site; choose an empty folder")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BuildError(f"{output} can't be created: {error.strerror}") from None
    warnings = _Warnings()
    logging.getLogger("mkdocs").addHandler(warnings)
    try:
        with tempfile.TemporaryDirectory() as parent, as_file(HERE) as package, as_file(WRITTEN) as written:
            _build(Path(parent), package, written, output.resolve(), parts, addresses)
    except MkDocsException as error:
        raise BuildError("; ".join([*warnings.messages, str(error)])) from None
    finally:
        logging.getLogger("mkdocs").removeHandler(warnings)


class _Warnings(logging.Handler):
    """A log handler that collects the mistakes that MkDocs logs; MkDocs itself only counts them at the end."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def unpack_reports(folder: Path) -> list[Path]:
    """Returns the reports of servers in a folder: files in a clone; a wheel has one archive (`setup.py`), which this
    unpacks."""
    packed = folder / "reports.tar.xz"
    if packed.is_file():
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
        packed.unlink()
    return sorted(folder.glob("*.ndjson"))


def _build(work: Path, package: Path, written: Path, output: Path, parts: Made, addresses: Addresses) -> None:
    source = Source()
    made = {part: list(pages(source)) for part, pages in MADE.items()}
    made |= {
        "matrix": list(matrix.Matrix(source, parts.evidence, addresses.repository).pages()),
        "commands": list(commands.pages(parts.cli)),
        "python": list(python_api.pages()),
        "doubles": list(doubles.pages(source, parts.start_lines)),
    }
    pages = work / "pages"
    shutil.copytree(
        written, pages, ignore=shutil.ignore_patterns("*.py", "py.typed", "__pycache__", "decisions", "images")
    )
    _drop_test_links(pages / "field-handling.md")
    _include(pages / "on-a-host.md")
    reports = unpack_reports(pages / "servers")
    if not reports:
        raise BuildError(f"there are no reports of servers in {written / 'servers'}")
    parts.side_by_side(reports, pages / "servers" / "matrix")
    shutil.copytree(package / "assets", pages / "assets")
    for page in (page for part in made.values() for page in part):
        _write(pages / page.path, page.text)
    for name in ASSETS:
        shutil.copyfile(str(REFERENCE.joinpath(name)), pages / "reference" / name)
    (pages / "reference" / SCRIPT).write_bytes(script())
    _write(pages / "openapi" / "specvino.json", json.dumps(source.document, ensure_ascii=False))
    _write(pages / "openapi" / "vocabulary.json", json.dumps(source.vocabulary, ensure_ascii=False))
    for dialect in loading.dialects():
        _write(pages / "openapi" / f"{dialect}.json", json.dumps(source.dialect(dialect), ensure_ascii=False))

    settings: dict[str, Any] = yaml_text.load((package / "mkdocs.yml").read_text("utf-8"))
    settings |= {"docs_dir": str(pages), "site_dir": str(output), "nav": nav(made), "site_url": addresses.url}
    settings["theme"]["custom_dir"] = str(package / "theme")
    given = {page.path: page.plain for several in made.values() for page in several if page.plain}
    files = {path.relative_to(pages).as_posix(): path for path in pages.rglob("*.md")}
    texts = {name: given.get(name) or plain(path.read_text("utf-8")) for name, path in sorted(files.items())}
    settings["extra"] |= {
        "figures": _figures(source),
        "shown": _shown(source),
        "systems": _listed(SYSTEMS.values()),
        "summaries": {name: summary(text) for name, text in texts.items()},
    }
    config = work / "mkdocs.yml"
    _write(config, yaml_text.dump(settings))
    mkdocs_build(load_config(str(config), strict=True))
    for name, text in texts.items():
        _write(output / name, text)
    shutil.copyfile(package / "skill.md", output / "skill.md")
    about = settings["site_name"], settings["site_description"]
    _write(output / "llms.txt", llms(*about, settings["nav"], texts, addresses.url))


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}"


def _figures(source: Source) -> dict[str, int]:
    """Returns the figures below the title."""
    return {
        "fields with their support": len(source.fields),
        "systems compared": len(SYSTEMS),
        "operations": len(source.operations),
        "stream protocols": len(STREAMS),
        "kinds of errors": len(ERRORS),
    }


def _shown(source: Source) -> dict[str, Any]:
    """Returns the field that the title page shows as an example."""
    field = next(candidate for candidate in source.fields if candidate.name == "chat.min_p")
    levels = [[name, field.support[system].level] for system, name in SYSTEMS.items()]
    [owner] = field.owners
    return {
        "name": field.name,
        "path": field.path,
        "kind": html(kind(owner.schema, source.schemas)),
        "description": description(owner.schema, source.schemas),
        "levels": levels,
    }


def nav(made: dict[str, list[Page]]) -> list[Any]:
    """Returns the site's menu."""

    def all_of(part: str) -> list[Any]:
        return [{page.title: page.path} for page in made[part]]

    return [
        {
            "Start": [
                {"What it is": "index.md"},
                {"Getting started": "getting-started.md"},
                {"What to expect": "expectations.md"},
            ]
        },
        {
            "Support": [
                *all_of("matrix"),
                {"Systems": [*all_of("dialects"), *all_of("versions")]},
                {"Field handling": "field-handling.md"},
            ]
        },
        {
            "API": [
                {"Endpoints": all_of("endpoints")},
                *all_of("streams"),
                *all_of("errors"),
                *all_of("vocabulary"),
                {"API reference": made["reference"][0].path},
            ]
        },
        {
            "Tools": [
                {"Conformance": "conformance.md"},
                {"Tested servers": "servers.md"},
                {"Drift": [{"Comparing": "drift.md"}, {"How old the documents are": "versions.md"}]},
                {"Client packages": [{"specvino sdk": "sdk.md"}, {"Other tools": "generators.md"}]},
                *all_of("commands"),
                *all_of("python"),
            ]
        },
        {
            "Serving": [
                {"The engine": "engine.md"},
                {"Agents and clients": [{"What is tested": "agents.md"}, *_clients()]},
                {"Integrations": "integrations.md"},
                {"Other systems": [{"Speaking as them": "other-systems.md"}, *all_of("doubles")]},
                {"Structured outputs": [{"Costs": "structured-outputs.md"}, {"JSON Schemas": "json-schemas.md"}]},
                {"Chat templates": "chat-templates.md"},
                {"Architectures": "architectures.md"},
                {"Models of real sizes": "sizes.md"},
                {"Deployment": "deployment.md"},
                {"systemd, nginx and Caddy": "on-a-host.md"},
                {"Many machines": "many-machines.md"},
                {"Performance settings": "performance-settings.md"},
                {"Monitoring": "monitoring.md"},
                {"Robustness": [{"Attacks and faults": "robustness.md"}, {"Advisories": "advisories.md"}]},
                {"Performance": "performance.md"},
            ]
        },
    ]


def _clients() -> list[str]:
    """Returns the pages on agents and client libraries, whose titles are their headings."""
    return sorted(f"agents/{page.name}" for page in WRITTEN.joinpath("agents").iterdir())


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _include(page: Path) -> None:
    """Replaces lines such as `--8<-- "host/nginx.conf"` by the file."""
    text = page.read_text("utf-8")
    included = re.sub(r'(?m)^--8<-- "([^"]+)"\n', lambda match: (page.parent / match[1]).read_text("utf-8"), text)
    page.write_text(included, encoding="utf-8")


def _drop_test_links(page: Path) -> None:
    """Replaces links to tests in the repository, which aren't part of the site, by names."""
    text = page.read_text("utf-8")
    page.write_text(re.sub(r"\[(\w+)\]\(\.\./tests/[^)]*\)", r"`\1`", text), encoding="utf-8")
