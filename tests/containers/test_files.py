"""The files of `containers/`, by their linters and schemas."""

import re
import subprocess
import sys
from pathlib import Path

import jsonschema_rs
import kubernetes_validate
import pytest
import yaml

ROOT = Path(__file__).parents[2]
CONTAINERS = ROOT / "containers"
PROGRAMS = Path(sys.executable).parent

RAYSERVICE = yaml.safe_load((CONTAINERS / "rayservice.yaml").read_text("utf-8"))
CLUSTER = RAYSERVICE["spec"]["rayClusterConfig"]
(WORKERS,) = CLUSTER["workerGroupSpecs"]
PODS = {"head": CLUSTER["headGroupSpec"]["template"]["spec"], "replica": WORKERS["template"]["spec"]}


def test_the_containerfile_has_nothing_to_complain_of() -> None:
    run = subprocess.run([PROGRAMS / "hadolint", CONTAINERS / "Containerfile"], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "")


def test_the_compose_file_fits_its_schema() -> None:
    check = [str(PROGRAMS / "check-jsonschema"), "--builtin-schema", "vendor.compose-spec"]
    run = subprocess.run([*check, str(CONTAINERS / "compose.yaml")], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


def test_the_rayservice_fits_its_schema() -> None:
    schema = yaml.safe_load(Path(__file__).with_name("rayservice_schema.yaml").read_text("utf-8"))
    assert [error.message for error in jsonschema_rs.validator_for(schema).iter_errors(RAYSERVICE)] == []


@pytest.mark.parametrize("name", PODS)
def test_pods_fit_the_schema_of_kubernetes(name: str) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": PODS[name]}
    kubernetes_validate.validate(pod, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize("name", PODS)
def test_pods_mount_what_they_have_and_run_as_nobody_special(name: str) -> None:
    spec = PODS[name]
    (container,) = spec["containers"]
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in spec["volumes"]}
    assert spec["securityContext"]["runAsNonRoot"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_the_replicas_of_the_application_have_pods() -> None:
    (application,) = yaml.safe_load(RAYSERVICE["spec"]["serveConfigV2"])["applications"]
    assert application["args"]["autoscale"] == f"{WORKERS['minReplicas']}:{WORKERS['maxReplicas']}"
    (container,) = WORKERS["template"]["spec"]["containers"]
    # One for each pod, with a core for Ray's proxy and its own processes.
    cores = int(container["resources"]["limits"]["cpu"])
    assert cores / 2 < application["args"]["cpus_per_replica"] < cores


def test_versions_are_those_that_are_tested() -> None:
    extra = re.search(r'"ray\[serve\]>=([0-9.]+),', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert extra
    assert CLUSTER["rayVersion"].startswith(f"{extra[1]}.")
    (head,) = CLUSTER["headGroupSpec"]["template"]["spec"]["containers"]
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert version
    assert head["image"].endswith(f"/specvino:{version[1]}-ray")


def test_the_context_has_what_the_wheel_is_built_of() -> None:
    """And nothing else: a folder of `packages` that were missing would break the image, a secret would be in it."""
    listed = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    kept = {line.removeprefix("!") for line in listed if line.startswith("!")}
    folders = re.findall(r'^"specvino\.\w+" = "(\w+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert listed[1] == "*"
    assert kept == {*folders, "LICENSE", "README.md", "constraints.txt", "pyproject.toml"}
