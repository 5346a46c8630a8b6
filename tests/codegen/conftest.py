"""The real specification, to read and to break."""

import copy
import pickle
from pathlib import Path

import pytest

from specvino.codegen.exchanged import sent
from specvino.codegen.fields import parts
from specvino.codegen.merge import merge_support
from specvino.codegen.project import drop_unreached
from specvino.codegen.spec import Spec, read
from specvino.document.walk import objects

ROOT = Path(__file__).parents[2]

KEPT = {"/chat/completions", "/models", "/models/{model}", "/health", "/version"}

# The rules treat all systems alike; the files of the others are judged by `tox run -e spec`.
SYSTEMS = {"openai", "ovms", "vllm"}


@pytest.fixture(scope="session")
def real() -> Spec:
    """Read once; not to be changed."""
    return read(ROOT / "openapi")


def _keep_conditions(source, endpoints) -> None:
    kept = source["conditions"]
    for name in [name for name, condition in kept.items() if not endpoints & {*condition["endpoints"]}]:
        del kept[name]
    for condition in kept.values():
        for key in {"endpoints", "schema"} & condition.keys():
            condition[key] = [endpoint for endpoint in condition[key] if endpoint in endpoints]


@pytest.fixture(scope="session")
def small(real: Spec) -> Spec:
    """The part of it with chat alone beside the models and the service, quick to judge; not to be changed."""
    part = copy.deepcopy(real)
    for path in part.document["paths"].keys() - KEPT:
        del part.document["paths"][path]
    drop_unreached(part.document)
    for name in part.document["components"]["schemas"].keys() - sent(part.document):
        for child in part.document["components"]["schemas"][name].get("properties", {}).values():
            child.pop("x-emit", None)  # it was for an answer that is gone
    part.sources.clear()
    for described in (part.dialects, part.versions):
        for name in [name for name in described if name.partition("@")[0] not in SYSTEMS]:
            del described[name]
    part.vocabulary["$defs"]["system"]["enum"] = list(part.dialects)
    endpoints = {endpoint for endpoint, _ in parts(part.document)}
    _keep_conditions(part.conditions, endpoints)
    for dialect in [*part.dialects.values(), *part.versions.values()]:
        heads = (dialect["stream"], dialect["errors"].get("at", {}), dialect.get("rules", {}))
        for about in (dialect["fields"], *heads):
            for name in about.keys() - endpoints:
                del about[name]
        for head, key in ((dialect["auth"], "open"), (dialect, "at_root"), (dialect, "websockets")):
            named = [name for name in head.pop(key, ()) if name in endpoints]
            if named:
                head[key] = named
        for operation in dialect.get("other_operations", ()):
            if operation.get("served_by") not in endpoints:
                operation.pop("served_by", None)
                operation.pop("by_status", None)
    for _, schema in objects(part.document):
        schema.pop("x-support", None)
    merge_support(part.document, part.dialects)
    return part


@pytest.fixture(scope="session")
def pickled(small: Spec) -> bytes:
    """`small`, of which a copy takes a sixth of the time that deepcopy needs."""
    return pickle.dumps(small)


@pytest.fixture
def spec(pickled: bytes) -> Spec:
    """A copy of the test's own."""
    copied = pickle.loads(pickled)
    assert isinstance(copied, Spec)
    return copied


@pytest.fixture
def schemas(spec):
    """The component schemas of `spec`."""
    return spec.document["components"]["schemas"]


@pytest.fixture
def request_fields(schemas):
    """The properties of a chat request in `spec`."""
    return schemas["CreateChatCompletionRequest"]["properties"]


@pytest.fixture
def chat(spec):
    """The chat operation of `spec`."""
    return spec.document["paths"]["/chat/completions"]["post"]
