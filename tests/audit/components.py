"""`python -m audit.model BOM`: adds the default model, which no package's metadata name, to a CycloneDX file."""

import json
import sys
from pathlib import Path
from typing import Any

from specvino.engine.models.catalogue import CATALOGUE, DEFAULT, PackagedModel


def component(model: PackagedModel) -> dict[str, Any]:
    """Returns a model as a component (CycloneDX 1.5 and newer)."""
    return {
        "type": "machine-learning-model",
        "bom-ref": f"model-{model.name}",
        "name": model.name,
        "version": model.version,
        "purl": f"pkg:pypi/{model.package}@{model.version}",
        "licenses": [{"license": {"id": model.license}}],
        "hashes": [{"alg": "SHA-256", "content": model.gguf_sha256}],
    }


if __name__ == "__main__":
    file = Path(sys.argv[1])
    bom = json.loads(file.read_text("utf-8"))
    bom["components"].append(component(CATALOGUE[DEFAULT]))
    file.write_text(json.dumps(bom, indent=2) + "\n", "utf-8")
