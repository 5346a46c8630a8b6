"""What requests may ask for, and what is kept of them."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from specvino.cli.dialects import SYSTEMS, known_dialect


class FieldPolicy(StrEnum):
    REPORT = "report"
    REJECT = "reject"
    IGNORE = "ignore"


Dialect = Annotated[
    str | None,
    typer.Option(
        help=f"Speak as another system does, by its document: its paths, defaults, answers, streams and errors. "
        f"{SYSTEMS}. The options of its own server are understood, too: --dialect NAME --help shows them. By default, "
        "the API of this project.",
        callback=known_dialect,
        show_default=False,
    ),
]

UnsupportedFields = Annotated[
    FieldPolicy,
    typer.Option(
        help="What to do with request fields that aren't supported: report them in the header "
        "X-Unsupported-Params, reject the request, or ignore them."
    ),
]

TrustRequestChatTemplate = Annotated[
    bool,
    typer.Option(
        "--trust-request-chat-template",
        help="Let requests bring chat templates of their own. Templates are code: they run in a process of their own, "
        "which may take a second of computing and 512 MB for each.",
    ),
]

MaxTokensLimit = Annotated[
    int | None,
    typer.Option(
        min=1, help="The most tokens that a choice may have; also the default of requests that name no limit."
    ),
]

MaxQueue = Annotated[
    int,
    typer.Option(
        min=0, help="The most requests that may wait while others are answered; further ones get the status 429."
    ),
]

RequestTimeout = Annotated[
    float | None,
    typer.Option(
        min=0.001,
        help="The seconds after which an answer that is not complete ends with an error. By default, none.",
    ),
]

BestOfLimit = Annotated[int, typer.Option(min=1, max=20, help="The largest best_of (beam width) to accept.")]

AllowedMediaDomains = Annotated[
    list[str] | None,
    typer.Option(
        help="A host that images may be downloaded from, or several separated by commas; `all` allows every public "
        "host. Private addresses and redirects are refused. May be repeated. By default, only images in the "
        "request itself are accepted."
    ),
]

AllowedLocalMediaPath = Annotated[
    Path | None,
    typer.Option(
        exists=True, file_okay=False, help="A folder from which requests may name image files, subfolders included."
    ),
]

ResponseStore = Annotated[
    str | None,
    typer.Option(
        help="Where responses are stored for 30 days: the URL of a database (SQLAlchemy, with an asynchronous "
        "driver), or none. By default, a file in the user's data folder.",
        show_default=False,
    ),
]
