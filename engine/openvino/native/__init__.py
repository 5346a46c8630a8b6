"""Code around OpenVINO that several child processes share. The server doesn't import it."""

import sys

# `import openvino` also imports the conversion of models, which nothing here uses: a third of its time (decision 076).
sys.modules.setdefault("openvino.tools.ovc", None)  # type: ignore[arg-type]  # None: its import fails, which is caught
