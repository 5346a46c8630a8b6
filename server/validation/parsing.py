"""Parses bodies and query strings.

JSON has to conform to RFC 8259 and I-JSON (RFC 7493): UTF-8, no NaN, no infinite numbers, no duplicate keys, no
lone surrogates.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import QueryParameter
from specvino.handlers.errors import ApiError

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class _NotStrict(ValueError):
    pass


def parse_json(raw: bytes) -> Any:
    """Parses a body. Raises ApiError with the reason and the position."""
    if not raw.strip():
        raise ApiError(ErrorCode.MISSING_BODY, "The request body is empty, but must be a JSON object.")
    try:
        text = raw.decode("utf-8")
        value = _decoder.decode(text)
        if _SURROGATE_ESCAPE.search(text):
            # Surrogate pairs are already one character; a lone surrogate can't be encoded.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid(f"invalid UTF-8 at byte {error.start}") from None
    except UnicodeEncodeError:
        raise _invalid("a string contains a lone surrogate") from None
    except json.JSONDecodeError as error:
        raise _invalid(f"{error.msg} (line {error.lineno}, column {error.colno})") from None
    except _NotStrict as error:
        raise _invalid(str(error)) from None
    except ValueError:
        raise _invalid("a number has too many digits") from None
    except RecursionError:
        raise _invalid("it is nested too deeply") from None
    return value


def _invalid(reason: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_JSON, f"The request body is not valid JSON: {reason}.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        duplicate = next(name for name, count in counts.items() if count > 1)
        raise _NotStrict(f"duplicate key {duplicate[:100]!r} in an object")
    return result


def _constant(name: str) -> NoReturn:
    raise _NotStrict(f"{name} is not a JSON number")


def _float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise _NotStrict(f"the number {digits[:40]} is too large")
    return value


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)


_WORDS = {"true": True, "false": False}
_INTEGER = re.compile(r"-?[0-9]{1,18}")


def parse_query(raw: bytes, known: Mapping[str, QueryParameter]) -> dict[str, Any]:
    """Returns the values by name. If a name is repeated, its last value counts, unless it is a list.

    Lists are sent as repeated names, with or without brackets (`include[]=a`), as OpenAI's clients do. A value that
    can't be parsed as its type stays a string, which the document's schema then rejects.
    """
    values: dict[str, Any] = {}
    for name, text in parse_qsl(raw.decode("latin-1"), keep_blank_values=True):
        bare = re.sub(r"\[[0-9]*\]$", "", name)
        if bare in known and known[bare].kind == "array":
            values.setdefault(bare, []).append(text)
        else:
            values[name] = _typed(text, known[name].kind) if name in known else text
    return values


def _typed(text: str, kind: str) -> Any:
    if kind == "boolean":
        return _WORDS.get(text, text)
    return int(text) if kind == "integer" and _INTEGER.fullmatch(text) else text
