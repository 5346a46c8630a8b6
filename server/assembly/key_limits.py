"""The limits of API keys: those of the options, and those that follow a key in its file."""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from specvino.handlers.allowance import KeyLimits
from specvino.server.access import KeyFileError, KeyLine, owner
from specvino.server.assembly.options import OptionError, ServeOptions
from specvino.server.assembly.storage import Kept

# The limits in a key file, by their names there; those of the options begin with `--key-`.
_USED = {"requests-per-minute": "requests", "tokens-per-minute": "tokens", "max-num-seqs": "sequences"}
_KEPT = {"stored-gb": "gb", "stored-days": "days"}

Number = TypeVar("Number", int, float)

# Not of any length: a float of hundreds of digits is infinite, and Python reads no int of thousands.
_WHOLE, _DECIMAL = re.compile("0*[1-9][0-9]{0,17}"), re.compile(r"[0-9]{1,18}(\.[0-9]+)?")
_LEAST_KEPT = 0.001  # as of the options


def key_limits(keys: Mapping[str, KeyLine], options: ServeOptions) -> dict[str, KeyLimits]:
    """Returns the limits of all keys, by their owners. Raises OptionError and KeyFileError."""
    default = KeyLimits(options.key_requests_per_minute, options.key_tokens_per_minute, options.key_max_num_seqs)
    if default != KeyLimits() and not keys:
        raise OptionError("--api-key-file", "per-key limits require keys: set --api-key-file FILE or SPECVINO_API_KEY")
    limits = {}
    for key, line in keys.items():
        own = _of_line(line, _USED, int)
        limits[owner(key.encode())] = KeyLimits(
            **{name: own.get(name, getattr(default, name)) for name in _USED.values()}
        )
    return limits


def kept_of_keys(keys: Mapping[str, KeyLine], default: Kept) -> dict[str, Kept]:
    """Returns what is stored of the keys that have limits of their own for that, by their owners. Raises
    KeyFileError."""
    lines = {owner(key.encode()): _of_line(line, _KEPT, float) for key, line in keys.items()}
    return {owner: default._replace(**own) for owner, own in lines.items() if own}


def _of_line(line: KeyLine, wanted: Mapping[str, str], number: Callable[[str], Number]) -> dict[str, Number | None]:
    limits: dict[str, Number | None] = {}
    for word in line.words:
        name, _, value = word.partition("=")
        if not (name in {**_USED, **_KEPT} and (value == "none" or _is_number(value, whole=name in _USED))):
            # The word isn't shown: it may be a part of a key.
            names = ", ".join((*_USED, *_KEPT))
            raise KeyFileError(
                f"{line.origin}: expected LIMIT=NUMBER or LIMIT=none after the key, with LIMIT one of {names}"
            )
        if name in wanted:
            limits[wanted[name]] = None if value == "none" else number(value)
    return limits


def _is_number(text: str, *, whole: bool) -> bool:
    return bool(_WHOLE.fullmatch(text) if whole else _DECIMAL.fullmatch(text) and float(text) >= _LEAST_KEPT)
