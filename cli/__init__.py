"""The `specvino` command: one file per subcommand, each importing what it needs only when it runs."""

from specvino.cli.main import app as main

__all__ = ["main"]
