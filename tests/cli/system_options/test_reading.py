"""A command line in a system's options, in ours."""

import pytest
from support.system_options import read

from specvino.cli.system_options.reading import OptionError


@pytest.mark.parametrize(
    ("system", "words", "ours"),
    [
        ("ovms", ["--rest_port", "8000"], ["--port", "8000"]),
        ("ovms", ["--cache_size=4"], ["--cache-size", "4"]),
        ("ovms", ["--cache_size", "0"], []),
        ("ovms", ["--port", "9000"], ["--port", "9000"]),
        ("ovms", ["--enable_prefix_caching", "false"], ["--prefix-cache", "off"]),
        ("ovms", ["--task", "text_generation"], []),
        ("ovms", ["--source_model", "O/m"], ["--served-model-name", "O/m", "--", "O/m"]),
        ("ovms", ["--source_model", "O/m", "--model_name", "n"], ["--served-model-name", "n", "--", "O/m"]),
        ("ovms", ["--model_name", "n", "--model_path", "p"], ["--served-model-name", "n", "--", "p"]),
        ("vllm", ["O/m"], ["--served-model-name", "O/m", "--", "O/m"]),
        ("vllm", ["--model", "n=p"], ["--model", "n=p"]),
        ("vllm", ["--served-model-name", "a", "b"], ["--served-model-name", "a", "--served-model-name", "b"]),
        ("vllm", ["--max_num_seqs", "5"], ["--max-num-seqs", "5"]),
        ("vllm", ["--no-enable-prefix-caching"], ["--prefix-cache", "off"]),
        ("vllm", ["--allowed-origins", '["http://a"]'], ["--allowed-origins", "http://a"]),
        ("vllm", ["--trust-request-chat-template"], ["--trust-request-chat-template"]),
        ("vllm", ["--no-trust-request-chat-template"], []),
        ("vllm", ["--tool-call-parser", "hermes"], ["--tool-parser", "hermes3"]),
        ("vllm", ["--speculative-config", '{"model": "d"}'], ["--draft-model", "d"]),
        ("vllm", ["--speculative-config", '{"method": "ngram"}'], ["--prompt-lookup"]),
        ("mlc-llm", ["--overrides", "max_num_sequence=8"], ["--max-num-seqs", "8"]),
        ("mlc-llm", ["--device", "auto", "--speculative-mode", "small_draft"], []),
        ("mlc-llm", ["--additional-models", "d", "--device", "cpu"], ["--draft-model", "d", "--device", "CPU"]),
        ("fastdeploy", ["--model", "p", "--revision", "master"], ["--", "p"]),
        ("sglang", ["--max-running-requests", "3"], ["--max-num-seqs", "3"]),
        ("sglang", ["--disable-radix-cache"], ["--prefix-cache", "off"]),
        ("llama-cpp", ["-m", "a.gguf", "-np", "2"], ["--max-num-seqs", "2", "--", "a.gguf"]),
        ("llama-cpp", ["-a", "x,y"], ["--served-model-name", "x", "--served-model-name", "y"]),
        ("llama-cpp", ["-hf", "O/m:Q4_K_M", "-n", "-1"], ["--", "O/m:Q4_K_M"]),
        ("llama-cpp", ["--reasoning-format", "none"], ["--reasoning-parser", "none"]),
    ],
)
def test_it_is_said_in_our_options(system, words, ours) -> None:
    options = read(system, *words)
    assert (options.arguments, options.without_effect) == (ours, [])


def test_our_options_stay_as_they_are() -> None:
    words = ["--engine", "scripted", "--insecure", "--log-format=json", "--allowed-hosts", "a", "--allowed-hosts", "b"]
    assert read("vllm", *words).arguments == [part for word in words for part in word.split("=")]
    assert read("vllm", "--", "--m").arguments[-2:] == ["--", "--m"]


