"""Does XGrammar leave out the last characters of a wide range, and allow overlong bytes?"""

from grammar_probe import Probe
from verdict import report

probe = Probe()
wide = "root ::= [\\u0800-\\ud7ff]\n"
missing = [char for char in ("\u0800", "\uac01", "\ud000", "\ud7a3") if not probe.allows(char, grammar=wide)]
overlong = probe.allows(b"\xc0\x80", grammar="root ::= [\\u0001-\\u07ff]\n")
report(
    bool(missing) or overlong,
    f"U+0800 to U+D7FF is without {', '.join(f'U+{ord(char):04X}' for char in missing) or 'none'}; "
    f"U+0001 to U+07FF has the bytes C0 80: {overlong}",
)
