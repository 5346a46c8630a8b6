"""`specvino report`: what an issue about a server needs, without prompts, answers and keys."""

import json
import os
import platform
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Annotated

import typer

from specvino.cli.ending import needs
from specvino.cli.report_servers import KEYS, servers
from specvino.conformance.reports import inert

# Of the installed packages, those whose versions matter.
_PACKAGES = re.compile(r"specvino|openvino.*|connexion|starlette|uvicorn|uvloop|httptools|sqlalchemy|msgspec|pydantic")

# In the lines of the log that state the plan of a model's memory.
_PLAN = ": memory: "

_TIMEOUT = 10  # seconds

# Names of secrets, whole: `time_to_first_token` isn't one.
_SECRET = re.compile(
    r"(?i)(?<![\w-])((?:[\w-]*(?:password|passwd|pwd|secret|api[_-]?key)"
    r"|(?:(?:access|auth|hf|id|refresh|session)[_-])?token)=)[^&\s]+"
)

_NO_SERVER = "no server of this user runs on this machine: keys in the log are those of another, and aren't known"


def report(
    url: Annotated[str, typer.Argument(help="The address of the running server.")] = "http://127.0.0.1:8000",
    log: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="A file with the server's output, of which the end is shown."),
    ] = None,
    lines: Annotated[int, typer.Option(min=1, help="How many lines of the log are shown.")] = 200,
) -> None:
    """Print what an issue about a server needs, as Markdown: versions, hardware, the start line, counters, and the end
    of the log.

    It has no prompts, answers and keys: the server logs none, and API keys, passwords in URLs and the name of your home
    folder are replaced. Counters are read with the key in SPECVINO_METRICS_KEY or SPECVINO_API_KEY. Read it before you
    send it.
    """
    with needs("serve"):
        import psutil

        from specvino.engine.processes.memory import memory

    url = url.rstrip("/")
    free = memory()
    own = (one for one in psutil.process_iter(["uids"]) if one.info["uids"] and one.info["uids"].real == os.getuid())
    running = list(servers(own))
    hide = _Hidden(key for server in running for key in server.known_keys())
    variables = {name for server in running for name in server.environment} or os.environ
    sections = {
        "Versions": [f"Python {platform.python_version()} on {platform.platform()}", *_versions()],
        "Hardware": [
            f"{_processor()}, {os.cpu_count()} logical cores, {len(os.sched_getaffinity(0))} of them usable",
            f"{free.available / 2**30:.1f} of {free.total / 2**30:.1f} GiB of memory are free",
        ],
        "Start lines": [" ".join(server.words) for server in running] or [_NO_SERVER],
        "Not hidden": [f"keys of {line}" for server in running for line in server.unread] or ["nothing that was read"],
        "Environment": sorted(f"{name} is set" for name in variables if name.startswith("SPECVINO_")),
        "State": [_asked(f"{url}/health"), _asked(f"{url}/version"), *_counters(f"{url}/metrics")],
        "Log": list(_end_of(log, lines)) if log else ["--log FILE shows its end"],
    }
    for title, shown in sections.items():
        sys.stdout.write(f"## {title}\n\n```\n" + "".join(f"{hide(line)}\n" for line in shown) + "```\n\n")


class _Hidden:
    """Replaces in a line what must not be published, and makes it inert."""

    def __init__(self, keys: Iterable[str]) -> None:
        from specvino.conformance.reports.redact import HIDDEN, Redactor

        self._keys = Redactor({*keys, *filter(None, map(os.environ.get, KEYS))})
        self._named = rf"\1{HIDDEN}"
        self._home = str(Path.home())

    def __call__(self, line: str) -> str:
        line = self._keys.text(line)
        line = re.sub(r'(?i)(bearer\s+|x-api-key"?\s*[:=]\s*"?)[^\s",]+', self._named, line)
        line = _SECRET.sub(self._named, line)
        line = re.sub(r"://\S+@", "://[user]@", line)
        return inert.line(line.replace(self._home, "~").replace("```", "'''"))


def _versions() -> list[str]:
    installed = {one.metadata["Name"].lower(): one.version for one in distributions()}
    return sorted(f"{name} {version}" for name, version in installed.items() if _PACKAGES.fullmatch(name))


def _processor() -> str:
    try:
        match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
    except OSError:
        match = None
    return match[1] if match else platform.processor() or platform.machine()


def _asked(url: str) -> str:
    import httpx  # only here, as other commands have no use for it

    try:
        answer = httpx.get(url, timeout=_TIMEOUT)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return f"{url}: {type(error).__name__}"
    return f"{url}: {answer.status_code} {json.dumps(answer.text[:500])}"


def _counters(url: str) -> list[str]:
    """Returns the samples of the metrics page, without those of histograms."""
    import httpx

    key = next(filter(None, map(os.environ.get, reversed(KEYS))), None)
    try:
        answer = httpx.get(url, timeout=_TIMEOUT, headers={"Authorization": f"Bearer {key}"} if key else {})
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return [f"{url}: {type(error).__name__}"]
    if answer.status_code != 200:
        return [f"{url}: {answer.status_code}"]
    return [line for line in answer.text.splitlines() if not line.startswith("#") and "_bucket{" not in line]


def _end_of(log: Path, count: int) -> Iterator[str]:
    """Yields the plans of memory in a log, and its last lines."""
    last: deque[str] = deque(maxlen=count)
    with log.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            if len(last) == count and _PLAN in last[0]:
                yield last[0]
            last.append(line.rstrip("\n"))
    yield from last
