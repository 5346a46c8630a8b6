"""The documents are valid OpenAPI, their schemas are valid JSON Schema 2020-12, and no key is unknown."""

import shlex
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import jsonschema_rs
from openapi_schema_validator import OAS31Validator, OAS32Validator
from openapi_schema_validator._specifications import REGISTRY
from openapi_spec_validator import OpenAPIV31SpecValidator, OpenAPIV32SpecValidator
from openapi_spec_validator.validation.keywords import OpenAPIV31SchemaValidator, OpenAPIV32SchemaValidator

from specvino.codegen.lint import rows, support
from specvino.codegen.lint.problem import Problem
from specvino.codegen.lint.vocabulary import placed_in, words
from specvino.codegen.project import examples
from specvino.codegen.spec import Spec
from specvino.document import transforms
from specvino.document.operations import Schema, operations
from specvino.document.validator import Validators
from specvino.document.walk import LIST, NAMED, ONE, all_schemas, media_types

KEYWORDS = frozenset(
    shlex.split("""
    $ref $defs $comment title description default examples deprecated readOnly writeOnly type const enum format
    allOf anyOf oneOf not if then else discriminator
    properties patternProperties additionalProperties unevaluatedProperties propertyNames required
    minProperties maxProperties dependentRequired dependentSchemas
    items prefixItems unevaluatedItems contains minContains maxContains minItems maxItems uniqueItems
    minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
    minLength maxLength pattern contentMediaType contentEncoding contentSchema
    """)
)


def openapi(spec: Spec) -> Iterator[Problem]:
    """openapi-spec-validator 0.8.5 accepts both versions; it doesn't check the schemas of events (decision 043)."""
    judgements: list[tuple[str, Any, dict[str, Any]]] = [
        ("3.2", Validator32, spec.document),
        ("3.1", Validator31, transforms.to_31(spec.document)),
    ]
    for version, validator, document in judgements:
        yield from _invalid(version, validator(document))


def dialects(spec: Spec) -> Iterator[Problem]:
    """The document projected for each system is valid too, its examples fit, and no note or row contradicts it."""
    for system, dialect in {**spec.dialects, **spec.versions}.items():
        projected = spec.projected[system]
        yield from _invalid(system, Validator31(projected))
        yield from placed_in(projected, spec.vocabulary)
        yield from support.denied(system, dialect, projected)
        yield from rows.contradicted(system, dialect, projected)
        for operation in operations(projected):
            if "x-stream" in operation.definition:
                for fault in words(spec.vocabulary, operation.definition["x-stream"]):
                    yield Problem("x-stream", f"{system}: {operation.label} x-stream", fault)
        validators = Validators(projected)
        for location, schema, value in examples(projected):
            for fault in validators.of(schema).violations(value):
                yield Problem("examples", f"{system}: {location}", fault)
        for location, schema in all_schemas(projected):
            for fault in validators.of(schema).violations(schema["default"]) if "default" in schema else ():
                yield Problem("default", f"{system}: {location}", fault)


def schemas(spec: Spec) -> Iterator[Problem]:
    """Every schema is valid and has known keywords only, including those that openapi-spec-validator doesn't check."""
    for location, schema in _with_supported_values(spec.document):
        yield from _keywords(location, schema)
        try:
            # Each keyword is checked separately, so that the location is the innermost one.
            jsonschema_rs.meta.validate({key: value for key, value in schema.items() if key in KEYWORDS})
        except jsonschema_rs.ValidationError as error:
            if not _inner(error.instance_path):
                path = "/".join(map(str, error.instance_path))
                yield Problem("schema", f"{location} {path}", _short(error.message))
        if isinstance(pattern := schema.get("pattern"), str):
            try:
                jsonschema_rs.Draft202012Validator({"pattern": pattern})
            except (jsonschema_rs.ValidationError, ValueError) as error:
                yield Problem("schema", f"{location} pattern", _short(str(error)))


def _invalid(version: str, validator: Any) -> Iterator[Problem]:
    for error in validator.iter_errors():
        location = "/".join(str(step) for step in error.absolute_path) or "the document"
        # The lines after the first print the instance.
        yield Problem("openapi", f"{version}: {location}", error.message.splitlines()[0])


def _with_supported_values(document: dict[str, Any]) -> Iterator[tuple[str, Schema]]:
    for location, schema in all_schemas(document):
        yield location, schema
        if isinstance(schema.get("x-supported-values"), dict):
            yield f"{location} x-supported-values", schema["x-supported-values"]
    for operation in operations(document):
        for parameter in operation.parameters:
            if isinstance(parameter.get("x-supported-values"), dict):
                location = f"{operation.label} parameter {parameter['name']} x-supported-values"
                yield location, parameter["x-supported-values"]


def _keywords(location: str, schema: Schema) -> Iterator[Problem]:
    for key, value in schema.items():
        if key in KEYWORDS or key.startswith("x-"):
            continue
        if value is None:
            fault = f"{key!r} is a key without a value: a text with a comma needs quotes inside {{…}}"
        else:
            fault = f"{key!r} is not a keyword of JSON Schema"
        yield Problem("schema", location, fault)


def _inner(path: list[Any]) -> bool:
    """Returns whether an error is in a nested schema, which is checked separately."""
    return len(path) > 1 and (path[0] in ONE or (len(path) > 2 and path[0] in (*LIST, *NAMED)))


def _short(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= 300 else f"{line[:300]}…"


@cache
def _metaschema(dialect: Any) -> jsonschema_rs.Draft202012Validator:
    resources = [(uri, REGISTRY.contents(uri)) for uri in REGISTRY]
    return jsonschema_rs.Draft202012Validator(
        dialect.META_SCHEMA, registry=jsonschema_rs.Registry(resources), validate_formats=True
    )


class _Schema31(OpenAPIV31SchemaValidator):
    """Validates a schema against OpenAPI's dialect by jsonschema-rs, because jsonschema takes four fifths of the time
    that a document needs. Only what is invalid is passed to jsonschema, whose messages the lint shows."""

    dialect: Any = OAS31Validator

    def _get_schema_checker(self, schema: Any, schema_value: Any) -> Callable[[Any], None]:
        of_another = isinstance(schema_value, dict) and "$schema" in schema_value
        if not of_another and _metaschema(self.dialect).is_valid(schema_value):
            return lambda value: None
        return super()._get_schema_checker(schema, schema_value)


class _Schema32(_Schema31, OpenAPIV32SchemaValidator):
    dialect = OAS32Validator


class Validator31(OpenAPIV31SpecValidator):
    keyword_validators = {**OpenAPIV31SpecValidator.keyword_validators, "schema": _Schema31}  # noqa: RUF012 - as its base has it


class Validator32(OpenAPIV32SpecValidator):
    keyword_validators = {**OpenAPIV32SpecValidator.keyword_validators, "schema": _Schema32}  # noqa: RUF012 - as its base has it


PER_REQUEST = 3


def enough(spec: Spec) -> Iterator[Problem]:
    """There are three examples per request body and one per JSON answer. (Those of streams: see streams.py.)"""
    for location, media in media_types(spec.document):
        count = PER_REQUEST if " request " in location else 1
        if "itemSchema" not in media and len(media.get("examples", {})) < count:
            yield Problem("examples", location, f"has {len(media.get('examples', {}))} examples, but needs {count}")


def valid(spec: Spec) -> Iterator[Problem]:
    """Each example fits its schema, formats included; in particular, no value is in two branches of a oneOf."""
    validators = Validators(spec.document)
    for location, schema, value in examples(spec.document):
        for fault in validators.of(schema).violations(value):
            yield Problem("examples", location, fault)
