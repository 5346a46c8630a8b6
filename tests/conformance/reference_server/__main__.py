"""Writes what each mutant breaks: `PYTHONPATH=tests/conformance python -m reference_server` from the project's folder.

Read what changed before you commit it: a mutant that breaks more than you would think, or less, is a fault of a case.
"""

from multiprocessing import get_context

import yaml

from reference_server.mutants import all_mutants
from reference_server.mutation import BROKEN, failed, name, tried

if __name__ == "__main__":
    mutants = [*all_mutants()]
    with get_context("spawn").Pool() as pool:
        results = pool.map(tried, mutants, chunksize=1)
    broken = {name(mutant): sorted(failed(found)) for mutant, found in zip(mutants, results, strict=True)}
    head = "# Every rule that each mutant breaks, no more and no less. Written by `python -m reference_server`.\n"
    BROKEN.write_text(head + yaml.safe_dump(broken, sort_keys=False, width=120), "utf-8")
