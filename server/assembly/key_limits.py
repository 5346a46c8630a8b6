"""The limits of API keys: those of the options, and those that follow a key in its file."""

from collections.abc import Mapping

from specvino.handlers.allowance import KeyLimits
from specvino.server.access import KeyFileError, KeyLine, owner
from specvino.server.assembly.options import OptionError, ServeOptions

# The limits in a key file, by their names there; those of the options begin with `--key-`.
_NAMES = {"requests-per-minute": "requests", "tokens-per-minute": "tokens", "max-num-seqs": "sequences"}


def key_limits(keys: Mapping[str, KeyLine], options: ServeOptions) -> dict[str, KeyLimits]:
    """Returns the limits of all keys, by their owners. Raises OptionError and KeyFileError."""
    default = KeyLimits(options.key_requests_per_minute, options.key_tokens_per_minute, options.key_max_num_seqs)
    if default != KeyLimits() and not keys:
        raise OptionError("--api-key-file", "limits of keys need keys: set --api-key-file FILE or SPECVINO_API_KEY")
    return {owner(key.encode()): _of_line(line, default) for key, line in keys.items()}


def _of_line(line: KeyLine, default: KeyLimits) -> KeyLimits:
    limits: dict[str, int | None] = {}
    for word in line.words:
        name, _, value = word.partition("=")
        number = int(value) if value.isascii() and value.isdecimal() else None
        if name not in _NAMES or not (number or value == "none"):
            # The word isn't shown: it may be a part of a key.
            shown = ", ".join(f"{name}=NUMBER" for name in _NAMES)
            raise KeyFileError(f"{line.place}: after a key only limits may follow ({shown}; or none as the number)")
        limits[_NAMES[name]] = number
    return KeyLimits(**{name: limits.get(name, getattr(default, name)) for name in _NAMES.values()})
