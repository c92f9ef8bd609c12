"""The distribution `compat/`, really installed into an environment of its own, and its tests there.

Importing `chainer` switches the whole process to Chainer's ways, so nothing of it is imported here.
"""

import sys

import pytest


@pytest.mark.parametrize(("version", "tests"), [("", "tests"), ("1", "tests/version_1")])
def test_its_tests_pass_there(run, python, version, tests):
    options = ("-q", "-n", "0", "-p", "no:cacheprovider")
    done = run(python, "-m", "pytest", *options, tests, CHAINER_COMPAT=version)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr


def test_it_refuses_to_stand_beside_chainer(run, python, tmp_path):
    """A distribution of that name is enough: its files may have been replaced by these."""
    info = tmp_path / "chainer-7.8.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: chainer\nVersion: 7.8.1\n")
    done = run(python, "-c", "import chainer", PYTHONPATH=tmp_path)
    assert "ImportError" in done.stderr and "chainer 7.8.1 is installed" in done.stderr
    assert "`pip uninstall chainer`" in done.stderr


def test_plugrad_alone_is_as_it_was(run, python):
    """Installing changes nothing: only importing does."""
    program = (
        "import core, numpy as np; x = core.Variable(np.ones(2, 'f')); print((x == 1).array.all(),"
        " core.Parameter(0, (2,)).grad)"
    )
    done = run(python, "-W", "error", "-c", program)
    assert (done.stdout, done.stderr) == ("True None\n", "")
    assert sys.executable != str(python)
