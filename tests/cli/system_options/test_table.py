"""The tables say something of each option, and lead to options that there are."""

import re

import pytest
import typer

from specvino.cli import main
from specvino.cli.system_options.table import MODEL, Meaning, Table, plain, read
from specvino.document.loading import systems
from specvino.server.access import ENVIRONMENT

OWN = {name: option for option in typer.main.get_group(main).commands["serve"].params for name in option.opts}
TABLES = {system: table for system in systems() if (table := read(system))}
VARIABLES = {ENVIRONMENT, "HF_TOKEN"}


def meanings(table: Table):
    for several in table.sources.values():
        for meaning in several:
            yield meaning
            yield from (option.meaning for option in meaning.inside.values())


def test_who_has_options() -> None:
    assert set(systems()) - TABLES.keys() == {"openai"}
    assert all(table.options or table.note for table in TABLES.values())
    assert not TABLES["ollama"].options
    assert "environment variables" in TABLES["ollama"].note
    assert read("../ovms") is None


@pytest.mark.parametrize("system", TABLES)
def test_each_option_means_one_thing(system) -> None:
    for meaning in meanings(TABLES[system]):
        effects = [meaning.to, meaning.property, meaning.folder_of, meaning.inside, meaning.refused]
        assert len([effect for effect in effects if effect]) <= 1, meaning.names
        assert any(effects) or meaning.because, meaning.names
        assert bool(meaning.split) >= bool(meaning.inside), meaning.names
        assert meaning.because is None or meaning.because.endswith("."), meaning.names
        assert meaning.refused is None or meaning.refused.endswith("."), meaning.names


@pytest.mark.parametrize("system", TABLES)
def test_what_is_led_to_is_there(system) -> None:
    for meaning in meanings(TABLES[system]):
        assert meaning.to in {None, MODEL, *VARIABLES, *OWN}
        assert meaning.excludes in {None, *OWN}
        assert meaning.folder_of in {None, MODEL}
        assert meaning.beside is None or plain(meaning.beside) in TABLES[system].options
        assert re.compile(meaning.unless or "")


@pytest.mark.parametrize("system", TABLES)
def test_an_option_of_ours_is_not_hidden_by_another_one(system) -> None:
    """Where both have a name, it is the same option, or what is given says whose it is."""
    for name, option in TABLES[system].options.items():
        meaning: Meaning = option.meaning
        if name in OWN and not (meaning.unless or meaning.beside):
            assert meaning.to == name, name


@pytest.mark.parametrize("system", TABLES)
def test_no_option_is_told_twice(system) -> None:
    named = [plain(name) for several in TABLES[system].sources.values() for source in several for name in source.names]
    assert len(named) == len(set(named)), sorted(name for name in set(named) if named.count(name) > 1)
    assert all(name.startswith("-") for name in named)


def test_a_name_is_the_same_with_both_signs() -> None:
    assert plain("--max_num-seqs") == "--max-num-seqs"
    assert plain("-tp") == "-tp"
