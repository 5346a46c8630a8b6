"""The Ray Serve application."""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator
from ray import serve
from ray.serve import Application
from ray.serve.config import AutoscalingConfig, BackpressureConfig, RequestRouterConfig
from ray.serve.schema import LoggingConfig

from specvino.server.assembly import ServeOptions
from specvino.server.assembly.storage import is_of_one_machine
from specvino.server.ray.replica import Replica

# By name, since it is an optional part of Ray that imports a library when it is used.
ROUTER = "ray.serve.experimental.consistent_hash_router.ConsistentHashRouter"

NAME = "specvino"


class Deployment(ServeOptions):
    """The options of `specvino serve` except those of its port, and the number of replicas: `replicas`, or `autoscale`
    as "MIN:MAX"."""

    replicas: Annotated[int, Field(ge=1)] = 1
    autoscale: Annotated[str, Field(pattern=r"^\d+:[1-9]\d*$")] | None = None
    cpus_per_replica: Annotated[float, Field(ge=0)] = 1

    @model_validator(mode="after")
    def _can_be_run(self) -> Self:
        least, most = self.bounds
        if least > most:
            raise ValueError(f"autoscale is MIN:MAX, but in {self.autoscale} MIN is greater than MAX")
        if self.metrics_port is not None:
            raise ValueError("metrics_port isn't supported: replicas on one machine can't share a port")
        if most > 1 and is_of_one_machine(self.response_store):
            raise ValueError(
                "with more than one replica, response_store must be a database that all of them can reach, such as "
                "postgresql+asyncpg://…, or none"
            )
        return self

    @property
    def bounds(self) -> tuple[int, int]:
        """The minimum and the maximum number of replicas."""
        if self.autoscale is None:
            return self.replicas, self.replicas
        least, most = map(int, self.autoscale.split(":"))
        return least, most


def app(options: Deployment) -> Application:
    """Returns the application. Ray calls it with the arguments of `serve run` or of a configuration file."""
    own = ServeOptions.model_validate(options.model_dump(include=set(ServeOptions.model_fields)))
    deployment = serve.deployment(
        Replica,
        name=NAME,
        max_ongoing_requests=options.max_num_seqs,
        max_queued_requests=options.max_queue,
        backpressure_config=BackpressureConfig(status_code=429, retry_after_s=1),
        request_router_config=RequestRouterConfig(request_router_class=ROUTER),
        logging_config=LoggingConfig(log_level="WARNING", enable_access_log=False),  # ours has more fields
        max_constructor_retry_count=3,  # a model that can't be loaded won't load on a retry, either
        graceful_shutdown_timeout_s=options.shutdown_timeout,
        ray_actor_options={"num_cpus": options.cpus_per_replica},
        **_how_many(options),
    )
    return deployment.bind(own)


def _how_many(options: Deployment) -> dict[str, Any]:
    if options.autoscale is None:
        return {"num_replicas": options.replicas}
    least, most = options.bounds
    # Half of a replica's capacity: the others have room while a new one starts.
    target = max(1, options.max_num_seqs // 2)
    return {
        "autoscaling_config": AutoscalingConfig(min_replicas=least, max_replicas=most, target_ongoing_requests=target)
    }
