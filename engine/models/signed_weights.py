"""Stores the weights of a converted GGUF file as signed integers where they don't need zero points (decision 087)."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy

from specvino.engine.models.folder import FILES

_MODEL, _WEIGHTS = FILES[:2]


class _Signed(NamedTuple):
    """The signed type of the same width. `middle` is a byte of zero points in the middle of the unsigned range, and
    also the bits that differ between a weight with such a zero point and the signed weight of the same value.
    """

    type: str
    middle: int


_SIGNED = {"u4": _Signed("i4", 0x88), "u8": _Signed("i8", 0x80)}


def sign_weights(folder: Path) -> int:
    """Rewrites the model in an OpenVINO folder in place, which takes no further disk. Returns the number of matrices
    that became signed. All values stay the same.
    """
    tree = ElementTree.parse(folder / _MODEL)
    graph = _Graph(tree.getroot())
    weights = numpy.memmap(folder / _WEIGHTS, numpy.uint8, "r+")
    signed = 0
    for subtract in graph.layers_of("Subtract"):
        converts = [graph.source(subtract, port) for port in "01"]
        if any(convert.get("type") != "Convert" for convert in converts):
            continue
        matrix, zero_points = (graph.source(convert, "0") for convert in converts)
        kind = _SIGNED.get(_data(matrix).get("element_type", ""))
        if kind is None or not graph.alone(matrix, converts[0], subtract):
            continue
        if numpy.any(weights[_bytes(zero_points)] != kind.middle):
            continue
        weights[_bytes(matrix)] ^= kind.middle
        _data(matrix).set("element_type", kind.type)
        for port in (*matrix.iterfind("output/port"), *converts[0].iterfind("input/port")):
            port.set("precision", kind.type.upper())
        # OpenVINO doesn't read layers that lead to no result, such as the subtraction now.
        graph.replace(subtract, converts[0])
        signed += 1
    weights.flush()
    tree.write(folder / _MODEL, encoding="utf-8", xml_declaration=True)
    return signed


class _Graph:
    """The layers of a model and their connections, as OpenVINO's XML files have them (IR version 11)."""

    def __init__(self, root: Element) -> None:
        self._layers = {layer.get("id"): layer for layer in root.iterfind("layers/layer")}
        self._edges = root.findall("edges/edge")
        self._sources = {(edge.get("to-layer"), edge.get("to-port")): edge.get("from-layer") for edge in self._edges}
        self._uses = Counter(edge.get("from-layer") for edge in self._edges)

    def layers_of(self, type: str) -> list[Element]:
        return [layer for layer in self._layers.values() if layer.get("type") == type]

    def source(self, layer: Element, port: str) -> Element:
        """Returns the layer that an input comes from."""
        return self._layers[self._sources[layer.get("id"), port]]

    def alone(self, *chain: Element) -> bool:
        """Returns whether the output of each but the last has no other use than the next."""
        return all(self._uses[layer.get("id")] == 1 for layer in chain[:-1])

    def replace(self, layer: Element, other: Element) -> None:
        """Connects to `other` what the layer was connected to."""
        port = other.find("output/port")
        for edge in self._edges:
            if edge.get("from-layer") == layer.get("id"):
                edge.set("from-layer", other.get("id", ""))
                edge.set("from-port", port.get("id", "") if port is not None else "")


def _data(layer: Element) -> Element:
    data = layer.find("data")
    return Element("data") if data is None else data


def _bytes(constant: Element) -> slice:
    """Returns where its bytes are in the file of the weights."""
    data = _data(constant)
    begin = int(data.get("offset", "0"))
    return slice(begin, begin + int(data.get("size", "0")))
