"""Causes of findings: those of the same cause are one fault, which has the title of its causes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, unique

# Variable parts of a message: quoted values (but no apostrophes), possibly truncated, numbers, the event that ends a
# response. Then lists and objects of these.
VARIABLE = re.compile(
    r""" "(?:[^"\\]|\\.)*(?:"|$) | (?<!\w)'(?:[^'\\]|\\.)*(?:'(?!\w)|$) | (?<![a-z])-?\d+(?:\.\d+)?
    | \bresponse\.(?:completed|incomplete|failed)\b """,
    re.VERBOSE,
)
# An id in a server's message: a word with a digit among other characters, such as that of a request.
ID = re.compile(r"\b(?=\w*\d)\w[\w-]{5,}\b")
NESTED = re.compile(r"\[[^][{}]*\]|\{[^][{}]*\}")
DEEPEST = 8
SEVERAL = re.compile("…(?:, …)+")

# The maximum length of a message as a title, in characters.
LONGEST = 160


@unique
class Kind(Enum):
    """A kind of cause: the title of its fault with names, and without if that differs. A fault of several kinds has the
    title of the first one here."""

    def __init__(self, with_names: str, without: str = "") -> None:
        self.with_names = with_names
        self.without = without or with_names

    FAILS_TO_ANSWER = "Requests fail with {}", "Valid requests fail"
    FAILS_TO_REFUSE = "Requests that should be refused fail with {}", "Requests that should be refused fail"
    FAILS = "Requests fail with {}", "Requests fail"
    UNDOCUMENTED = "Answers have the status {}, which isn't documented", "Answers have undocumented statuses"
    ACCEPTED = "Invalid values of {} are accepted", "Invalid requests are accepted"
    UNKNOWN = "Unknown names and ids are accepted"
    MALFORMED = "Malformed requests are accepted"
    KEYS = "Requests without a valid key are accepted"
    METHODS = "Methods that a path doesn't have are accepted"
    SIZES = "Requests that are too large are accepted"
    MEDIA = "Bodies of other media types are accepted"
    REFUSED = "Valid requests with {} are refused", "Valid requests are refused"
    STATUS = "Requests are answered with {}", "Requests are answered with another status"
    UNFINISHED = "Choices have no finish_reason"
    ERRORS_LACK = "Errors lack {}", "Errors lack fields"
    LACKS = "Answers lack {}", "Answers lack fields"
    HEADER = "Answers lack the header {}", "Answers lack headers"
    IN_STREAMS = "Streams of refused requests have the status 200"
    CUT_OFF = "The finish reason isn't the token limit where it is reached"
    LIMIT = "Answers end before or after the token limit"
    INCOMPLETE = "Chunks have parts of characters"
    AFTER_END = "Streams go on after their end"
    INDEX = "Choices have wrong indexes"
    MARKED = "JSON begins with a byte order mark"
    SAME_INDEX = "Several parts of a stream have the same index"
    UNSTEADY = "The same text has other tokens each time"
    UNREPORTED = "Fields without effect aren't reported"
    NULL = "null and an absent field are treated differently"
    BROKEN = "Answers break off"
    ITEMS = "Lists have wrong items"
    ECHO = "Prompts aren't echoed as they are"
    TOKENS = "The tokens of logprobs don't join to the text"
    EMPTY = "Answers have no text"
    DISREGARDED = "{} isn't respected", "Fields aren't respected"
    EARLIER = "Prompts lack earlier turns"
    UNREAD = "Prompts lack parts of {}", "Prompts lack parts of requests"
    NOT_REPEATED = "Answers don't repeat the request's {}", "Answers don't repeat the request's fields"
    MIXED = "Answers to concurrent requests are mixed up"
    STREAM = "Streamed and unary answers differ in {}", "Streamed and unary answers differ"
    ZERO = "Usage counts 0 {}", "Usage counts 0 tokens"
    COUNT = "Usage has wrong {}", "Usage is wrong"
    VALUE = "Answers have an invalid {}", "Answers are invalid"
    SCHEMA = "Structured outputs violate their schemas"
    ARGUMENTS = "Arguments of tool calls are invalid"
    SAME_ID = "Several {}s have the same id", "Ids aren't unique"
    ID = "Objects change their ids"
    PARAM = "Errors don't name the invalid field in error.param"
    OTHER = "{}"


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause: findings that are `about` the same are one fault. `names` and `detail` are for its title, `detail` only
    if all findings have the same."""

    kind: Kind
    about: str = ""
    names: tuple[str, ...] = ()
    detail: str = ""
    field: str = ""
    """The field of an answer that is missing or invalid; in streams, also arguments that differ."""

    @property
    def key(self) -> tuple[Kind, str]:
        return self.kind, self.about


def title(all_causes: Iterable[Cause], message: str) -> str:
    """Returns the title of a fault: what is common to its causes, or else a message."""
    by_kind: dict[Kind, list[Cause]] = {}
    for cause in all_causes:
        by_kind.setdefault(cause.kind, []).append(cause)
    kind = next(kind for kind in Kind if kind in by_kind)
    if kind is Kind.OTHER:
        first = message.partition(" ")[0]
        text = message if re.search(r"[._*]", first) else f"{message[:1].upper()}{message[1:]}"
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    names = list(dict.fromkeys(name for cause in by_kind[kind] for name in cause.names))
    details = {without_ids(cause.detail): cause.detail for cause in reversed(by_kind[kind]) if cause.detail}
    if kind is Kind.REFUSED and len(names) > 1:
        # What the refused requests are about isn't why they are refused, unless the reasons name it.
        told = {word for cause in by_kind[kind] for word in re.findall(r"\w+", cause.detail)}
        names = [name for name in names if name.strip("`") in told]
    text = kind.with_names.format(_listed(names)) if names else kind.without
    reasons = {cause.about for cause in by_kind[kind]} if kind is Kind.REFUSED else set()
    detail = next(iter(details.values())) if len(details) == 1 else reasons.pop() if len(reasons) == 1 else ""
    return f"{text}: {detail}" if detail else text


def _listed(names: Sequence[str]) -> str:
    if len(names) > 4:
        return f"{len(names)} fields ({', '.join(names[:3])}, …)"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def without_ids(text: str) -> str:
    """Returns a server's message without ids and variable parts."""
    return without_values(ID.sub("…", text))


def without_values(text: str) -> str:
    """Returns a message without its variable parts."""
    text = VARIABLE.sub("…", text)
    for _ in range(DEEPEST):
        text = NESTED.sub("…", text)
    return SEVERAL.sub("…", text)
