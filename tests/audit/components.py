"""`python -m audit.components BOM`: adds to a CycloneDX file what no package's metadata name: the default model, and
Scalar, of which the wheel has a copy. Fails if a component has no licence."""

import hashlib
import json
import re
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from specvino.engine.models.catalogue import CATALOGUE, DEFAULT, PackagedModel
from specvino.portal import reference

_NOTICE = re.compile(
    r"npm package (?P<name>\S+), version (?P<version>[\d.]+),.*?SHA-256 (?P<sha256>[0-9a-f]{64})", re.S
)


def model(model: PackagedModel) -> dict[str, Any]:
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


def scalar() -> dict[str, Any]:
    """Returns Scalar as a component, by its notice. Raises ValueError if it isn't the file that the notice names."""
    notice = _NOTICE.search((files(reference) / "scalar.LICENSE.txt").read_text("utf-8"))
    if notice is None or hashlib.sha256(reference.script()).hexdigest() != notice["sha256"]:
        raise ValueError("portal/reference/scalar.js isn't the file that scalar.LICENSE.txt names")
    return {
        "type": "library",
        "bom-ref": "scalar",
        "name": notice["name"],
        "version": notice["version"],
        "purl": f"pkg:npm/{notice['name'].replace('@', '%40')}@{notice['version']}",
        "licenses": [{"license": {"id": "MIT"}}],
        "hashes": [{"alg": "SHA-256", "content": notice["sha256"]}],
    }


def completed(bom: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a document with these components. Raises ValueError if one has no licence."""
    components = [*bom["components"], model(CATALOGUE[DEFAULT]), scalar()]
    if without := sorted(one["name"] for one in components if not one.get("licenses")):
        raise ValueError(f"components without a licence: {', '.join(without)}")
    return {**bom, "components": components}


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(json.dumps(completed(json.loads(file.read_text("utf-8"))), indent=2) + "\n", "utf-8")
