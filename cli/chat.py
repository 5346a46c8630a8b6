"""`specvino chat`: a conversation with a model in the terminal."""

import contextlib
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from specvino.cli.conform_options import CaCert
from specvino.cli.ending import end

_HERE = "http://127.0.0.1:8000/v1"


def chat(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL|URL|-",
            help="A model, given as to `specvino serve`, which is served for this session; or the URL of a running "
            f"server. By default, the server at {_HERE}, or smollm2 if none runs there. With -, or if stdin isn't a "
            "terminal, stdin is one message, and the answer alone is printed.",
        ),
    ] = None,
    stdin: Annotated[
        str | None, typer.Argument(metavar="-", help="Read the message from stdin, after MODEL or URL.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="The model's name, if the server has several. By default, its first one.")
    ] = None,
    system: Annotated[str | None, typer.Option(help="The system message.")] = None,
    image: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help="An image to send with the first message; may be repeated."),
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option("--api-key", envvar="SPECVINO_API_KEY", help="The API key, sent as a bearer token."),
    ] = None,
    cacert: CaCert = None,
) -> None:
    """Chat with a model in the terminal. /help lists the commands there."""
    # Only here: httpx and rich's Markdown take a tenth of a second, which no other command has to spend.
    from specvino.cli.chat_endpoint import ChatError, Endpoint
    from specvino.cli.chat_session import Session

    if stdin not in (None, "-"):
        end(f"a message is typed, or read from stdin, as in `echo {shlex.quote(stdin)} | specvino chat {target} -`")
    is_piped = "-" in (target, stdin) or not sys.stdin.isatty()
    target = None if target == "-" else target
    message = sys.stdin.read().strip() if is_piped else ""
    if is_piped and not message:
        end("stdin has no message")
    try:
        with _base_url(target) as url, Endpoint(url, api_key, cacert) as endpoint:
            session = Session(endpoint, model, system, image or ())
            if is_piped:
                session.print_answer(message)
            else:
                session.talk()
    except ChatError as error:
        end(str(error))


@contextlib.contextmanager
def _base_url(target: str | None) -> Iterator[str]:
    if target and urlsplit(target).scheme in ("http", "https"):
        yield f"{target.rstrip('/')}/v1" if urlsplit(target).path in ("", "/") else target
    elif target is None and _runs(_HERE):
        yield _HERE
    else:
        from specvino.cli.chat_server import serving

        with serving(target) as url:
            yield url


def _runs(url: str) -> bool:
    import httpx

    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(f"{url}/models", timeout=2).status_code in (200, 401)
    return False
