"""What notebooks show of links and variables, parsed as HTML."""

from html.parser import HTMLParser

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L


class Table(HTMLParser):
    """The caption and the rows of a table; fails on tags that do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.caption, self.rows, self.kinds = [], "", [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in ("table", "caption", "tr", "th", "td")
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
            self.kinds.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["caption"]:
            self.caption += data
        elif self.open[-1:] in (["th"], ["td"]):
            self.rows[-1][-1] += data
        else:
            assert not data.strip()


def test_a_link_is_a_table_of_its_parts():
    model = core.Sequential(L.Linear(3, 4), F.relu, L.Linear(None, 2))
    model[0].add_persistent("note", "<b>&")
    model[0].b.frozen = True
    table = Table(model._repr_html_())
    assert table.caption == "Sequential: 18 parameters, 1 unsized"
    assert table.rows == [
        ["", "shape", "dtype", "elements"],
        ["/0: Linear(in_size=3, out_size=4)", "", "", "16"],
        ["/0/W", "(4, 3)", "float32", "12"],
        ["/0/b", "(4,)", "float32 frozen", "4"],
        ["/0/note", "'<b>&'", "persistent", ""],
        ["relu", "", "", ""],
        ["/1: Linear(in_size=None, out_size=2)", "", "", "2 + ?"],
        ["/1/W", "unsized", "", "?"],
        ["/1/b", "(2,)", "float32", "2"],
    ]
    assert table.kinds == ["th"] * 4 + ["td"] * 32


def test_a_link_without_parameters():
    table = Table(core.Link()._repr_html_())
    assert table.caption == "Link: 0 parameters" and len(table.rows) == 1


@pytest.mark.parametrize("place", ["numpy", "strict"])
def test_a_variable_is_its_array_and_gradient(place):
    x = core.Variable(np.array([[1.0, 2.0], [3.0, 4.0]], "f"), name="<x>").to_device(place)
    table = Table(x._repr_html_())
    assert table.caption.startswith("variable <x>: (2, 2) float32 on ") and place in table.caption
    assert table.rows == [["array", "[[1. 2.]\n [3. 4.]]"]]
    x.zerograd()
    assert Table(x._repr_html_()).rows[1] == ["grad", "[[0. 0.]\n [0. 0.]]"]


def test_a_parameter_without_an_array():
    table = Table(core.Parameter(name="W")._repr_html_())
    assert table.caption == "variable W, uninitialized" and table.rows == []


def test_one_number():
    assert Table(core.Variable(np.array(2.5))._repr_html_()).rows == [["array", "2.5"]]


def test_columns_of_an_array_stay_below_each_other():
    matrix = core.Variable(np.array([[0.5, -1.25]] * 2))
    cell = matrix._repr_html_().partition("[[")[0].rpartition("<td")[2]
    assert "white-space:pre" in cell and "font-family:monospace" in cell
    assert "monospace" not in L.Linear(3, 4)._repr_html_()
