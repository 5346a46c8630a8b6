"""The architectures of architectures.yaml, and their export, which is kept in the user's cache."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from support.tokenizer_packages import CONFIG, tokenizer_folder
from templates.corpus import corpus

from specvino.engine.models.cache import cache_folder

_HERE = Path(__file__).parent
_SCRIPT = _HERE / "export.py"
LOCK = _HERE / "export.txt"
_OURS = ".jinja"

# OpenMP's threads wait for each other on a busy machine, and the models are tiny.
_ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


class NotExported(Exception):
    """optimum-intel fails; `str()` is its error in one line."""


@dataclass(frozen=True)
class Failure:
    """A known failure: a part of the error, whose `fault` it is, and a sentence of explanation."""

    error: str
    fault: str
    because: str


@dataclass(frozen=True)
class Architecture:
    """An entry of architectures.yaml, which explains the keys."""

    name: str
    transformers: str
    config: Mapping[str, Any]
    tokenizer: str
    template: str
    end: str
    renamed: str | None = None
    control: Sequence[str] = ()
    markup: Sequence[str] = ()
    token_ids: Mapping[str, str] = field(default_factory=dict)
    processor: Mapping[str, Any] | None = None
    weights: str = "fp16"
    calls: str | None = None
    reasoning: str | None = None
    quiet: Mapping[str, Any] = field(default_factory=dict)
    fails: Mapping[str, Failure] = field(default_factory=dict)

    @property
    def ours(self) -> bool:
        """Whether the template is a file here."""
        return self.template.endswith(_OURS)

    def exported(self) -> Path:
        """Returns its OpenVINO folder. Raises NotExported."""
        specification = json.dumps(self._specification(), ensure_ascii=False)
        made_of = [specification, self.transformers, _SCRIPT.read_text("utf-8"), LOCK.read_text("utf-8")]
        made_of += [self.renamed] if self.renamed else []
        digest = hashlib.sha256("\0".join(made_of).encode()).hexdigest()[:16]
        folder = cache_folder() / "architectures" / f"{self.name}-{digest}"
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder.parent) as parent:
                file, work = Path(parent, "specification.json"), Path(parent, "model")
                file.write_text(specification, "utf-8")
                command = [_python(self.transformers), _SCRIPT, file, work]
                ran = subprocess.run(command, env=os.environ | _ENVIRONMENT, capture_output=True, text=True)
                if ran.returncode:
                    raise NotExported(_error(ran.stderr))
                if self.renamed:
                    config = json.loads((work / "config.json").read_text("utf-8"))
                    (work / "config.json").write_text(json.dumps(config | {"model_type": self.renamed}), "utf-8")
                work.rename(folder)
        return folder

    def _specification(self) -> dict[str, Any]:
        """Returns the `Specification` of export.py."""
        return {
            "config": self.config,
            "processor": self.processor,
            "tokenizer": str(tokenizer_folder(self.tokenizer)),
            "control": self.control,
            "markup": self.markup,
            "token_ids": self.token_ids,
            "end": self.end,
            "template": self._template_text(),
            "weights": self.weights,
        }

    def _template_text(self) -> str:
        if self.template == "own":
            config = json.loads((tokenizer_folder(self.tokenizer) / CONFIG).read_text("utf-8"))
            return str(config["chat_template"])
        return (_HERE / self.template).read_text("utf-8") if self.ours else corpus()[self.template]


def read() -> dict[str, Architecture]:
    """Returns the architectures by name."""
    document = yaml.safe_load((_HERE / "architectures.yaml").read_text("utf-8"))
    return {name: _architecture(name, entry, document["shared"]) for name, entry in document["architectures"].items()}


def _architecture(name: str, entry: dict[str, Any], shared: dict[str, Any]) -> Architecture:
    config = entry.pop("config")
    if "text_config" in config:
        config["text_config"] = shared | config["text_config"]
    else:
        config = shared | config
    fails = {check: Failure(**failure) for check, failure in entry.pop("fails", {}).items()}
    return Architecture(name=name, config=config, fails=fails, **entry)


def _error(output: str) -> str:
    """Returns the last exception in the output, in one line, or its last line."""
    *others, error = re.split(r"^(?=[\w.]*Error: )", output, flags=re.MULTILINE)
    return " ".join(error.split()) if others else output.strip().splitlines()[-1]


def _python(transformers: str) -> Path:
    """Returns the interpreter of an environment for export.py with this version of transformers."""
    lock = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]
    folder = cache_folder() / "architectures" / f"transformers-{transformers}-{lock}"
    python = folder / "bin" / "python"
    if not folder.exists():
        from uv import find_uv_bin  # only the environment `architectures` has it

        folder.parent.mkdir(parents=True, exist_ok=True)
        # tox has constraints for its own environments.
        environment = {name: value for name, value in os.environ.items() if name != "UV_CONSTRAINT"}
        uv = (find_uv_bin(), "--quiet")
        packages = ("--requirements", str(_SCRIPT), "--constraints", str(LOCK), f"transformers=={transformers}")
        try:
            subprocess.run([*uv, "venv", folder], env=environment, check=True)
            subprocess.run([*uv, "pip", "install", "--python", python, *packages], env=environment, check=True)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    return python
