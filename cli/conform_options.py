"""Options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from specvino.cli.mistakes import suggestion

KEY_VARIABLES = ["SPECVINO_API_KEY", "OPENAI_API_KEY"]


class Profile(StrEnum):
    CORE = "core"
    FULL = "full"


class FailOn(StrEnum):
    MUST = "must"
    SHOULD = "should"


def _clients() -> list[str]:
    from specvino.conformance.clients.profile import all_clients

    return [*all_clients()]


def _known_client(client: str | None) -> str | None:
    if client is not None and client not in (known := _clients()):
        hint = suggestion(client, known, ";")
        raise typer.BadParameter(f"unknown client {client!r}{hint} available: {', '.join(known)}")
    return client


Client = Annotated[
    str | None,
    typer.Option(
        help="Test what this client program relies on, such as codex or langchain, and print whether it is READY, "
        "LIMITED or NOT READY to work with the server. An unknown name lists the known ones.",
        metavar="NAME",
        show_default=False,
        callback=_known_client,
        autocompletion=_clients,
    ),
]
Model = Annotated[
    str | None,
    typer.Option("-m", "--model", help="The model to use. By default, the first one in the server's /models list."),
]
Header = Annotated[
    list[str] | None,
    typer.Option(help="A header to send with every request, as `Name: value`. May be repeated.", show_default=False),
]
CaCert = Annotated[
    Path | None,
    typer.Option(help="A file of CA certificates for verifying the server's certificate, instead of the default ones."),
]
Insecure = Annotated[bool, typer.Option("--insecure", help="Don't verify the server's certificate.")]
Junit = Annotated[Path | None, typer.Option(help="Write a JUnit XML report to this file.")]
Html = Annotated[Path | None, typer.Option(help="Write an HTML report, a self-contained page, to this file.")]
Markdown = Annotated[
    Path | None, typer.Option(help="Write a Markdown summary, for example for a CI job's page, to this file.")
]
Baseline = Annotated[
    Path | None,
    typer.Option(help="A file of accepted findings. Only findings that aren't in it make the run fail."),
]
WriteBaseline = Annotated[Path | None, typer.Option(help="Write the findings to this file as a new baseline.")]
MaxTime = Annotated[float | None, typer.Option(min=1, help="Stop the run after this many seconds.")]
Timeout = Annotated[float, typer.Option(min=0.1, help="The maximum number of seconds for a response.")]
Quiet = Annotated[
    bool, typer.Option("-q", "--quiet", help="Print no human-readable output; use the exit code and the reports.")
]
