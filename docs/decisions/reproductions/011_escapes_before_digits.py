"""Does XGrammar misread a control or Latin-1 character before a hexadecimal digit?"""

from grammar_probe import Probe
from verdict import report

probe = Probe()
texts = ["\x01a", "\x7fa", "\u00e9a"]
wrong = [text for text in texts if not probe.allows(text, grammar=f'root ::= "\\u{ord(text[0]):04x}a"\n')]
lost = not probe.allows("a", grammar="root ::= [\\u00e9a]\n")
report(bool(wrong) or lost, f"literals that don't allow themselves: {wrong}; a set of é and a lacks a: {lost}")
