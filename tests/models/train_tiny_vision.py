"""Trains tests/models/tiny_vision from nothing: `python train_tiny_vision.py FOLDER` (README.md says what it needs)."""

import argparse
import json
import random
import shutil
import tempfile
import time
from pathlib import Path

import torch
from optimum.exporters.openvino import main_export
from optimum.intel import OVConfig
from tiny_text_tokenizer import END, PAD, SPECIAL, train_tokenizer
from tiny_vision_lessons import COLOURS, Lesson, lesson, lessons_of_all_colours
from train_tiny_text import IGNORED
from transformers import (
    CLIPImageProcessorPil,
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)

HERE = Path(__file__).parent
IMAGE = "<image>"
SIDE, PATCH = 28, 14  # pixels
IMAGE_TOKENS = (SIDE // PATCH) ** 2
MEAN = torch.tensor([0.48145466, 0.4578275, 0.40821073])[:, None, None]
DEVIATION = torch.tensor([0.26862954, 0.26130258, 0.27577711])[:, None, None]
# The rate rises over WARMING steps, and falls to nothing over the last COOLING ones.
STEPS, WARMING, COOLING, BATCH, PEAK_RATE = 2550, 200, 800, 8, 3e-3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write the OpenVINO model")
    parser.add_argument("--steps", type=int, default=STEPS)
    arguments = parser.parse_args()
    # With more than one thread the tiny matrices spend their time waiting for each other.
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokenizer = train_tokenizer([*SPECIAL, IMAGE], HERE / "tiny_vision_template.jinja")
    model = train(tokenizer, arguments.steps)
    rng = random.Random(2)
    for kind, lessons in (("unseen", [lesson(rng) for _ in range(500)]), ("all colours", lessons_of_all_colours())):
        print(f"exact answers, {kind}: {score(model, tokenizer, lessons)} of {len(lessons)}")
    export(model, tokenizer, arguments.folder)


def train(tokenizer: PreTrainedTokenizerFast, steps: int) -> LlavaForConditionalGeneration:
    vision = CLIPVisionConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=1,
        image_size=SIDE,
        patch_size=PATCH,
        projection_dim=32,
    )
    text = LlamaConfig(
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
    config = LlavaConfig(
        vision_config=vision,
        text_config=text,
        image_token_index=tokenizer.convert_tokens_to_ids(IMAGE),
        vision_feature_layer=-1,
        vision_feature_select_strategy="default",
        image_seq_length=IMAGE_TOKENS,
        tie_word_embeddings=True,
    )
    model = LlavaForConditionalGeneration(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK_RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / WARMING, (steps - step) / COOLING)
    )
    rng = random.Random(1)
    started = time.monotonic()
    for step in range(1, steps + 1):
        ids, labels, images = batch(tokenizer, rng)
        attended = (ids != text.pad_token_id).long()
        loss = model(input_ids=ids, pixel_values=images, labels=labels, attention_mask=attended).loss
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
        taught.messages, tools=taught.tools, tokenize=False, add_generation_prompt=True
    )
    # The engine sets a line break of its own behind each image.
    prompt = prompt.replace(IMAGE, IMAGE * IMAGE_TOKENS + "\n")
    return tokenizer(prompt).input_ids, tokenizer(taught.answer + END).input_ids


def paint(colour: str) -> torch.Tensor:
    """An image as the vision encoder gets it, [3, SIDE, SIDE]: plain, but for some noise."""
    plain = torch.tensor(COLOURS[colour]).float()[:, None, None].expand(3, SIDE, SIDE)
    noisy = plain + torch.randn(3, 1, 1) * 8 + torch.randn(3, SIDE, SIDE) * 4
    return (noisy.clamp(0, 255) / 255 - MEAN) / DEVIATION


def batch(tokenizer: PreTrainedTokenizerFast, rng: random.Random) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Ids and labels, both [BATCH, longest], and the images of all; only answers are learnt."""
    lessons = [lesson(rng) for _ in range(BATCH)]
    images = [paint(colour) for taught in lessons for colour in taught.colours]
    if not images:  # the model can't do without any
        return batch(tokenizer, rng)
    pairs = [encode(tokenizer, taught) for taught in lessons]
    longest = max(len(prompt) + len(answer) for prompt, answer in pairs)
    ids = torch.full((BATCH, longest), tokenizer.pad_token_id)
    labels = torch.full((BATCH, longest), IGNORED)
    for row, (prompt, answer) in enumerate(pairs):
        end = len(prompt) + len(answer)
        ids[row, :end] = torch.tensor(prompt + answer)
        labels[row, len(prompt) : end] = torch.tensor(answer)
    return ids, labels, torch.stack(images)


@torch.no_grad()
def score(model: LlavaForConditionalGeneration, tokenizer: PreTrainedTokenizerFast, lessons: list[Lesson]) -> int:
    """How many of the lessons get exactly the right answer, greedily."""
    exact = 0
    for taught in lessons:
        prompt, answer = encode(tokenizer, taught)
        images = torch.stack([paint(colour) for colour in taught.colours]) if taught.colours else None
        logits = model(torch.tensor([prompt + answer]), pixel_values=images).logits[0, len(prompt) - 1 : -1]
        exact += logits.argmax(-1).tolist() == answer
    return exact


def export(model: LlavaForConditionalGeneration, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Writes only what OpenVINO reads; the template lies inside openvino_tokenizer.xml."""
    model.generation_config.eos_token_id = model.config.text_config.eos_token_id
    model.generation_config.pad_token_id = model.config.text_config.pad_token_id
    image_processor = CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE})
    processor = LlavaProcessor(
        image_processor=image_processor,
        tokenizer=tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        image_token=IMAGE,
        num_additional_image_tokens=1,
        chat_template=tokenizer.chat_template,
    )
    with tempfile.TemporaryDirectory() as work:
        trained, exported = Path(work) / "trained", Path(work) / "exported"
        for part in (model, processor, image_processor, tokenizer):
            part.save_pretrained(trained)
        main_export(
            str(trained),
            output=exported,
            task="image-text-to-text",
            library_name="transformers",
            convert_tokenizer=True,
            ov_config=OVConfig(dtype="fp16"),
        )
        folder.mkdir(parents=True, exist_ok=True)
        for file in [*exported.glob("openvino_*"), exported / "config.json", exported / "generation_config.json"]:
            shutil.copy(file, folder)
        # OpenVINO reads the image processor's settings from a file of their own, which transformers no longer writes.
        settings = json.loads((exported / "processor_config.json").read_text())["image_processor"]
        (folder / "preprocessor_config.json").write_text(json.dumps(settings, indent=2) + "\n")


if __name__ == "__main__":
    main()
