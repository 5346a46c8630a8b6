"""Connexion (3.3) validates the routes of each app several times, for 0.13 s of CPU time. The hundreds of apps of the
tests have few different routes, each of which is validated once."""

import json
from typing import Any

from connexion.spec import OpenAPISpecification

_validate = OpenAPISpecification._validate_spec
_valid: set[str] = set()


def _once(routes: dict[str, Any]) -> None:
    text = json.dumps(routes, sort_keys=True)
    if text not in _valid:
        _validate(routes)
        _valid.add(text)


OpenAPISpecification._validate_spec = staticmethod(_once)
