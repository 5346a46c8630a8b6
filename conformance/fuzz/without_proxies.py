"""Keeps requests to the server itself."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

ALONE = {"no_proxy": "*", "NO_PROXY": "*", "NETRC": os.devnull}


@contextmanager
def without_proxies() -> Iterator[None]:
    """Ignores proxies and passwords of the environment for as long as Schemathesis runs: its sessions, made in many
    places, read them there, and Schemathesis 4.32 has no setting for that (decision 041)."""
    before = {name: os.environ.get(name) for name in ALONE}
    os.environ.update(ALONE)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
