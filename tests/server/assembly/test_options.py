"""The options of a server are those of `specvino serve`."""

import pytest
import typer

from specvino.cli.main import app
from specvino.server.assembly import ServeOptions, make_app
from specvino.server.assembly.options import OptionError

# What only `specvino serve` has: how it listens.
OF_THE_PORT = {"host", "port", "ssl_certfile", "ssl_keyfile", "insecure", "max_connections", "config"}


def test_they_have_the_names_defaults_and_bounds_of_the_command() -> None:
    command = typer.main.get_group(app).commands["serve"]
    options = {param.name: param for param in command.params if param.name not in OF_THE_PORT}
    described = ServeOptions.model_json_schema()["properties"]
    assert options.keys() == described.keys()
    for name, schema in described.items():
        option = options[name]
        assert (option.default or None) == (schema["default"] or None), name
        merged = {key: value for part in (schema, *schema.get("anyOf", ())) for key, value in part.items()}
        assert getattr(option, "min", None) == merged.get("minimum"), name
        assert getattr(option, "max", None) == merged.get("maximum"), name


def test_a_limit_above_the_maximum_of_the_api_is_refused() -> None:
    make_app(ServeOptions(engine="scripted", best_of_limit=20, response_store="none"))
    with pytest.raises(OptionError, match="21 is above 20, the maximum of best_of in the API"):
        make_app(ServeOptions(engine="scripted", best_of_limit=21, response_store="none"))
