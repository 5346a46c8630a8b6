"""`python -m specvino.cli`: the same as the command `specvino`."""

from specvino.cli.main import app

app()
