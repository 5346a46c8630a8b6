"""The formats of strings that are enforced: each expression matches valid texts only, if not all of them."""

_DATE = (
    r"[12]\d{3}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
)
_TIME = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
_CLOCK = r"T(?:\d{1,4}H(?:\d{1,2}M(?:\d{1,2}S)?)?|\d{1,4}M(?:\d{1,2}S)?|\d{1,6}S)"
# Each character that is counted costs something to compile. No label can come to have more than 63.
_PART = r"[A-Za-z0-9]{1,15}"
_HOST = rf"{_PART}(?:[.-]{_PART}){{0,3}}"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_WORD = r"[A-Za-z0-9]+"
_WORDS = r"[A-Za-z0-9._~-]*"

PATTERNS = {
    "date": f"^{_DATE}$",
    "time": f"^{_TIME}$",
    "date-time": f"^{_DATE}T{_TIME}$",
    "duration": f"^P(?:\\d{{1,4}}D(?:{_CLOCK})?|{_CLOCK})$",
    "email": rf"^[A-Za-z0-9_+-]{{1,16}}(?:\.[A-Za-z0-9_+-]{{1,16}})?@{_PART}(?:[.-]{_PART}){{0,2}}\.[A-Za-z]{{2,6}}$",
    "hostname": f"^{_HOST}$",
    "ipv4": rf"^(?:{_OCTET}\.){{3}}{_OCTET}$",
    "ipv6": r"^(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$",
    "uri": rf"^https?://{_WORD}(?:[.-]{_WORD})*(?::\d{{1,4}})?(?:/{_WORDS})*(?:\?[A-Za-z0-9._~=&-]*)?(?:#{_WORDS})?$",
    "uuid": r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
}

# Formats that JSON Schema defines and that are not enforced. Any other name is a note, which JSON Schema lets pass.
UNENFORCED = frozenset(
    {
        "idn-email",
        "idn-hostname",
        "iri",
        "iri-reference",
        "json-pointer",
        "regex",
        "relative-json-pointer",
        "uri-reference",
        "uri-template",
    }
)
