"""The formats of strings that grammars enforce, as regular expressions of ECMAScript."""

from dataclasses import dataclass, replace

_DATE = (
    r"[12]\d{3}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
)
_TIME = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
_CLOCK = r"T(?:\d{1,4}H(?:\d{1,2}M(?:\d{1,2}S)?)?|\d{1,4}M(?:\d{1,2}S)?|\d{1,6}S)"
# Each counted character adds to the cost of compiling. A label can't get longer than 63 characters.
_PART = r"[A-Za-z0-9]{1,15}"
_HOST = rf"{_PART}(?:[.-]{_PART}){{0,3}}"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_WORD = r"[A-Za-z0-9]+"
_WORDS = r"[A-Za-z0-9._~-]*"

_LEAP_YEAR = r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_ANY_DATE = (
    r"(?:\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"
    rf"|02-(?:0[1-9]|1\d|2[0-8]))|{_LEAP_YEAR}-02-29)"
)
_ANY_TIME = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
_ANY_CLOCK = r"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
# The longest text in which no part can be longer than a label may be. One length costs less than one of each part.
_SHORT = r"(?=[\s\S]{1,63}$)"
_LABEL = r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*"
_HEX = "[0-9a-fA-F]"
_GROUP = f"{_HEX}{{1,4}}"
_URL = rf"https?://{_WORD}(?:[.-]{_WORD})*(?::\d{{1,4}})?(?:/{_WORDS})*(?:\?[A-Za-z0-9._~=&-]*)?(?:#{_WORDS})?"
_PATH = rf"/?{_WORDS}(?:/{_WORDS})*(?:\?[A-Za-z0-9._~=&-]*)?(?:#{_WORDS})?"
_VARIABLE = r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*(?:\*|:[1-9]\d{0,3})?"
_VARIABLES = rf"\{{[+#./;?&]?{_VARIABLE}(?:,{_VARIABLE})*\}}"
_POINTER = "(?:/(?:[^~/]|~[01])*)*"
_SEGMENT = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"


@dataclass(frozen=True, slots=True)
class Format:
    """The patterns of a format. `alone` matches only valid texts, and costs little to compile. `wide` matches more of
    them, and `whole` means that it matches all (RFC 3339, 5321, 1123, 3986, 4122, 4291).
    """

    alone: str
    wide: str
    whole: bool = False


FORMATS = {
    "date": Format(f"^{_DATE}$", f"^{_ANY_DATE}$", whole=True),
    "time": Format(f"^{_TIME}$", f"^{_ANY_TIME}$"),
    "date-time": Format(f"^{_DATE}T{_TIME}$", f"^{_ANY_DATE}[Tt]{_ANY_TIME}$"),
    "duration": Format(
        f"^P(?:\\d{{1,4}}D(?:{_CLOCK})?|{_CLOCK})$",
        rf"^P(?:\d+W|(?:\d+D|\d+M(?:\d+D)?|\d+Y(?:\d+M(?:\d+D)?)?)(?:{_ANY_CLOCK})?|{_ANY_CLOCK})$",
        whole=True,
    ),
    "email": Format(
        rf"^[A-Za-z0-9_+-]{{1,16}}(?:\.[A-Za-z0-9_+-]{{1,16}})?@{_PART}(?:[.-]{_PART}){{0,2}}\.[A-Za-z]{{2,6}}$",
        rf"^{_SHORT}{_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*\.[A-Za-z]{{2,}}$",
    ),
    "hostname": Format(f"^{_HOST}$", rf"^{_SHORT}{_LABEL}(?:\.{_LABEL})*$"),
    "ipv4": Format(rf"^(?:{_OCTET}\.){{3}}{_OCTET}$", rf"^(?:{_OCTET}\.){{3}}{_OCTET}$", whole=True),
    "ipv6": Format(
        r"^(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$",
        # Without the forms that end with an IPv4 address.
        "^(?:"
        + "|".join(
            [
                f"(?:{_GROUP}:){{7}}{_GROUP}",
                *(f"(?:{_GROUP}:){{{count}}}(?::{_GROUP}){{1,{7 - count}}}" for count in range(1, 7)),
                f"(?:{_GROUP}:){{1,7}}:",
                f":(?:(?::{_GROUP}){{1,7}}|:)",
            ]
        )
        + ")$",
    ),
    "uri": Format(
        f"^{_URL}$",
        rf"^[A-Za-z][A-Za-z0-9+.-]*:(?://{_LABEL}(?:\.{_LABEL})*(?::\d{{1,5}})?(?:/{_SEGMENT}*)*"
        rf"|(?!//){_SEGMENT}+(?:/{_SEGMENT}*)*)"
        rf"(?:\?(?:{_SEGMENT}|[/?])*)?(?:#(?:{_SEGMENT}|[/?])*)?$",
    ),
    "uri-reference": Format(f"^(?:{_URL}|{_PATH})$", f"^(?:{_URL}|{_PATH})$"),
    "uri-template": Format(rf"^(?:{_SEGMENT}|[/?#]|{_VARIABLES})*$", rf"^(?:{_SEGMENT}|[/?#]|{_VARIABLES})*$"),
    "uuid": Format(
        r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
        rf"^{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}$",
        whole=True,
    ),
    "json-pointer": Format(f"^{_POINTER}$", f"^{_POINTER}$", whole=True),
    "relative-json-pointer": Format(
        rf"^(?:0|[1-9]\d{{0,3}})(?:#|{_POINTER})$", rf"^(?:0|[1-9]\d*)(?:#|{_POINTER})$", whole=True
    ),
}
# Texts in ASCII satisfy these, too.
FORMATS |= {
    international: replace(FORMATS[name], whole=False)
    for international, name in (
        ("idn-email", "email"),
        ("idn-hostname", "hostname"),
        ("iri", "uri"),
        ("iri-reference", "uri-reference"),
    )
}

# The format of JSON Schema that isn't enforced. Any other name is an annotation.
UNENFORCED = "regex"
