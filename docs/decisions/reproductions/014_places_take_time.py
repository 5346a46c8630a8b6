"""Does each place of a grammar where most tokens fit take milliseconds to compile?"""

from grammar_probe import default_model
from verdict import report

FEW, MANY = 4, 44


def seconds(most: int) -> float:
    """Returns the CPU time of compiling a string of at most so many characters."""
    return probe.seconds('"abc"', grammar=f'root ::= "\\"" [a-zA-Z0-9 .,]{{0,{most}}} "\\""\n')[0]


probe = default_model()
seconds_per_place = (seconds(MANY) - seconds(FEW)) / (MANY - FEW)
report(
    seconds_per_place > 0.002,
    f"a further place takes {seconds_per_place * 1000:.1f} ms for {len(probe.vocabulary)} tokens",
)
