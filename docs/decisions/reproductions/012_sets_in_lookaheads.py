"""Does XGrammar compare only the last eight bits of a set's bounds, where the set stands in a lookahead?"""

from grammar_probe import Probe
from verdict import report

# "t" must be followed by one of U+0160 to U+0180. The last eight bits of U+0170 are those of "p".
CHARS = "[\\u0160-\\u0180]"
GRAMMAR = f"""root ::= one tail
one ::= nothing char nothing
nothing ::= ""
char ::= [t] (= {CHARS} "z")
tail ::= {CHARS} "z"
"""
probe = Probe()
token = probe.vocabulary[b"tp"]
first = probe.generate(probe.pipeline([token]), 1, grammar=GRAMMAR)
report(first == [token], f'the token "tp" is {"allowed" if first == [token] else "refused"}')
