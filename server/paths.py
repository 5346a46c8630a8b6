"""Paths of requests and the document's paths, which stand below a base path or at the root."""

import re
from functools import cache

from specvino.document.loading import whole
from specvino.document.operations import base_paths


@cache
def pattern(path: str) -> re.Pattern[str]:
    """Returns what matches a whole path of a request for one of the document."""
    return re.compile(f"({_bases()}|)" + re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)))


def below_base(path: str) -> str:
    """Returns a request's path without its base path."""
    return re.sub(f"^({_bases()})/", "/", path)


@cache
def _bases() -> str:
    return "|".join(map(re.escape, sorted(base_paths(whole()), key=len, reverse=True)))
