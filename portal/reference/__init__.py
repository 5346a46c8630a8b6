"""The API reference: one HTML page and the files that it needs, shown by Scalar without asking any other host.

The portal has a page for each system, and the served process one of its own; so it needs the standard library only."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

ASSETS = ("scalar.js", "page.js", "page.css", "icon.svg")

SYSTEMS = {"openai": "OpenAI", "ovms": "OVMS", "vllm": "vLLM", "mlc-llm": "MLC-LLM", "fastdeploy": "FastDeploy"}
"""The systems that the document compares, with the names that readers see."""

HERE = files("specvino.portal.reference")


def page(title: str, folder: str, settings: Mapping[str, Any]) -> str:
    """The HTML. `folder` is the address of the folder of assets, with a slash at its end, or empty. `settings` are
    Scalar's: which document is shown."""
    # A document may have </script> in it.
    text = json.dumps(settings, ensure_ascii=False).replace("</", "<\\/")
    html = HERE.joinpath("page.html").read_text("utf-8")
    return html.replace("TITLE", title).replace("FOLDER", folder).replace("SETTINGS", text)
