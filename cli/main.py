"""Registers the subcommands."""

import signal
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from specvino.cli.chat import chat
from specvino.cli.conform import app as conform
from specvino.cli.deploy import deploy
from specvino.cli.docs import app as docs
from specvino.cli.explain_template import explain_template
from specvino.cli.mistakes import Program
from specvino.cli.models import app as models
from specvino.cli.pull import pull
from specvino.cli.report import report
from specvino.cli.sdk import app as sdk
from specvino.cli.serve import serve
from specvino.cli.settings import leave_known_variables
from specvino.cli.spec import app as spec
from specvino.cli.system_options.command import SystemCommand
from specvino.cli.tune import tune

app = typer.Typer(
    name="specvino",
    cls=Program,
    help="A specification-first, OpenAI-compatible API server for OpenVINO, with a conformance test suite and client "
    "generators.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its boxes hide the invalid value
)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(version("specvino"))
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    # As an exception, so that commands clean up. 128 + 15 is the shell convention for this signal.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for warning in leave_known_variables(context.command):
        typer.echo(f"specvino: warning: {warning}", err=True)


app.command(cls=SystemCommand)(serve)
app.command(cls=SystemCommand)(deploy)
app.command()(chat)
app.command()(pull)
app.command()(explain_template)
app.command()(tune)
app.command()(report)
app.add_typer(models, name="models")
app.add_typer(spec, name="spec")
app.add_typer(conform, name="conform")
app.add_typer(sdk, name="sdk")
app.add_typer(docs, name="docs")
