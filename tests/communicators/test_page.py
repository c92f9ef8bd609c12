"""What docs/communicators.md shows for launchers is what they read."""

import re
import subprocess
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "communicators.md").read_text(encoding="utf-8")


def block(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.S)[1]


def test_the_batch_script_is_one():
    text = block("bash")
    done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    options = re.findall(r"^#SBATCH --([a-z-]+)=\S+$", text, re.M)
    assert options == ["nodes", "ntasks-per-node", "cpus-per-task", "time"]


def test_the_job_of_kubernetes_is_one():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    job = yaml.safe_load(block("yaml"))
    assert (job["apiVersion"], job["kind"]) == ("kubeflow.org/v2beta1", "MPIJob")
    replicas = job["spec"]["mpiReplicaSpecs"]
    assert {*replicas} == {"Launcher", "Worker"}
    command = replicas["Launcher"]["template"]["spec"]["containers"][0]["command"]
    ranks = job["spec"]["slotsPerWorker"] * replicas["Worker"]["replicas"]
    assert all([isinstance(word, str) for word in command])
    assert command[command.index("-n") + 1] == str(ranks)
    limits = replicas["Worker"]["template"]["spec"]["containers"][0]["resources"]["limits"]
    assert {*limits} <= {"cpu", "memory", "nvidia.com/gpu"}


def test_the_container_copies_before_it_installs():
    words = [line.split()[0] for line in block("dockerfile").replace("\\\n", "").splitlines()]
    assert words == ["FROM", "RUN", "COPY", "RUN", "WORKDIR"]
