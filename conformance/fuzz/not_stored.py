"""Tells Schemathesis that a response with `store: false` can't be read, cancelled or deleted later."""

import contextlib
import json
from collections.abc import Mapping
from typing import Any

from schemathesis import Case, HookContext, Response
from schemathesis.core.failures import Failure
from schemathesis.openapi.checks import EnsureResourceAvailability


class NotStored:
    """Drops the failure of a link that leads to a response which was not to be stored.

    `after_call` and `filter_failure` are hooks of Schemathesis. Links are followed from every created response, since
    OpenAPI has no condition for them.
    """

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def after_call(self, context: HookContext, case: Case[Any], response: Response) -> None:
        if isinstance(case.body, Mapping) and case.body.get("store") is False:
            with contextlib.suppress(ValueError, TypeError, KeyError):  # a stream or an error, from which no link leads
                self._ids.add(str(json.loads(response.content)["id"]))

    def filter_failure(self, context: HookContext, failure: Failure, case: Case[Any], response: Response) -> bool:
        """Returns whether the failure stays."""
        return not isinstance(failure, EnsureResourceAvailability) or not self._ids.intersection(
            (case.path_parameters or {}).values()
        )
