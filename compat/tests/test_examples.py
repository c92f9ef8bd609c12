"""Chainer's own example programs, where one has them: CHAINER_EXAMPLES is the folder `examples`.

They are no part of this repository: name the folder of a checkout or of an unpacked release (7.7.0
has it whole), and each program runs as it is, in a process of its own, on small data.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import small_data

THEIRS = Path(os.environ.get("CHAINER_EXAMPLES", ""))
HERE = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    "CHAINER_EXAMPLES" not in os.environ,
    reason="CHAINER_EXAMPLES does not name a folder of Chainer's example programs",
)

PROGRAMS = """
mnist/train_mnist.py -g -1 -e 1 -u 20
mnist/train_mnist_custom_loop.py -g -1 -e 1 -u 20
mnist/inference.py -g -1 -u 20 -s result/snapshot_iter_3
mnist/train_mnist_model_parallel.py -g -1 -G -1 -e 1 -u 20
cifar/train_cifar.py -g -1 -e 1 -b 8
cifar/train_cifar_custom_loop.py -g -1 -e 1 -b 8
dcgan/train_dcgan.py -g -1 -e 1 -b 4 --snapshot_interval 4 --display_interval 1
ptb/train_ptb.py -g -1 -e 1 -u 10 -b 4 -l 5
ptb/train_ptb_custom_loop.py -g -1 -e 1 -u 10 -b 4 -l 5
ptb/gentxt.py -m model.npz -u 10 -p the
word2vec/train_word2vec.py -g -1 -e 1 -u 10 -b 50 -o hsm
word2vec/train_word2vec.py -g -1 -e 1 -u 10 -b 50 -o ns
word2vec/train_word2vec.py -g -1 -e 1 -u 10 -b 50 -m cbow -o original
word2vec/search.py
sentiment/train_sentiment.py -g -1 -e 1 -p 1 --test
sentiment/train_recursive_minibatch.py -g -1 -e 1 -p 1 --test
vae/train_vae.py -g -1 -e 1 --dim-h 20 -z 5
memnn/train_memnn.py babi.txt babi.txt -g -1 -e 2 -b 4
memnn/test_memnn.py model babi.txt
seq2seq/seq2seq.py source.txt target.txt vocabulary.txt vocabulary.txt --validation-source \
source.txt --validation-target target.txt -g -1 -e 2 -b 4 -u 10 -l 2 --log-interval 2 \
--validation-interval 4 -s saved.npz
pos/postagging.py -g -1 -e 1
imagenet/compute_mean.py list.txt
imagenet/train_imagenet.py list.txt list.txt -a nin -g -1 -E 1 -B 2 -b 2 --test
imagenet/train_imagenet.py list.txt list.txt -a alex -g -1 -E 1 -B 2 -b 2 --test
imagenet/train_imagenet.py list.txt list.txt -a resnet50 -g -1 -E 1 -B 2 -b 2 --test
imagenet/train_imagenet.py list.txt list.txt -a googlenetbn -g -1 -E 1 -B 2 -b 2 --test
glance/glance.py
serialization/save.py
serialization/load.py
static_graph_optimizations/mnist/train_mnist.py -g -1 -e 1 -u 20
static_graph_optimizations/mnist/train_mnist_custom_loop.py -g -1 -e 1 -u 20
static_graph_optimizations/cifar/train_cifar.py -g -1 -e 1 -b 8
static_graph_optimizations/cifar/train_cifar_custom_loop.py -g -1 -e 1 -b 8
chainermn/mnist/train_mnist.py -e 1 -u 20
chainermn/mnist/train_mnist_model_parallel.py -e 1 -u 20
""".strip().splitlines()


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """A folder with data for the programs, which find what the ones before them left there."""
    folder = tmp_path_factory.mktemp("examples")
    small_data.prepare(folder / "datasets", folder)
    return folder


def run(program, arguments, place):
    path = THEIRS / program
    command = [sys.executable, str(path), *arguments]
    if program.startswith("chainermn/"):
        command = ["mpiexec", "-n", "2", *command]
    paths = [str(HERE), str(HERE / "compat")]
    environment = {
        **os.environ,
        "CHAINER_DATASET_ROOT": str(place / "datasets"),
        "NLTK_DATA": str(place / "nltk_data"),
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "agg",
    }
    return subprocess.run(
        command, cwd=place, env=environment, capture_output=True, text=True, timeout=300, input=""
    )


@pytest.mark.parametrize("line", PROGRAMS, ids=lambda line: line[:70])
def test_it_runs_unchanged(line, place):
    program, *arguments = line.split()
    if not (THEIRS / program).exists():
        pytest.skip(f"{THEIRS} has no {program}")
    done = run(program, arguments, place)
    missing = "ModuleNotFoundError: No module named "
    last = done.stderr.strip().splitlines()[-1:] or [""]
    if last[0].startswith(missing):
        pytest.skip(f"{program} needs {last[0].removeprefix(missing)}, which is not installed")
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
