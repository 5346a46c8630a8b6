"""openapi-spec-validator, without its slowest part where there is nothing to find."""

from collections.abc import Callable
from functools import cache
from typing import Any

import jsonschema_rs
from openapi_schema_validator import OAS31Validator, OAS32Validator
from openapi_schema_validator._specifications import REGISTRY
from openapi_spec_validator import OpenAPIV31SpecValidator, OpenAPIV32SpecValidator
from openapi_spec_validator.validation.keywords import OpenAPIV31SchemaValidator, OpenAPIV32SchemaValidator


@cache
def _metaschema(dialect: Any) -> jsonschema_rs.Draft202012Validator:
    resources = [(uri, REGISTRY.contents(uri)) for uri in REGISTRY]
    return jsonschema_rs.Draft202012Validator(
        dialect.META_SCHEMA, registry=jsonschema_rs.Registry(resources), validate_formats=True
    )


class _Schema31(OpenAPIV31SchemaValidator):
    """Holds a schema against OpenAPI's dialect by jsonschema-rs: by jsonschema that is four fifths of the time that a
    document takes. What doesn't hold is shown to jsonschema, whose words the lint says."""

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
