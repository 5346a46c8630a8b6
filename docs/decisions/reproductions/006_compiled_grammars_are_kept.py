"""Does a tokenizer keep every grammar that was ever compiled for it?"""

import itertools
from pathlib import Path

from grammar_probe import Probe
from verdict import cannot_tell, report

STATM = Path("/proc/self/statm")
EACH = 100


def memory() -> float:
    """Returns the process' memory in MiB."""
    return int(STATM.read_text().split()[1]) * 4096 / 2**20


if not STATM.exists():
    cannot_tell("only Linux tells how much memory is used")
probe = Probe()
pipeline, used = probe.pipeline("x"), []
for turn in range(4):
    for number in range(EACH):
        places = "".join(f"[a-z{number % 10}] " for _ in range(20))
        probe.generate(pipeline, 1, grammar=f'root ::= "{turn} {number}" {places}\n')
    used.append(memory())
growth = [after - before for before, after in itertools.pairwise(used)]
report(
    min(growth) > 0.5,
    f"{EACH} more grammars each time took {', '.join(f'{mebibytes:.1f}' for mebibytes in growth)} MiB",
)
