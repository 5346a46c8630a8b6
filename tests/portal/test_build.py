"""The site as it is built."""

import json
import re
import shutil
from functools import cache
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
import typer
from support.examples import ROOT
from support.portal import SOURCE

from specvino.cli.docs import parts
from specvino.cli.main import app
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import OPERATIONS
from specvino.generated.systems import SYSTEMS
from specvino.portal import build as portal
from specvino.portal.build import BuildError, build
from specvino.portal.pages import Page, doubles, matrix
from specvino.portal.source import TITLES

ADDRESSES = portal.Addresses("https://example.org/it/", "https://example.org/repository")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Built once, in the place of an earlier one."""
    folder = tmp_path_factory.mktemp("portal") / "site"
    (folder / portal.MARK).parent.mkdir(parents=True)
    (folder / portal.MARK).write_text("{}")
    (folder / "stale.html").write_text("old")
    build(folder, parts(), ADDRESSES)
    return folder


class Addresses(HTMLParser):
    """What a page has: its ids, and the addresses that it leads to."""

    def __init__(self, text) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.leads: set[str] = set()
        self.feed(text)

    def updatepos(self, i, j):
        return j  # nobody asks for lines, and counting them takes a fifth of the time

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" and value is not None:
                self.ids.add(value)
            elif name in ("href", "src", "action") and value is not None:
                self.leads.add(value)


@pytest.fixture(scope="module")
def pages(site):
    """The pages of the site, read once."""
    return {page: Addresses(page.read_text()) for page in site.rglob("*.html")}


@cache
def target_of(folder, path):
    target = (folder / unquote(path)).resolve()
    return target / "index.html" if target.is_dir() else target


def test_every_link_leads_to_something(pages) -> None:
    for page, content in pages.items():
        for lead in content.leads:
            if re.match(r"[a-z]+:", lead) or (page.name == "404.html" and lead.startswith("/")):
                continue
            path, _, anchor = lead.partition("#")
            path = path.partition("?")[0]
            target = target_of(page.parent, path) if path else page
            assert target.is_file(), f"{page.name} leads to {lead}"
            if anchor and not anchor.startswith("__"):
                assert anchor in pages[target].ids, f"{page.name} leads to {lead}"


def test_nothing_of_the_package_is_published(site) -> None:
    assert not {*site.rglob("py.typed"), *site.rglob("*.py")}


def test_every_field_has_its_row(site, pages) -> None:
    matrix = pages[site / "matrix.html"]
    fields = SOURCE.fields
    assert len(fields) > 700
    assert {field.name for field in fields} <= matrix.ids


def test_every_level_of_the_matrix_leads_to_its_evidence(site) -> None:
    matrix = (site / "matrix.html").read_text()
    levels = re.findall(r'<a class="level (\w+)" href="https://github\.com/[^"]+">\1</a>', matrix)
    assert len(levels) == sum(len(field.support) for field in SOURCE.fields)
    for system in SYSTEMS:
        version = SOURCE.dialect(system)["x-dialect"]["version"]
        assert f"<small>{version['name']}<br>{version['date']}</small>" in matrix
    rows = len(SOURCE.fields)
    assert matrix.count('href="https://example.org/repository/issues/new?') == rows
    assert matrix.count('href="https://example.org/repository/edit/main/openapi/') == rows


def test_an_older_version_has_a_page_of_what_changed(site) -> None:
    page = (site / "dialects" / "vllm-0.29.html").read_text()
    changed = SOURCE.dialect("vllm@0.29")["x-dialect"]["levels"]
    assert len(changed) > 50
    assert set(changed) <= set(re.findall(r'href="\.\./matrix\.html#([^"]+)"', page))
    newest = SOURCE.dialect("vllm")["x-dialect"]["version"]["name"]
    assert f"What {newest} changed" in page
    assert json.loads((site / "openapi" / "vllm@0.29.json").read_text()) == SOURCE.dialect("vllm@0.29")


def test_every_page_is_there_for_programs(site) -> None:
    pages = [page for page in site.rglob("*.html") if page.with_suffix(".md").exists()]
    without = {page.relative_to(site).parts[0] for page in site.rglob("*.html")} - {
        page.relative_to(site).parts[0] for page in pages
    }
    assert without == {"404.html", "reference", "servers"}  # documents and reports have forms of their own
    listed = re.findall(r"\(https://example\.org/it/([^)]+\.md)\)", (site / "llms.txt").read_text())
    assert {"matrix.md", "endpoints/chat.md", "dialects/vllm.md", "agents/codex.md", "skill.md"} <= set(listed)
    assert all((site / name).is_file() for name in listed)
    assert "| `chat.min_p` | supported | refused |" in (site / "matrix.md").read_text()
    assert "### `min_p`" in (site / "endpoints" / "chat.md").read_text()
    for page in site.rglob("*.md"):
        assert not re.search(r"<(?:span|article|p|li|h3)\b", re.sub(r"(?s)`[^`]*`", "", page.read_text())), page


def test_previews_and_the_sitemap_have_the_address_of_the_site(site) -> None:
    address = "https://example.org/it/errors.html"
    page = (site / "errors.html").read_text()
    assert f'<link rel="canonical" href="{address}">' in page
    assert f'<meta property="og:url" content="{address}">' in page
    assert '<meta property="og:description" content="Every answer of 4xx or 5xx' in page
    [picture] = re.findall(r'<meta property="og:image" content="https://example\.org/it/([^"]+)">', page)
    assert (site / picture).is_file()
    assert f"<loc>{address}</loc>" in (site / "sitemap.xml").read_text()


def test_every_field_of_the_documents_is_known() -> None:
    text = json.dumps(SOURCE.document)
    document = json.loads(text)
    named = set()

    def walk(node):
        for child in node.values() if isinstance(node, dict) else node:
            if isinstance(child, dict | list):
                walk(child)
        if isinstance(node, dict):
            named.update(node.get("x-support", {}))

    walk(document)
    assert {field.name for field in SOURCE.fields} == named


def test_what_lies_inside_a_field_follows_it() -> None:
    fields = SOURCE.fields
    parts = {field.name: field.part for field in fields}
    names = list(parts)
    followers = 0
    for number, name in enumerate(names):
        outer = name.rpartition(".")[0].removesuffix("[]")
        if parts.get(outer) == parts[name]:  # chat.stream is a field of requests, and what chat.stream.id is in is none
            assert all(name.startswith(outer) for name in names[names.index(outer) : number] or [""])
            followers += 1
    assert followers > 300


def test_every_operation_has_its_page(site, pages) -> None:
    operations = SOURCE.operations
    assert len(operations) == len(OPERATIONS)
    for operation in operations:
        path = site / "endpoints" / f"{operation.endpoint}.html"
        page = path.read_text()
        assert f">{operation.method}</span> <code>{operation.path}</code>" in page
        fields = {field.name for field in SOURCE.fields if field.endpoint == operation.endpoint}
        assert fields <= pages[path].ids
        for parameter in operation.parameters:
            assert f"<td><code>{parameter['name']}</code></td>" in page


def test_every_error_is_there(site, pages) -> None:
    assert {code.value for code in ErrorCode} <= pages[site / "errors.html"].ids


def test_every_system_has_its_page_its_document_and_its_reference(site) -> None:
    for system in SYSTEMS:
        page = (site / "dialects" / f"{system}.html").read_text()
        document = SOURCE.dialect(system)
        assert f'<h1 id="{system}">' in page or f">{SYSTEMS[system]}<" in page
        for path, item in document["paths"].items():
            assert all(f"<code>{method.upper()} {path}</code>" in page for method in item if method != "parameters")
        for endpoint in document["x-dialect"]["stream"]:
            assert f"<td>{TITLES[endpoint]}</td>" in page
        differing = set(re.findall(r'href="../matrix.html#([^"]+)"', page))
        assert len(differing) > 50
        assert differing <= {field.name for field in SOURCE.fields}
        assert (site / "reference" / f"{system}.html").is_file()
        assert json.loads((site / "openapi" / f"{system}.json").read_text()) == document


def drawn(command, name):
    """Every command below one, with its options, by the name that it has on the command line."""
    below = getattr(command, "commands", {})
    if not below or command.invoke_without_command:
        yield name, [option for param in command.params for option in param.opts if option.startswith("--")]
    for part, inner in below.items():
        yield from drawn(inner, f"{name} {part}")


def test_every_command_is_drawn(site) -> None:
    sections = re.split(r"(?=<h2 id=)", (site / "commands.html").read_text())
    commands = dict(drawn(typer.main.get_command(app), "specvino"))
    assert {"specvino serve", "specvino spec explain", "specvino docs build"} <= commands.keys()
    for name, options in commands.items():
        identity = name.replace(" ", "-")
        [section] = [section for section in sections if section.startswith(f'<h2 id="{identity}"')]
        assert all(option in section for option in options if option != "--help"), name


def test_nothing_names_another_host(site) -> None:
    for page in site.rglob("*.html"):
        if page.parent.name != "reference":
            assert not re.search(r'(?:src|rel="stylesheet" href)="https?:', page.read_text()), page


def test_a_broken_link_is_an_error(tmp_path, monkeypatch) -> None:
    pages = tmp_path / "docs"
    (pages / "agents").mkdir(parents=True)
    shutil.copytree(ROOT / "docs" / "servers", pages / "servers", ignore=lambda _, names: names[1:])
    for page in (
        "index",
        "getting-started",
        "field-handling",
        "conformance",
        "sdk",
        "engine",
        "deployment",
        "on-a-host",
    ):
        (pages / f"{page}.md").write_text("# Page\n\n[nowhere](gone.md)\n" if page == "engine" else "# Page\n")
    monkeypatch.setattr(portal, "WRITTEN", pages)
    # All pages would take seconds.
    made = dict.fromkeys(portal.MADE, lambda source: [Page("reference/made.md", "Made", "# Made\n")])
    monkeypatch.setattr(portal, "MADE", made)
    monkeypatch.setattr(matrix.Matrix, "pages", lambda _: [Page("matrix.md", "Matrix", "# Matrix\n")])
    monkeypatch.setattr(doubles, "pages", lambda source, start_lines: [])
    with pytest.raises(BuildError, match=r"gone\.md"):
        build(tmp_path / "site", parts())
    shutil.rmtree(pages / "servers")
    with pytest.raises(BuildError, match="no reports of servers"):
        build(tmp_path / "other", parts())


def test_a_folder_with_something_else_stays_as_it_is(tmp_path) -> None:
    (tmp_path / "precious").write_text("data")
    with pytest.raises(BuildError, match="something else"):
        build(tmp_path, parts())
    assert (tmp_path / "precious").read_text() == "data"


def test_the_portal_s_own_folder_is_no_site(tmp_path) -> None:
    shutil.copytree(ROOT / "portal", tmp_path / "portal")
    with pytest.raises(BuildError, match="something else"):
        build(tmp_path / "portal", parts())
    assert (tmp_path / "portal" / "build.py").exists()


def test_a_site_is_replaced(site) -> None:
    assert not (site / "stale.html").exists()
    assert (site / "index.html").exists()
