"""Log lines about a request whose process was lost: its id, the kind of its input, and versions; never a text."""

import logging
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from specvino.engine.protocol import REQUEST

log = logging.getLogger(__name__)

_PACKAGES = ("specvino", "openvino", "openvino-genai", "openvino-tokenizers")


def log_lost(process: str, kind: str, request: str | None = None) -> None:
    """Logs that a process was lost while it worked on a request, by default the current one."""
    log.warning(
        "request %s was lost with the %s process: %s; %s", request or REQUEST.get() or "-", process, kind, versions()
    )


@cache
def versions() -> str:
    """Returns the versions of what runs in the processes."""
    return ", ".join(f"{package} {_version(package)}" for package in _PACKAGES)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "-"
