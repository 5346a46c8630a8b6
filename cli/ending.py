"""How a command ends that couldn't do what it was asked."""

import sys
from typing import NoReturn


def end(message: str) -> NoReturn:
    """Ends the process with one line on stderr and exit code 2, which means that nothing was judged."""
    print(f"specvino: {' '.join(message.split())}", file=sys.stderr)
    raise SystemExit(2)
