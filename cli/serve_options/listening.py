"""Where the server listens, and who may come in."""

from pathlib import Path
from typing import Annotated

import typer

Host = Annotated[
    str,
    typer.Option(help="The address to listen on. One that other machines can reach needs API keys, or --insecure."),
]

Port = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=65535,
        help="The port to listen on; 0 picks a free one. By default 8000, or that of --dialect's system.",
        show_default=False,
    ),
]

ApiKeyFile = Annotated[
    Path | None,
    typer.Option(
        help="A file of API keys, one per line; lines that begin with # are comments. By default, the environment "
        "variable SPECVINO_API_KEY."
    ),
]

Insecure = Annotated[
    bool, typer.Option("--insecure", help="Let everybody who can reach --host use the server without an API key.")
]

AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        help="A name that clients may call the server by (the Host header), such as api.example.com or "
        "*.example.com, or several separated by commas; `*` allows every name. May be repeated. IP addresses, "
        "names without a dot, and those below .localhost, .local, .internal and .home.arpa are always allowed. By "
        "default, every other name is refused if the server has no API keys, else allowed."
    ),
]

AllowedOrigins = Annotated[
    list[str] | None,
    typer.Option(
        help="An origin whose web pages may use the server (CORS), such as https://example.com, or several "
        "separated by commas; `*` allows every origin. May be repeated. By default, no other origin is allowed."
    ),
]

MaxConnections = Annotated[
    int,
    typer.Option(
        min=1,
        help="The most connections at a time. Beyond them the one that has waited longest without a request is "
        "closed; if there is none, the new one gets the status 503.",
    ),
]

MaxBody = Annotated[
    int,
    typer.Option(
        min=1,
        help="The largest request body to accept, in bytes. It may have a name, object or list for each 256 of "
        "them, and an element for each 64.",
    ),
]

ShutdownTimeout = Annotated[
    int,
    typer.Option(
        min=0,
        help="How long requests under way may take to end after SIGTERM or Ctrl-C, in seconds; new ones are "
        "refused meanwhile.",
    ),
]
