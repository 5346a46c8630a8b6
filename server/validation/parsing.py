"""From bytes to values: the JSON of a body, and the parameters of a query string.

JSON is as RFC 8259 has it and I-JSON bounds it: UTF-8, no NaN, no infinite numbers, no key twice, no lone surrogate.
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
    """Reads the value of a body. Raises ApiError, saying what is wrong and where."""
    if not raw.strip():
        raise ApiError(ErrorCode.MISSING_BODY, "The request body is empty, but must be a JSON object.")
    try:
        text = raw.decode("utf-8")
        value = _decoder.decode(text)
        if _SURROGATE_ESCAPE.search(text):
            # Paired surrogates are one character by now; a lone one can't be encoded.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid(f"it is not UTF-8 (byte {error.start})") from None
    except UnicodeEncodeError:
        raise _invalid("a string holds half of a surrogate pair") from None
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
        twice = next(name for name, count in counts.items() if count > 1)
        raise _NotStrict(f"the key {twice[:100]!r} stands twice in one object")
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
    """Returns the values by name; the last one counts where a name stands twice, unless it is a list.

    A list is a name that is repeated, as it is or with brackets (`include[]=a`), which is how OpenAI's clients send it.
    What can't be read as its type stays a text, for the document to refuse.
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
