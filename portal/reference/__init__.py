"""The API reference: one HTML page and its assets, shown by Scalar without requests to other hosts.

The portal has a page for each system, and the server one of its own; so it needs the standard library only.
"""

import json
import lzma
from importlib.resources import files
from typing import Any

SCRIPT = "scalar.js"

ASSETS = ("page.js", "page.css", "icon.svg")

HERE = files("specvino.portal.reference")


def script() -> bytes:
    """Returns Scalar, which a wheel has compressed (`setup.py`)."""
    packed = HERE / f"{SCRIPT}.xz"
    return lzma.decompress(packed.read_bytes()) if packed.is_file() else (HERE / SCRIPT).read_bytes()


def page(title: str, folder: str, document: dict[str, Any], *, sends: bool = False) -> str:
    """Returns the HTML with the document inside, so that it opens from the disk as well. `folder` is the address of the
    assets' folder with a trailing slash, or empty. A page that `sends` can send requests to the document's server."""
    # A document may have </script> in it, or <!--<script>, after which the end of a script isn't one.
    text = json.dumps(_readable(document)).replace("<", "\\u003c")
    html = HERE.joinpath("page.html").read_text("utf-8")
    html = html.replace("SENDS", str(sends).lower())
    return html.replace("TITLE", title).replace("FOLDER", folder).replace("DOCUMENT", text)


def _readable(document: dict[str, Any]) -> dict[str, Any]:
    """Returns the document with the events of streams where Scalar looks for them: it supports neither x-itemSchema nor
    JSON within a text."""
    with_events: dict[str, Any] = _with_events(document)
    return with_events | {"openapi": "3.2.0"}


def _with_events(node: Any) -> Any:
    if isinstance(node, list):
        return [_with_events(child) for child in node]
    if not isinstance(node, dict):
        return node
    if "contentSchema" in node:
        return _with_events(node["contentSchema"])
    if "anyOf" in node:  # of a union it shows the first branch
        node = node | {"anyOf": sorted(node["anyOf"], key=lambda branch: "contentSchema" not in branch)}
    if "x-itemSchema" in node:
        node = {key: value for key, value in node.items() if key != "schema"} | {"itemSchema": node["x-itemSchema"]}
    return {key: _with_events(value) for key, value in node.items()}
