"""Evidence for a dialect's statements on a field: addresses of lines in the system's repository."""

from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

from specvino.document import yaml_text
from specvino.document.system_fields import system_name
from specvino.upstream.description import read_fields

Evidence = Callable[[str, str, str], str]
"""Returns the address for an endpoint, a part and a path."""


def evidence(system: str, version: Mapping[str, Any]) -> Evidence:
    """Returns the addresses of the evidence for a system, whose dialect has `version` in its head.

    Where nothing was read, such as of an endpoint that the system lacks, the address is that of the version.
    """
    fields = read_fields(system)
    table = yaml_text.load(
        files("specvino.upstream").joinpath("tables", f"{system_name(system)}.yaml").read_text("utf-8")
    )
    browse, name = table.get("browse"), table.get("version", version["name"])

    source: str = version["source"]
    if browse is None:  # of a system whose sources nobody reads
        return lambda *_: source

    def at(file: str) -> str:
        commit = version.get("commits", {}).get(file, version.get("commit", name))
        url: str = browse.format(version=name, commit=commit, file=file)
        return url

    is_exact = version.get("commit", name) in source
    whole = source if is_exact else at("").replace("/blob/", "/tree/").rstrip("/")

    def address(endpoint: str, part: str, path: str) -> str:
        lines = fields.lines(endpoint, part, path) if fields else None
        if lines is None:
            return whole
        first, _, last = lines.lines.partition("-")
        return at(lines.file) + (f"#L{first}" if first else "") + (f"-L{last}" if last else "")

    return address
