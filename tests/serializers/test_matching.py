"""What is matched with files of other libraries: links alone, by names alone."""

import io

import pytest

import core.links as L
import core.serializers as S
from core import optimizers

LOADERS = ["load_torch", "load_keras"]


def stored():
    file = io.BytesIO()
    S.save_torch(file, L.Linear(3, 2))
    file.seek(0)
    return file


@pytest.mark.parametrize("name", [*LOADERS, "save_torch"])
@pytest.mark.parametrize("model", [optimizers.Adam().setup(L.Linear(3, 2)), L.Linear, "model"])
def test_what_is_no_link_is_refused(name, model):
    with pytest.raises(TypeError, match=f"{name}: expected a path or file and then a link"):
        getattr(S, name)(stored(), model)


@pytest.mark.parametrize("mapping", [{"": 3}, {3: "a"}, lambda name: 3, {"W": ("weight",)}])
def test_a_mapping_has_names_alone(mapping):
    for call in (S.load_torch, S.save_torch):
        with pytest.raises(TypeError, match="mapping: expected a name for each name, or None"):
            call(stored(), L.Linear(3, 2), mapping)
