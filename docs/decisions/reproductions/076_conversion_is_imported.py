"""Does `import openvino` import the conversion of models and OpenVINO's telemetry?"""

import sys

import openvino
from verdict import report

modules = [name for name in ("openvino.tools.ovc", "openvino_telemetry") if name in sys.modules]
report(bool(modules), f"import openvino {openvino.__version__} imports {modules}")
