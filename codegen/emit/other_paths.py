"""Paths of other systems' operations that a parameter in a path of ours would match."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from specvino.document.operations import base_paths, operations


def other_paths(document: Mapping[str, Any], dialects: Collection[Mapping[str, Any]]) -> list[str]:
    """Returns them without base paths, such as `/responses/compact`, which `/responses/{response_id}` matches."""
    declared = {operation.path for operation in operations(document)}
    ours = [re.compile(re.sub(r"\\{\w+\\}", ".+", re.escape(path))) for path in declared if "{" in path]
    bases = {*base_paths(document), *(base for dialect in dialects for base in dialect["base_paths"])}
    theirs = {
        re.sub(f"^({'|'.join(map(re.escape, sorted(bases, key=len, reverse=True)))})/", "/", path)
        for dialect in dialects
        for operation in dialect.get("other_operations", ())
        for path in operation["path"].split(", ")
    }
    literal = {path for path in theirs if re.fullmatch(r"(/[\w.-]+)+", path)}
    return sorted(path for path in literal - declared if any(each.fullmatch(path) for each in ours))
