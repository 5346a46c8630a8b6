"""Does GenAI take SentencePiece's names of tokens ("▁" for a space, <0x0A> for a byte) for their bytes?"""

import io
import sys
import tempfile
from pathlib import Path

import openvino
import sentencepiece
from openvino_genai import Tokenizer
from openvino_tokenizers.utils import change_inputs_type, change_outputs_type
from pipelines import ROOT
from verdict import report

sys.path.insert(0, str(ROOT / "tests"))
from models.vocabularies.family import Family
from models.vocabularies.sentence_pieces import AsBPE

file = io.BytesIO()
sentencepiece.SentencePieceTrainer.train(
    sentence_iterator=iter(["one two three four five", "six seven eight nine ten"] * 20),
    model_writer=file,
    vocab_size=300,
    model_type="bpe",
    byte_fallback=True,
    minloglevel=2,
)
vocabulary = AsBPE(file.getvalue())
family = Family("small", vocabulary, vocabulary.control, end="</s>", pad="</s>", model_size=300, template="")
with tempfile.TemporaryDirectory() as folder:
    tokenizer, detokenizer = vocabulary.models(family)
    openvino.save_model(change_outputs_type(tokenizer, openvino.Type.i64), Path(folder) / "openvino_tokenizer.xml")
    openvino.save_model(change_inputs_type(detokenizer, openvino.Type.i64), Path(folder) / "openvino_detokenizer.xml")
    named = Tokenizer(folder).get_vocab()
wrong = [name for name in ("<0x0A>", "▁t") if name.encode() in named]
report(bool(wrong), f"the vocabulary that grammars get has the names {wrong}")
