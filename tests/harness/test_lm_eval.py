"""EleutherAI's evaluation harness gets from the server what the model itself computes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from models.tiny_text_tokenizer import SPECIAL, train_tokenizer

HERE = Path(__file__).parent
TINY = HERE.parent / "models/tiny_text"


def evaluated(folder: Path, task: str, model: str, **arguments: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Runs the harness; returns the task's results and its samples."""
    for name in (f"{task}.yaml", "questions.jsonl"):
        (folder / name).write_text((HERE / name).read_text().replace("FOLDER", str(folder)))
    model_arguments = ",".join(
        f"{name}={value}" for name, value in {"model": "tiny", "num_concurrent": 1, **arguments}.items()
    )
    name = (folder / f"{task}.yaml").read_text().split("\n", 1)[0].removeprefix("task: ")
    command = [sys.executable, "-m", "lm_eval", "run", "--model", model, "--model_args", model_arguments]
    options = ["--tasks", name, "--include_path", str(folder), "--output_path", str(folder / "out"), "--log_samples"]
    chat = ["--apply_chat_template"] if model == "local-chat-completions" else []
    done = subprocess.run([*command, *options, *chat], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    [results] = (folder / "out").rglob("results_*.json")
    [samples] = (folder / "out").rglob("samples_*.jsonl")
    return json.loads(results.read_text())["results"][name], [
        json.loads(line) for line in samples.read_text().splitlines()
    ]


def test_log_likelihoods_are_the_model_s_own(url, scores, ids, tmp_path) -> None:
    train_tokenizer(SPECIAL, TINY.parent / "tiny_text_template.jinja").save_pretrained(tmp_path / "tokenizer")
    results, samples = evaluated(
        tmp_path,
        "completions",
        "local-completions",
        base_url=f"{url}/completions",
        tokenizer=tmp_path / "tokenizer",
        tokenizer_backend="huggingface",
        tokenized_requests=True,
    )
    right = 0
    for sample in samples:
        doc = sample["doc"]
        likely = []
        for choice, [answer] in zip(doc["choices"], sample["resps"], strict=True):
            before, whole = ids(doc["prompt"]), ids(doc["prompt"] + choice)
            rows = scores.of(whole)[len(before) - 1 :]
            expected = [row[id] for row, id in zip(rows, whole[len(before) :], strict=False)]
            assert float(answer[0]) == pytest.approx(sum(expected), abs=1e-3)
            greedy = all(row.argmax() == id for row, id in zip(rows, whole[len(before) :], strict=False))
            assert (answer[1] == "True") is greedy
            likely.append(sum(expected))
        right += likely.index(max(likely)) == doc["gold"]
    assert results["acc,none"] == pytest.approx(right / len(samples))


def test_generated_answers_are_marked(url, tmp_path) -> None:
    results, samples = evaluated(tmp_path, "chat", "local-chat-completions", base_url=f"{url}/chat/completions")
    assert [sample["resps"] for sample in samples] == [[["Hello! How can I help you today?"]]] * 3
    assert results["exact_match,none"] == 1
