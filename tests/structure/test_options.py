"""The tables of options in our pages are those of the commands."""

from pathlib import Path

import pytest

from structure import ANEW
from structure.options import PAGES, drawn, named, options

DEPLOYMENT, MANY_MACHINES, _ = PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tables_are_those_of_the_commands(page: Path) -> None:
    text = page.read_text("utf-8")
    assert "-options -->" in text
    assert drawn(text) == text, ANEW


def test_deployment_has_each_option_of_serve_once() -> None:
    assert sorted(named(DEPLOYMENT.read_text("utf-8"), "serve")) == sorted(options("serve"))


def test_many_machines_has_each_option_that_only_deploy_has() -> None:
    own = [name for name in options("deploy") if name not in options("serve")]
    assert sorted(named(MANY_MACHINES.read_text("utf-8"), "deploy")) == sorted([*own, "--host", "--port"])


def test_what_is_written_by_hand_stays() -> None:
    page = (
        "<!-- drawn: serve-options -->\n| option | default | what it does | when |\n| --- | --- | --- | --- |\n"
        "| `--host` | old | old | in a container, a \\| b |\n<!-- end -->\n"
    )
    assert drawn(page).splitlines()[3] == (
        "| `--host` | 127.0.0.1 | The address to listen on. An address that other machines can reach requires API "
        "keys, or `--insecure`. | in a container, a \\| b |"
    )


def test_an_option_that_does_not_exist() -> None:
    with pytest.raises(KeyError):
        drawn("<!-- drawn: serve-options -->\n| option | |\n| --- | --- |\n| `--nothing` | | | |\n")
