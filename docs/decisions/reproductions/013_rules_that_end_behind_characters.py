"""Does a token cost much more where a rule ends behind each character?"""

from grammar_probe import default_model
from verdict import report

MANY = 40
TEXT = '"' + "a" * MANY + '"'
ENDING = 'root ::= "\\"" ' + "char " * MANY + '"\\""\nchar ::= [a-zA-Z0-9 .,-] | "ä"\n'
RIGHT_LINEAR = 'root ::= "\\"" any\nany ::= "\\"" | [a-zA-Z0-9 .,-] any | "ä" any\n'

probe = default_model()
slow, fast = (min(probe.seconds(TEXT, grammar=grammar)[1] for _ in range(2)) for grammar in (ENDING, RIGHT_LINEAR))
report(
    slow > 10 * fast,
    f"a token takes {slow * 1000:.2f} ms where a rule ends behind each character, else {fast * 1000:.2f} ms",
)
