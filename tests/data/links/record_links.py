"""Writes links.json with Chainer itself, once: see README.md."""

import json
from pathlib import Path

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer.links.model.vision import resnet
from data.links.link_facts import all_deviations, facts
from data.links.link_scripts import all_scripts

FOLDER = Path(__file__).parent


def main():
    np.random.seed(0)
    L.BottleneckA, L.BottleneckB = resnet.BottleneckA, resnet.BottleneckB
    namespace = {"L": L, "F": F}
    tables = {
        "facts": facts(namespace, chainer),
        "deviations": all_deviations(namespace),
        "scripts": all_scripts(chainer),
    }
    with open(FOLDER / "links.json", "w") as file:
        parts = [
            f'"{name}": {{\n'
            + ",\n".join(f"{json.dumps(code)}: {json.dumps(v)}" for code, v in table.items())
            + "\n}"
            for name, table in tables.items()
        ]
        file.write("{\n" + ",\n".join(parts) + "\n}\n")


if __name__ == "__main__":
    main()
