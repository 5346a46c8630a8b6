"""A constraint with its field, so that the engine's errors can name the field."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from specvino.engine.errors import ConstraintError
from specvino.engine.request import Constraint, JsonSchema, StructuralTag
from specvino.engine.segments import Started
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError

Path = tuple[str | int, ...]


def _same(path: Path) -> Path:
    return path


@dataclass(frozen=True, slots=True)
class StructuredOutput:
    """A constraint and its field. `within` converts a path in the constraint to a path in the field."""

    constraint: Constraint
    param: str
    within: Callable[[Path], Path] = _same

    def param_of(self, path: Path) -> str:
        """Returns the field at a path in the constraint."""
        return ".".join(map(str, (self.param, *self.within(path))))

    def unenforced(self, started: Started) -> list[str]:
        """Returns the fields that don't constrain the answer."""
        return [self.param_of(path) for path in started.unenforced]

    def refusal(self, error: ConstraintError) -> ApiError:
        """Returns the error for the client for an engine's error about the constraint."""
        param = self.param_of(error.path)
        if error.unsupported:
            return ApiError(
                ErrorCode.UNSUPPORTED_SCHEMA, f"{param} can't be enforced, as strict requires: {error}.", param=param
            )
        return unusable(param, str(error))


def unusable(param: str, reason: str) -> ApiError:
    """Returns the error for an invalid constraint."""
    return ApiError(ErrorCode.INVALID_SCHEMA, f"{param} can't be used: {reason}.", param=param)


def json_object(param: str) -> StructuredOutput:
    """Returns the constraint of any JSON object."""
    return StructuredOutput(JsonSchema({"type": "object"}), param)


def json_schema(schema: Any, param: str, strict: bool) -> StructuredOutput:
    """Returns the constraint to JSON that satisfies a schema."""
    return StructuredOutput(JsonSchema(schema, strict), param)


def of_tag(tag: Mapping[str, Any], param: str, *, strict: bool = False) -> StructuredOutput:
    """Returns the constraint of a structural tag as XGrammar defines it, in its older form too."""
    if "format" not in tag and isinstance(structures := tag.get("structures"), list):
        return of_format(_triggered(structures, tag.get("triggers")), param, strict=strict, within=_within_structures)
    return StructuredOutput(StructuralTag(tag, strict), param)


def of_format(
    format: Mapping[str, Any],
    param: str,
    *,
    strict: bool = False,
    within: Callable[[Path], Path] | None = None,
) -> StructuredOutput:
    """Returns the constraint of a structural tag's format. By default, paths in the format are paths in the field."""
    tag = {"type": "structural_tag", "format": format}
    return StructuredOutput(StructuralTag(tag, strict), param, within or (lambda path: path[1:]))


@contextmanager
def refusals(output: StructuredOutput | None) -> Iterator[None]:
    """Converts an engine's error about the constraint to an ApiError."""
    try:
        yield
    except ConstraintError as error:
        assert output is not None
        raise output.refusal(error) from error


def _triggered(structures: list[Any], triggers: Any) -> dict[str, Any]:
    """Converts the older form to the newer one, like XGrammar 0.1.31 (structural_tag.py)."""
    tags = [
        {
            "type": "tag",
            "begin": structure.get("begin"),
            "content": {"type": "json_schema", "json_schema": structure.get("schema", {})},
            "end": structure.get("end"),
        }
        if isinstance(structure, Mapping)
        else structure
        for structure in structures
    ]
    return {"type": "triggered_tags", "triggers": triggers if isinstance(triggers, list) else [], "tags": tags}


def _within_structures(path: Path) -> Path:
    match path:
        case ("format", "tags", int(index), "content", "json_schema", *rest):
            return ("structures", index, "schema", *rest)
        case ("format", "tags", int(index), *rest):
            return ("structures", index, *rest)
        case ("format", *rest):
            return tuple(rest)
    return path
