"""The fields of requests that the model of a run refuses, and what is sent instead."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from specvino.conformance.dialect import Dialect


@dataclass(frozen=True, slots=True)
class RefusedFields:
    """`instead` are the fields, with the field that is sent instead; None if they are left out."""

    dialect: Dialect
    instead: Mapping[str, str | None]

    def named_in(self, path: str, body: Any) -> dict[str, str | None]:
        """Returns the refused fields of a body for a path. Fields with values that no model accepts aren't among
        them."""
        fields = self.dialect.fields(path.partition("?")[0])
        return {
            name: instead
            for name, instead in self._of(fields)
            if isinstance(body, Mapping) and name in body and self.dialect.validator(fields[name]).fits(body[name])
        }

    def replaced(self, path: str, body: Any) -> Any:
        """Returns a body without refused fields."""
        for name, instead in self.named_in(path, body).items():
            others = {other: value for other, value in body.items() if other != name}
            body = others if instead is None else {instead: body[name], **others}
        return body

    def replaced_alike(self, endpoint: str, body: Any) -> Any:
        """Returns a body of an endpoint as `replaced` does, but unchanged if a valid body would become invalid, or an
        invalid one valid."""
        replaced = self.replaced(self.dialect.operations[endpoint].path, body)
        accepts = self.dialect.accepts
        return replaced if replaced == body or accepts(endpoint, replaced) == accepts(endpoint, body) else body

    def replaced_text(self, path: str, content: bytes) -> bytes:
        """Returns the text of a body, which may not be JSON, with the names of fields that are sent instead."""
        for name, instead in self._of(self.dialect.fields(path.partition("?")[0])):
            if instead is not None:
                content = content.replace(f'"{name}":'.encode(), f'"{instead}":'.encode())
        return content

    def _of(self, fields: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
        for name, instead in self.instead.items():
            if name in fields and (instead is None or instead in fields):
                yield name, instead
