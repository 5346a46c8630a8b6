"""Answers of the worker's pipeline itself, in a process of their own: `python -m architectures.pipeline FOLDER`."""

import json
import subprocess
import sys
from dataclasses import asdict, dataclass

_TOKENS = 8
_PROMPT = "The quick brown fox jumps over the lazy dog. " * 60  # some 600 tokens: three steps


@dataclass(frozen=True)
class Run:
    """A greedy answer: its tokens, their logprobs, and the steps until the first one."""

    tokens: list[int]
    logprobs: list[float]
    steps: int


@dataclass(frozen=True)
class Runs:
    """A prompt's answers: without a prefix cache, with it, and repeated."""

    uncached: Run
    first: Run
    repeated: Run


class Crashed(Exception):
    """The process ended; `str()` is the last line that it printed."""


def runs(folder: str) -> Runs:
    """Raises Crashed."""
    ran = subprocess.run([sys.executable, "-m", __name__, folder], capture_output=True, text=True)
    if ran.returncode:
        lines = ran.stderr.strip().splitlines() or [f"exit code {ran.returncode}"]
        raise Crashed(lines[-1])
    return Runs(*(Run(**run) for run in json.loads(ran.stdout.splitlines()[-1])))


def _runs(folder: str) -> list[Run]:
    from openvino_genai import ContinuousBatchingPipeline, GenerationConfig, SchedulerConfig

    from specvino.engine.openvino.messages.worker import LoadModel
    from specvino.engine.openvino.native.devices import chosen
    from specvino.engine.openvino.worker.pipeline import load

    config = GenerationConfig()
    config.max_new_tokens = _TOKENS
    config.ignore_eos = True
    config.apply_chat_template = False

    config.logprobs = 1

    def run(pipeline: ContinuousBatchingPipeline, id: int) -> Run:
        handle = pipeline.add_request(id, _PROMPT, config)
        tokens: list[int] = []
        logprobs: list[float] = []
        steps = until = 0
        while pipeline.has_non_finished_requests():
            pipeline.step()
            steps += 1
            while handle.can_read():
                for part in handle.read().values():
                    tokens += part.generated_ids
                    logprobs += part.generated_log_probs
                until = until or steps
        return Run(tokens, logprobs, until)

    plain = SchedulerConfig()
    plain.enable_prefix_caching = False
    uncached = run(ContinuousBatchingPipeline(folder, plain, "CPU", dict(chosen("CPU", {}).properties)), 0)
    cached = load(LoadModel(folder, max_sequences=1))
    return [uncached, *(run(cached, id) for id in range(2))]


if __name__ == "__main__":
    print(json.dumps([asdict(run) for run in _runs(sys.argv[1])]))