@pytest.mark.parametrize(
    ("system", "words", "reason"),
    [
        ("vllm", ["--gpu-memory-utilization", "0.9"], "--gpu-memory-utilization has no effect here: --cache-size sets"),
        ("vllm", ["--prefix-match-unit", "1"], "--prefix-match-unit has no effect here: OpenVINO has one prefix cache"),
        ("vllm", ["-tp", "2"], "-tp has no effect here: The model runs in one process"),
        ("vllm", ["--tool-call-parser", "xlam"], "--tool-call-parser xlam has no effect here: Unknown here"),
        ("vllm", ["--lora-dtype=auto"], "--lora-dtype has no effect here: Adapters"),
        ("mlc-llm", ["--overrides", "opt=O2"], "--overrides opt has no effect here: OpenVINO has"),
        ("mlc-llm", ["--device", "cuda:0"], "--device cuda:0 has no effect here: Devices are OpenVINO's"),
        ("ovms", ["--port", "9", "--rest_port", "8"], "--port has no effect here: gRPC isn't supported."),
        (
            "ovms",
            ["--source_model", "O/m", "--model_repository_path", "/nowhere"],
            "--model_repository_path /nowhere has",
        ),
        ("fastdeploy", ["--enable-logprob"], "--enable-logprob has no effect here: Logprobs"),
        ("sglang", ["--lora-target-modules", "a", "b"], "--lora-target-modules has no effect here: Adapters"),
        ("sglang", ["--tp", "2"], "--tp has no effect here: The model runs in one process"),
        ("llama-cpp", ["--jinja"], "--jinja has no effect here: The chat template is the model's or"),
    ],
)
def test_what_has_no_effect_is_told_once_with_the_reason(system, words, reason) -> None:
    without_effect = read(system, *words).without_effect
    assert len(without_effect) == 1
    assert without_effect[0].startswith(reason)


@pytest.mark.parametrize(
    ("system", "words", "reason"),
    [
        ("vllm", ["--max-model-lenn", "3"], "unknown option --max-model-lenn. Did you mean --max-model-len?"),
        ("ovms", ["--cache_sise", "3"], "unknown option --cache_sise. Did you mean --cache_size?"),
        ("vllm", ["--hots", "h"], "unknown option --hots. Did you mean --host?"),
        ("vllm", ["-z"], "unknown option -z."),
        ("vllm", ["--max-num", "3"], "unknown option --max-num."),  # it begins several
        ("ovms", ["--max_num_s", "3"], "unknown option --max_num_s. Did you mean --max_num_seqs?"),
        ("vllm", ["--max-num-seqs"], "--max-num-seqs requires a value"),
        ("vllm", ["--port", "--host", "h"], "--port requires a value"),
        ("vllm", ["--insecure=yes"], "--insecure takes no value, but 'yes' was given"),
        ("vllm", ["--uds", "/s"], "--uds isn't supported here: The server listens on a TCP port."),
        (
            "ovms",
            ["--task", "rerank"],
            "--task rerank isn't supported here: Only models that generate text are served.",
        ),
        ("ovms", ["--cache_size", "2", "--cache-size", "4"], "--cache_size 2 conflicts with --cache-size 4"),
        ("vllm", ["a", "--model", "b"], "MODEL a conflicts with --model b"),
        ("vllm", ["--api-key", "k", "--api-key-file", "f"], "--api-key can't be combined with --api-key-file"),
        ("vllm", ["--api-key", "k", "l"], "--api-key was given more than once, with different values"),
        ("vllm", ["--speculative-config", "{"], "--speculative-config is not valid JSON"),
        ("vllm", ["--speculative-config", "[]"], "--speculative-config is not a JSON object: []"),
        ("vllm", ["--speculative-config", '{"modle": 1}'], "unknown --speculative-config modle; known names are model"),
        ("mlc-llm", ["--overrides", "opt"], "--overrides is not a list of NAME=VALUE: 'opt' has no value"),
        (
            "llama-cpp",
            ["-t", "4", "--plugin-config", '{"INFERENCE_NUM_THREADS": 8}'],
            "-t and --plugin-config set INFERENCE_NUM_THREADS to different values: 4 and 8",
        ),
        (
            "llama-cpp",
            ["-t", "4", "--threads", "5"],
            "-t and --threads set INFERENCE_NUM_THREADS to different values: 4 and 5",
        ),
        ("llama-cpp", ["-t", "4", "--plugin-config", "[]"], "--plugin-config is not a JSON object: []"),
    ],
)
def test_what_can_not_be_read_is_an_error(system, words, reason) -> None:
    with pytest.raises(OptionError) as raised:
        read(system, *words)
    assert str(raised.value).startswith(reason)


def test_keys_come_into_the_environment() -> None:
    options = read("vllm", "--api-key", "sk-1", "--hf-token", "hf-1")
    assert options.environment == {"SPECVINO_API_KEY": "sk-1", "HF_TOKEN": "hf-1"}
    assert options.arguments == []
