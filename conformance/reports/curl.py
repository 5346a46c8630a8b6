"""A request as a command that repeats it."""

import shlex

from specvino.conformance.http.client import Target, full_url
from specvino.conformance.http.exchange import Request
from specvino.conformance.reports.redact import HIDDEN

# What stands for the key, as the shell fills it in.
KEY = "$SPECVINO_API_KEY"

# Bytes of a body that are written out.
LONGEST = 20_000


def curl(request: Request, target: Target) -> str:
    """Returns the command for a POSIX shell, without what is secret of the target."""
    words = ["curl", "-sS", "-i", "-N"]
    if target.insecure:
        words.append("-k")
    if target.cacert:
        words += ["--cacert", shlex.quote(target.cacert)]
    if request.method != ("GET" if request.content is None else "POST"):
        words += ["-X", shlex.quote(request.method)]
    words.append(shlex.quote(full_url(target.url, request.path)))
    for name, value in request.headers.items():
        words += ["-H", _header(name, value, target)]
    if request.content is None:
        return " ".join(words)
    if len(request.content) > LONGEST:
        return (
            f"{' '.join(words)} --data-binary @body  # a body of {len(request.content)} bytes, too long to write here"
        )
    text = _plain(request.content)
    if text is None:
        # printf's octal escapes are in every shell; its % and \ are not meant here, so all bytes are escaped.
        escaped = "".join(f"\\{byte:03o}" for byte in request.content)
        return f"printf '{escaped}' | {' '.join(words)} --data-binary @-"
    return f"{' '.join(words)} --data-raw {shlex.quote(text)}"


def _header(name: str, value: str, target: Target) -> str:
    if target.key and (name, value) in target.credentials(target.key).items():
        return f'"{name}: {value.removesuffix(target.key)}{KEY}"'
    if value == target.extra.get(name):
        value = HIDDEN
    return shlex.quote(f"{name}: {value}")


def _plain(content: bytes) -> str | None:
    """Returns the text, where a command can hold it as it is."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if all(each.isprintable() or each in "\n\t" for each in text) else None
