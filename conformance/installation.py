"""The installation method of the package, to install an extra in the same way."""

import json
import shlex
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any
from urllib.parse import unquote, urlsplit


def command(extra: str) -> str:
    """Returns the command that installs an extra from where the package is from."""
    try:
        recorded = distribution("specvino").read_text("direct_url.json")
    except PackageNotFoundError:  # it runs from its source
        recorded = None
    return f"pip install {_requirement(json.loads(recorded) if recorded else None, extra)}"


def _requirement(origin: dict[str, Any] | None, extra: str) -> str:
    """Returns pip's arguments for an origin as PEP 610 records it; None is the package index."""
    name = f"specvino[{extra}]"
    if origin is None:
        return shlex.quote(name)
    url: str = origin["url"]
    within = f"#subdirectory={origin['subdirectory']}" if "subdirectory" in origin else ""
    if version := origin.get("vcs_info"):
        return shlex.quote(f"{name} @ {version['vcs']}+{url}@{version['commit_id']}{within}")
    if not url.startswith("file:"):
        return shlex.quote(f"{name} @ {url}{within}")
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    return editable + shlex.quote(f"{unquote(urlsplit(url).path)}[{extra}]")
