"""What is said of the whole command line, when each option is read."""

import json
from collections.abc import Mapping
from pathlib import Path

from specvino.cli.system_options.said import Given, OptionError, Own, Read
from specvino.cli.system_options.table import MODEL, Table
from specvino.cli.system_options.values import object_of_json

NAME = "--served-model-name"

PLUGIN_CONFIG = "--plugin-config"


def finish(said: Read, table: Table, own: Mapping[str, Own]) -> None:
    """Names the model, finds it, and joins the plugin's properties. Raises OptionError where options contradict each
    other."""
    _name_model(said, table)
    _find_model(said)
    _check(said, own)
    _join_properties(said)


def _name_model(said: Read, table: Table) -> None:
    """Gives the model the name that the system would give it, unless it has one."""
    model = next((each for each in said.given if each.option == MODEL), None)
    named = any(each.option in (NAME, "--model") for each in said.given)
    if model and model.under in table.named_as_given and not named:
        said.given.append(Given(NAME, model.value, model.under))


def _find_model(said: Read) -> None:
    """Takes the model from a folder of models, if it is in it."""
    for name, folder in said.folders:
        places = {each: Path(folder) / each.value for each in said.given if each.option == MODEL and each.value}
        found = {each: path for each, path in places.items() if path.is_dir()}
        if not found:
            said.have_no_effect(f"{name} {folder}", "the model isn't in it, and models of the hub have a cache.")
        said.given = [Given(MODEL, str(found[each]), each.under) if each in found else each for each in said.given]


def _check(said: Read, own: Mapping[str, Own]) -> None:
    """Raises OptionError where an option was given under several names with different values."""
    single = [each for each in said.given if each.option == MODEL or not own[each.option].repeatable]
    for each in single:
        for other in single:
            if other.option == each.option and other.under != each.under and other.value != each.value:
                raise OptionError(f"{each.under} {each.value} and {other.under} {other.value} say different things")


def _join_properties(said: Read) -> None:
    """Puts properties that have options of their own to those of --plugin-config."""
    if not said.properties:
        return
    for each in said.given:
        if each.option == PLUGIN_CONFIG:
            for name, value in object_of_json(each.under, each.value or "").items():
                said.have_property(name, value, each.under)
    joined = {name: property.value for name, property in said.properties.items()}
    said.given = [each for each in said.given if each.option != PLUGIN_CONFIG]
    said.given.append(Given(PLUGIN_CONFIG, json.dumps(joined), PLUGIN_CONFIG))
