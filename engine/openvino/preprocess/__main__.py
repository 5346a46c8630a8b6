"""The preprocess process: it answers one message after the other until the server ends."""

from pathlib import Path

from openvino_genai import Tokenizer

from specvino.engine.chat_template.files import TemplateTexts, read_templates
from specvino.engine.openvino.messages.images import without_image_tags
from specvino.engine.openvino.messages.preprocess import (
    Detokenize,
    Detokenized,
    FromPreprocess,
    LoadTokenizer,
    Preprocess,
    Preprocessed,
    PromptRefused,
    PromptTooLong,
    Spell,
    Spelt,
    Tokenize,
)
from specvino.engine.openvino.native.error_output import last_words, one_line
from specvino.engine.openvino.native.tokenizer import load_tokenizer
from specvino.engine.openvino.preprocess import vocabulary
from specvino.engine.openvino.preprocess.length import TooLong
from specvino.engine.openvino.preprocess.preprocessor import Preprocessor
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel, Ready


def answer(preprocessor: Preprocessor, request: Preprocess | Tokenize | Detokenize | Spell) -> FromPreprocess:
    try:
        match request:
            case Preprocess(most_characters=int(most)):
                ids = preprocessor.render(request.conversation(), most, request.pieces, as_text=request.as_text)
                return Preprocessed(request.id, ids)
            case Preprocess(as_text=True):
                text = preprocessor.write(request.conversation(), request.pieces)
                ending, hidden = preprocessor.ending, preprocessor.hidden
                ids = preprocessor.tokenize_prompt(without_image_tags(text))
                return Preprocessed(request.id, ids, text, ending, hidden)
            case Preprocess():
                ids = preprocessor.preprocess(request.conversation(), request.cut, request.pieces)
                return Preprocessed(request.id, ids, None, preprocessor.ending, preprocessor.hidden)
            case Tokenize(prompt=True):
                special = request.add_special_tokens
                ids = preprocessor.tokenize_prompt(request.text, add_special_tokens=special, cut=request.cut)
                return Preprocessed(request.id, ids)
            case Tokenize():
                special, parse = request.add_special_tokens, request.parse_special
                ids = preprocessor.tokenize(request.text, add_special_tokens=special, parse_special=parse)
                return Preprocessed(request.id, ids)
            case Detokenize():
                skip = request.skip_special_tokens
                return Detokenized(request.id, preprocessor.detokenize(request.token_ids, skip_special_tokens=skip))
            case Spell():
                return Spelt(request.id, preprocessor.token_bytes(request.token_ids))
    except TooLong as error:
        return PromptTooLong(request.id, error.count, error.limit, error.unit, error.more)
    except Exception as error:
        return PromptRefused(request.id, one_line(error))


def work(channel: BlockingChannel) -> None:
    settings = channel.receive()
    tokenizer = load_tokenizer(settings.path)
    preprocessor = Preprocessor(
        tokenizer, vocabulary.model_size(settings.path), settings.context_length, _templates(settings, tokenizer)
    )
    channel.send(preprocessor.vocabulary())
    channel.send(Ready())
    while True:
        channel.send(answer(preprocessor, channel.receive()))


def _templates(settings: LoadTokenizer, tokenizer: Tokenizer) -> TemplateTexts:
    if settings.chat_template is not None:
        return TemplateTexts(settings.chat_template)
    return read_templates(Path(settings.path), tokenizer.get_original_chat_template())


if __name__ == "__main__":
    child.run(LoadTokenizer | Preprocess | Tokenize | Detokenize | Spell, work, last_words)
