"""Reading a document from a file or a URL, and what the package for it is called."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from specvino.document import foreign
from specvino.sdk.foreign.names import line
from specvino.sdk.package import OWN_SERVER, Package, PackageError

VERSION = re.compile(r"v\d+\w*")

ADDRESS = re.compile(r"https?://[\w.:\[\]-]+[\w.~/%@+-]*", re.ASCII)
"""The accepted addresses of a server in a package. Others have a scheme that isn't HTTP, or end a literal."""


def read_document(source: str) -> dict[str, Any]:
    """Returns the document of a file or a URL, in JSON or YAML. Raises PackageError."""
    try:
        if source.startswith(("http://", "https://")):
            text = httpx.get(source, follow_redirects=True, timeout=60).raise_for_status().text
        else:
            text = Path(source).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError, httpx.HTTPError, httpx.InvalidURL) as error:
        raise PackageError(f"the document {source} can't be read: {error}") from None
    try:
        return foreign.parse(text)
    except ValueError as error:
        raise PackageError(f"the document {source} {error}") from None


def describe_document(document: dict[str, Any], source: str) -> Package:
    """Returns the package for a document, which is named after its title."""
    info = as_dict(document.get("info"))
    title = line(info.get("title")).replace('"', "")[:100] or "a server"
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower())[:50].strip("-0123456789") or "server"
    numbers = re.match(r"\d{1,9}(\.\d{1,9}){0,2}", str(info.get("version")))
    version = ".".join([*(numbers[0].split(".") if numbers else ()), "0", "0", "0"][:3])
    url = _address(document, source)
    base = base_path(document)
    url += base if not url.endswith(base) else ""
    return Package(None, title, version, url, None, None, f"{slug.removesuffix('-client')}-client")


def _address(document: dict[str, Any], source: str) -> str:
    """The server's address: of the document, or whence it comes."""
    root = source if source.startswith(("http://", "https://")) else f"{OWN_SERVER}/"
    servers = as_list(document.get("servers"))
    declared = str(as_dict(servers[0]).get("url")) if servers else "/"
    for reference in (declared, "/"):
        try:
            url = urlsplit(urljoin(root, reference))
        except ValueError:  # a part in brackets that is no IPv6 address
            continue
        # Whoever has a password in an address means it for themselves.
        address = f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"
        if ADDRESS.fullmatch(address):
            return address.rstrip("/")
    return OWN_SERVER


def base_path(document: dict[str, Any]) -> str:
    """What the path of chats begins with, or else most paths, such as `/v1`: it belongs to the address of
    OpenAI-compatible servers."""
    paths = [path.split("/") for path in as_dict(document.get("paths")) if path.startswith("/")]
    versions = [parts[1] for parts in paths if VERSION.fullmatch(parts[1])]
    chats = [parts[1] for parts in paths if parts[1] in versions and parts[2:] == ["chat", "completions"]]
    common = max(chats or versions, key=versions.count, default="")
    return f"/{common}" if chats or versions.count(common) * 2 >= len(paths) > 0 else ""


def as_dict(value: object) -> dict[str, Any]:
    """Returns an object of a document, or an empty one in place of something else."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Returns a list of a document, or an empty one in place of something else."""
    return value if isinstance(value, list) else []
