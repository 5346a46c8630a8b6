"""`specvino docs build`: what it gives to the portal, whose build is tried in tests/portal/test_build.py."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from specvino.cli import main
from specvino.cli.conform_matrix import side_by_side
from specvino.cli.docs import start_lines
from specvino.document.loading import systems
from specvino.portal.build import Addresses, BuildError


def test_the_site_is_built_in_the_folder_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []
    monkeypatch.setattr("specvino.portal.build.build", lambda *arguments: given.append(arguments))
    options = ["-o", "site/", "--url", "https://example.org/docs/", "--repository", "https://example.org/it"]
    for chosen, lacking in (([], ["--url", "--repository"]), (options, [])):
        run = CliRunner().invoke(main, ["docs", "build", *chosen])
        assert (run.exit_code, run.stdout) == (0, "the site is in site: open site/index.html\n")
        assert re.findall("without (--[a-z]+)", run.stderr) == lacking
    (_, _, nowhere), (folder, made, addresses) = given
    assert nowhere == Addresses()
    assert (folder, addresses) == (Path("site"), Addresses("https://example.org/docs/", "https://example.org/it"))
    assert (made.cli, made.side_by_side, made.start_lines) == (main, side_by_side, start_lines())
    assert made.evidence.keys() == set(systems())


@pytest.mark.parametrize("option", ["--url", "--repository"])
def test_what_is_no_address(option: str) -> None:
    run = CliRunner().invoke(main, ["docs", "build", option, "example.org"])
    assert run.exit_code == 2
    assert "'example.org' isn't an address" in run.output


def test_a_site_that_can_not_be_built_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise BuildError("no")

    monkeypatch.setattr("specvino.portal.build.build", fail)
    run = CliRunner().invoke(main, ["docs", "build"])
    assert (run.exit_code, run.output) == (2, "specvino: no\n")


def test_a_start_line() -> None:
    lines = start_lines()
    assert lines["vllm"].theirs == "vllm serve MODEL"
    assert lines["vllm"].ours == "specvino serve --dialect vllm MODEL"
    assert lines["vllm"].version == "0.33.0"
    [option] = [
        source_option
        for source_option in lines["ovms"].options["src/cli_parser.cpp"]
        if "--rest_port" in source_option.names
    ]
    assert (option.effect, option.reason) == ("As --port.", "")
    assert lines["ollama"].note
    assert "openai" not in lines
