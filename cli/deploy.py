"""`specvino deploy`: the app of `specvino serve` on Ray Serve, in several replicas, on one machine or many."""

import inspect
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from specvino.cli.ending import needs
from specvino.cli.serve import app_of, serve
from specvino.cli.serve_options import Insecure

Replicas = Annotated[int, typer.Option(min=1, help="How many replicas there are, each with processes of its own.")]

Autoscale = Annotated[
    str | None,
    typer.Option(
        metavar="MIN:MAX",
        help="Have as many replicas as there is work for, by the requests under way; in place of --replicas.",
        show_default=False,
    ),
]

CpusPerReplica = Annotated[
    float, typer.Option(min=0, help="The cores that Ray sets aside for a replica; with 0 it places replicas anywhere.")
]

Address = Annotated[
    str | None,
    typer.Option(
        help="The address of a Ray cluster, or auto for the one of this machine. By default, one is started for as "
        "long as the command runs.",
        show_default=False,
    ),
]

# What a process that listens itself has; Ray's proxies listen here.
_OF_A_SERVER = ("host", "port", "max_connections", "metrics_port")


def _with_options_of_serve(command: Callable[..., None]) -> Callable[..., None]:
    """Lets a command take the options of `specvino serve`, too: typer reads them off the signature."""
    own = inspect.signature(command).parameters
    theirs = inspect.signature(serve).parameters
    named = [each for each in own.values() if each.kind is not each.VAR_KEYWORD]
    shared = [each for name, each in theirs.items() if name not in own and name not in _OF_A_SERVER]
    parameters = [each.replace(kind=each.KEYWORD_ONLY) for each in (*shared, *named)]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # in typeshed no callable has one
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


@_with_options_of_serve
def deploy(
    replicas: Replicas = 1,
    autoscale: Autoscale = None,
    cpus_per_replica: CpusPerReplica = 1.0,
    address: Address = None,
    host: Annotated[str, typer.Option(help="The address that Ray's proxies listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port that Ray's proxies listen on; 0 picks a free one.")
    ] = 8000,
    insecure: Insecure = False,
    **said: Any,
) -> None:
    """Serve a model in several replicas, on Ray Serve."""
    with needs("ray"):
        from pydantic import ValidationError

        from specvino.server.access import ServeError
        from specvino.server.assembly import REFUSALS, OptionError
        from specvino.server.ray import Deployment
        from specvino.server.ray.deploy import deploy as run

    try:
        options = Deployment(replicas=replicas, autoscale=autoscale, cpus_per_replica=cpus_per_replica, **said)
        if address is None:  # what is wrong is told now, and the model pulled once: the replicas would all try
            app_of(options)
        run(options, host, port, address, insecure=insecure)
    except ValidationError as error:
        found = error.errors()[0]
        option = "--" + str(found["loc"][0]).replace("_", "-") if found["loc"] else None
        raise typer.BadParameter(found["msg"].removeprefix("Value error, "), param_hint=option) from None
    except OptionError as error:
        raise typer.BadParameter(str(error), param_hint=error.option) from None
    except (*REFUSALS, ServeError) as error:
        sys.exit(f"specvino: {error}")
