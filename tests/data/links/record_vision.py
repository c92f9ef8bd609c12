"""Writes vision.txt and vision.json with Chainer itself, once: see README.md."""

import json
import sys
from itertools import groupby
from pathlib import Path

import chainer
import chainer.links as L
import numpy as np
from data.links.vision_values import parameter, summary, values

FOLDER = Path(__file__).parent
MODELS = {
    "VGG16Layers": (lambda: L.VGG16Layers(None), 224, "prob"),
    "VGG19Layers": (lambda: L.VGG19Layers(None), 224, "prob"),
    "GoogLeNet": (lambda: L.GoogLeNet(None), 224, "prob"),
    "ResNet50Layers": (lambda: L.ResNet50Layers(None), 64, "prob"),
    "ResNet50Layers downsample_fb": (
        lambda: L.ResNet50Layers(None, downsample_fb=True),
        64,
        "prob",
    ),
    "ResNet101Layers": (lambda: L.ResNet101Layers(None), 64, "prob"),
    "ResNet152Layers": (lambda: L.ResNet152Layers(None), 64, "prob"),
    "VGG16Layers of odd size": (lambda: L.VGG16Layers(None), 45, "pool5"),
    "GoogLeNet of odd size": (lambda: L.GoogLeNet(None), 101, "inception_5b"),
}


def entries(model):
    saved = chainer.serializers.DictionarySerializer()
    saved.save(model)
    return saved.target


def lines(found):
    """Each link in a line, with the shapes of what it owns."""
    for owner, names in groupby(sorted(found), lambda name: name.rpartition("/")[0]):
        shapes = (f"{n.rpartition('/')[2]}={'x'.join(map(str, np.shape(found[n])))}" for n in names)
        yield f"{owner} {' '.join(shapes)}\n"


def fill(model):
    for path, link in model.namedlinks():
        for name in (*link._params, *link._persistent):
            array = getattr(link, name)
            array = getattr(array, "array", array)
            if isinstance(array, np.ndarray):
                array[...] = parameter(f"{path}/{name}".strip("/"), array.shape)


def main():
    outputs = {}
    with open(FOLDER / "vision.txt", "w") as text:
        for name, (make, size, last) in MODELS.items():
            model = make()
            if " " not in name:
                text.write(f"[{name}]\n")
                text.writelines(lines(entries(model)))
            fill(model)
            layers = model.available_layers
            if last != "prob":
                layers = layers[: layers.index(last) + 1]
            x = (50 * values("x", (1, 3, size, size))).astype("f")
            with chainer.using_config("train", False), chainer.no_backprop_mode():
                y = model(x, layers=layers)
            outputs[name] = {
                layer: [list(y[layer].shape), summary(y[layer].array)] for layer in layers
            }
            print(name, file=sys.stderr)
    with open(FOLDER / "vision.json", "w") as file:
        rows = (
            f'"{name}": {{\n' + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in y.items()) + "\n}"
            for name, y in outputs.items()
        )
        file.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
