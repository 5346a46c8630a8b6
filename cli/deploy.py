"""`specvino deploy`: the app of `specvino serve` on Ray Serve, in several replicas, on one machine or many."""

import inspect
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from specvino.cli.ending import end, needs
from specvino.cli.serve import app_of, serve
from specvino.cli.serve_options import Insecure

Replicas = Annotated[int, typer.Option(min=1, help="The number of replicas. Each has its own processes.")]

Autoscale = Annotated[
    str | None,
    typer.Option(
        metavar="MIN:MAX",
        help="Scale the number of replicas with the number of running requests, instead of --replicas.",
        show_default=False,
    ),
]

CpusPerReplica = Annotated[
    float, typer.Option(min=0, help="The number of cores that Ray reserves for a replica; with 0 it reserves none.")
]

Address = Annotated[
    str | None,
    typer.Option(
        help="The address of a Ray cluster, or auto for the one that runs on this machine. By default, a local "
        "cluster is started, and stopped when the command ends.",
        show_default=False,
    ),
]

# Options of a server that listens itself; with Ray, the proxies listen.
_OF_A_SERVER = ("host", "port", "max_connections", "metrics_port", "ssl_certfile", "ssl_keyfile")


def _with_options_of_serve(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options of `specvino serve` to a command: Typer reads them from the signature."""
    own = inspect.signature(command).parameters
    theirs = inspect.signature(serve).parameters
    named = [parameter for parameter in own.values() if parameter.kind is not parameter.VAR_KEYWORD]
    shared = [parameter for name, parameter in theirs.items() if name not in own and name not in _OF_A_SERVER]
    parameters = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in (*shared, *named)]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # in typeshed no callable has one
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


@_with_options_of_serve
def deploy(
    replicas: Replicas = 1,
    autoscale: Autoscale = None,
    cpus_per_replica: CpusPerReplica = 1.0,
    address: Address = None,
    host: Annotated[str, typer.Option(help="The address that Ray's HTTP proxies listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port that Ray's HTTP proxies listen on; 0 picks a free one.")
    ] = 8000,
    insecure: Insecure = False,
    **shared: Any,
) -> None:
    """Serve a model in several replicas on Ray Serve.

    The options of `specvino serve` apply to each replica.
    """
    with needs("ray"):
        from pydantic import ValidationError

        from specvino.engine.errors import WrongInput
        from specvino.server.access import ServeError
        from specvino.server.assembly import REFUSALS, OptionError
        from specvino.server.ray import Deployment
        from specvino.server.ray.deploy import deploy as run

    try:
        options = Deployment(replicas=replicas, autoscale=autoscale, cpus_per_replica=cpus_per_replica, **shared)
        if address is None:  # checks the options and pulls the model once, instead of in each replica
            app_of(options)
        run(options, host, port, address, insecure=insecure)
    except ValidationError as error:
        problem = error.errors()[0]
        option = "--" + str(problem["loc"][0]).replace("_", "-") if problem["loc"] else None
        raise typer.BadParameter(problem["msg"].removeprefix("Value error, "), param_hint=option) from None
    except OptionError as error:
        raise typer.BadParameter(str(error), param_hint=error.option) from None
    except WrongInput as error:
        end(str(error))
    except (*REFUSALS, ServeError) as error:
        sys.exit(f"specvino: {error}")
