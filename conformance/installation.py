"""How the package was installed, so that the same can be done with an extra."""

import json
from importlib.metadata import distribution
from typing import Any
from urllib.parse import unquote, urlsplit


def command(extra: str) -> str:
    """Returns the command that installs an extra from where the package is from."""
    recorded = distribution("specvino").read_text("direct_url.json")
    return f"pip install {_requirement(json.loads(recorded) if recorded else None, extra)}"


def _requirement(origin: dict[str, Any] | None, extra: str) -> str:
    """Returns pip's arguments for an origin as PEP 610 records it; None is the package index."""
    if origin is None:
        return f"'specvino[{extra}]'"
    url: str = origin["url"]
    if version := origin.get("vcs_info"):
        return f"'specvino[{extra}] @ {version['vcs']}+{url}@{version['commit_id']}'"
    if not url.startswith("file:"):
        return f"'specvino[{extra}] @ {url}'"
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    return f"{editable}'{unquote(urlsplit(url).path)}[{extra}]'"
