"""The preprocess process answers one message after the other, until the server goes."""

from specvino.engine.openvino.messages import image_tags
from specvino.engine.openvino.messages.preprocess import (
    FromPreprocess,
    LoadTokenizer,
    Preprocess,
    Preprocessed,
    PromptRefused,
    PromptTooLong,
    Tokenize,
)
from specvino.engine.openvino.native.error_text import one_line
from specvino.engine.openvino.native.tokenizer import load_tokenizer
from specvino.engine.openvino.preprocess import vocabulary
from specvino.engine.openvino.preprocess.length import TooLong
from specvino.engine.openvino.preprocess.preprocessor import Preprocessor
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel
from specvino.engine.processes.lifecycle import Ready


def answer(preprocessor: Preprocessor, request: Preprocess | Tokenize) -> FromPreprocess:
    try:
        match request:
            case Preprocess(as_text=True):
                text = preprocessor.write(request.conversation())
                ids = preprocessor.tokenize_prompt(image_tags.without(text))
                return Preprocessed(request.id, ids, text, preprocessor.ending)
            case Preprocess():
                ids = preprocessor.preprocess(request.conversation())
                return Preprocessed(request.id, ids, ending=preprocessor.ending)
            case Tokenize(prompt=True):
                return Preprocessed(request.id, preprocessor.tokenize_prompt(request.text))
            case Tokenize():
                ids = preprocessor.tokenize(request.text, add_special_tokens=request.add_special_tokens)
                return Preprocessed(request.id, ids)
    except TooLong as error:
        return PromptTooLong(request.id, error.tokens, error.limit, error.more)
    except Exception as error:
        return PromptRefused(request.id, one_line(error))


def work(channel: BlockingChannel) -> None:
    settings = channel.receive()
    preprocessor = Preprocessor(
        load_tokenizer(settings.path), vocabulary.model_size(settings.path), settings.context_length
    )
    channel.send(preprocessor.vocabulary())
    channel.send(Ready())
    while True:
        channel.send(answer(preprocessor, channel.receive()))


if __name__ == "__main__":
    child.run(LoadTokenizer | Preprocess | Tokenize, work, one_line)
