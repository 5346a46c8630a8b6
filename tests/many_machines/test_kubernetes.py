"""The RayService's application is one that Ray and this project take."""

from pathlib import Path

import yaml
from ray.serve.schema import ServeDeploySchema

from specvino.server.ray import Deployment, proxy

ROOT = Path(__file__).parents[2]


def test_the_application_of_the_rayservice() -> None:
    spec = yaml.safe_load((ROOT / "containers" / "rayservice.yaml").read_text("utf-8"))["spec"]
    (application,) = ServeDeploySchema.model_validate(yaml.safe_load(spec["serveConfigV2"])).applications
    assert application.import_path == "specvino.server.ray:app"
    options = Deployment.model_validate(application.args)
    assert options.bounds == (2, 8)
    cluster = spec["rayClusterConfig"]
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        (container,) = group["template"]["spec"]["containers"]
        path = {variable["name"]: variable.get("value") for variable in container["env"]}[proxy.CALLBACK]
        assert path == f"{proxy.__name__}.{proxy.middlewares.__name__}"
