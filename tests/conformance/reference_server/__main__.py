"""Judges every mutant by all cases that can see it, and prints what fails and the titles of its faults: `tox run -e
mutants`, some minutes. docs/conformance.md has the numbers of faults.

A mutant that breaks more than you would think, or less, shows a fault of a case: compare the table with one of an older
revision. The command fails where a mutant doesn't break what it is there for, where a case ends in an error, and where
the page has other numbers.
"""

import sys
from collections import Counter
from multiprocessing import get_context

from support.examples import ROOT

from reference_server import mutants
from reference_server.mutation import failed, faults, meant, name, row
from reference_server.part import parts_of

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

if __name__ == "__main__":
    listed = [*parts_of(mutants)]
    with get_context("spawn").Pool() as pool:
        results = dict(zip(listed, pool.map(row, listed, chunksize=1), strict=True))
    for mutant, (verdicts, titles) in results.items():
        print(f"{name(mutant)}: {mutant.__doc__}")
        for rule in sorted(meant(mutant)):
            print(f"  {rule}")
        for rule in sorted(failed(verdicts) - meant(mutant)):
            print(f"  also {rule}")
        for title in titles:
            print(f"  fault: {title}")
    numbers = Counter(len(titles) for _, titles in results.values())
    told = ", ".join(f"{NUMBERS[number]} on {numbers[number]}" for number in sorted(numbers))
    print(f"Faults by report: {told}")
    page = " ".join((ROOT / "docs" / "conformance.md").read_text("utf-8").split())
    wrong = [] if told in page else [f"docs/conformance.md has other numbers of faults than {told}"]
    wrong += [
        f"{name(mutant)}: {fault}" for mutant, (verdicts, _) in results.items() for fault in faults(mutant, verdicts)
    ]
    sys.exit("\n".join(wrong) or 0)
