"""What is said of the whole command line: names, folders, contradictions, properties."""

import json

from support.system_options import read


def test_the_same_said_twice_is_none() -> None:
    assert read("ovms", "--cache_size", "2", "--cache-size", "2").arguments == 2 * ["--cache-size", "2"]


def test_properties_of_the_plugin_come_together() -> None:
    options = read("ovms", "--kv_cache_precision", "u8", "--plugin_config", '{"NUM_STREAMS": 1}')
    name, config = options.arguments
    assert name == "--plugin-config"
    assert json.loads(config) == {"NUM_STREAMS": 1, "KV_CACHE_PRECISION": "u8"}
    assert json.loads(read("llama-cpp", "--threads", "4").arguments[1]) == {"INFERENCE_NUM_THREADS": 4}


def test_a_model_is_taken_from_the_folder_that_it_is_in(tmp_path) -> None:
    (tmp_path / "O" / "m").mkdir(parents=True)
    options = read("ovms", "--model_repository_path", str(tmp_path), "--source_model", "O/m")
    assert options.arguments == ["--served-model-name", "O/m", "--", str(tmp_path / "O" / "m")]
    assert options.without_effect == []
