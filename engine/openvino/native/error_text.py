"""OpenVINO's error texts, made fit for a client or a terminal: one line, no C++ file names."""

import re

_NOISE = re.compile(r"(Exception from |Check '|\[json\.exception)")


def one_line(error: Exception) -> str:
    """Returns the first line that tells something."""
    lines = (line.strip() for line in str(error).splitlines())
    line = next((line for line in lines if line and not _NOISE.match(line)), type(error).__name__)
    return line.split(": [json.exception")[0]
