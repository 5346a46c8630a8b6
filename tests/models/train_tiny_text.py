"""Trains tests/models/tiny_text from nothing: `python train_tiny_text.py FOLDER` (README.md says what it needs)."""

import argparse
import random
import shutil
import tempfile
import time
from pathlib import Path

import torch
from optimum.exporters.openvino import main_export
from optimum.intel import OVConfig
from tiny_text_conversations import Lesson, lesson
from tiny_text_tokenizer import END, PAD, SPECIAL, train_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

HERE = Path(__file__).parent
IGNORED = -100  # the label of tokens that aren't learnt
STEPS, BATCH, PEAK_RATE = 2500, 8, 4e-3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write the OpenVINO model")
    parser.add_argument("--steps", type=int, default=STEPS)
    arguments = parser.parse_args()
    # With more than one thread the tiny matrices spend their time waiting for each other.
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokenizer = train_tokenizer(SPECIAL, HERE / "tiny_text_template.jinja")
    model = train(tokenizer, arguments.steps)
    print("exact answers:", score(model, tokenizer, 500), "of 500")
    export(model, tokenizer, arguments.folder)


def train(tokenizer: PreTrainedTokenizerFast, steps: int) -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=96,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=3,
        num_key_value_heads=1,
        head_dim=32,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.convert_tokens_to_ids(END),
        pad_token_id=tokenizer.convert_tokens_to_ids(PAD),
    )
    model = LlamaForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK_RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK_RATE, total_steps=steps)
    rng = random.Random(1)
    started = time.monotonic()
    for step in range(1, steps + 1):
        ids, labels = batch(tokenizer, [lesson(rng) for _ in range(BATCH)])
        attended = (ids != config.pad_token_id).long()
        loss = model(input_ids=ids, labels=labels, attention_mask=attended).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 0:
            print(f"step {step} of {steps}, loss {loss.item():.4f}, {time.monotonic() - started:.0f} s", flush=True)
    return model.eval()


def encode(tokenizer: PreTrainedTokenizerFast, taught: Lesson) -> tuple[list[int], list[int]]:
    prompt = tokenizer.apply_chat_template(
        taught.messages, tokenize=False, add_generation_prompt=True, tools=taught.tools, **taught.template
    )
    return tokenizer(prompt).input_ids, tokenizer(taught.answer + END).input_ids


def batch(tokenizer: PreTrainedTokenizerFast, lessons: list[Lesson]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and labels, both [lessons, longest]; only answers are learnt."""
    pairs = [encode(tokenizer, taught) for taught in lessons]
    longest = max(len(prompt) + len(answer) for prompt, answer in pairs)
    ids = torch.full((len(pairs), longest), tokenizer.pad_token_id)
    labels = torch.full((len(pairs), longest), IGNORED)
    for row, (prompt, answer) in enumerate(pairs):
        end = len(prompt) + len(answer)
        ids[row, :end] = torch.tensor(prompt + answer)
        labels[row, len(prompt) : end] = torch.tensor(answer)
    return ids, labels


@torch.no_grad()
def score(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, lessons: int) -> int:
    """How many of so many unseen lessons get exactly the right answer, greedily."""
    rng = random.Random(2)
    exact = 0
    for _ in range(lessons):
        prompt, answer = encode(tokenizer, lesson(rng))
        logits = model(torch.tensor([prompt + answer])).logits[0, len(prompt) - 1 : -1]
        exact += logits.argmax(-1).tolist() == answer
    return exact


def export(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Writes only what OpenVINO reads; the template lies inside openvino_tokenizer.xml."""
    model.generation_config.eos_token_id = model.config.eos_token_id
    model.generation_config.pad_token_id = model.config.pad_token_id
    with tempfile.TemporaryDirectory() as work:
        trained, exported = Path(work) / "trained", Path(work) / "exported"
        model.save_pretrained(trained)
        tokenizer.save_pretrained(trained)
        main_export(
            str(trained),
            output=exported,
            task="text-generation-with-past",
            library_name="transformers",
            convert_tokenizer=True,
            ov_config=OVConfig(dtype="fp16"),
        )
        folder.mkdir(parents=True, exist_ok=True)
        for file in [*exported.glob("openvino_*"), exported / "config.json", exported / "generation_config.json"]:
            shutil.copy(file, folder)


if __name__ == "__main__":
    main()
