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


def test_the_form_of_the_file_of_hosts_is_read(default_ranks, tmp_path):
    lines = block("text").split()
    assert all([re.fullmatch(r"node\d:\d", line) for line in lines])
    hosts = tmp_path / "hosts"
    hosts.write_text("localhost:1\n127.0.0.1:1\n")
    mpiexec, _, _, python = default_ranks.launcher(1)
    # Ranks, since of a process that ends at once this launcher may lose what it has written.
    rank = [python, "-c", "from mpi4py import MPI; print(f'one of {MPI.COMM_WORLD.size}')"]
    done = subprocess.run([mpiexec, "-f", hosts, "-n", "2", *rank], capture_output=True, text=True)
    if "unrecognized" in done.stderr.lower() or "unknown option" in done.stderr.lower():
        pytest.skip("this is not the mpiexec of MPICH")
    assert done.stdout.count("one of 2") == 2, done.stdout + done.stderr  # perhaps in one line


JOB = {  # of the fields of an MPIJob those that are used here, by their kinds
    "slotsPerWorker": int,
    "mpiImplementation": ("OpenMPI", "Intel", "MPICH"),
    "launcherCreationPolicy": ("AtStartup", "WaitForWorkersReady"),
    "runPolicy": {"cleanPodPolicy": ("None", "Running", "All"), "backoffLimit": int},
    "mpiReplicaSpecs": dict.fromkeys(
        ("Launcher", "Worker"),
        {
            "replicas": int,
            "restartPolicy": ("Never", "OnFailure"),
            "template": {"spec": {"containers": list}},
        },
    ),
}


def fits(value, form, path="spec"):
    """Whether a value has the fields and kinds of a form."""
    if isinstance(form, dict):
        assert {*value} <= {*form}, path
        for name, part in value.items():
            fits(part, form[name], f"{path}.{name}")
    elif isinstance(form, tuple):
        assert value in form, path
    else:
        assert isinstance(value, form), path


def test_the_job_of_kubernetes_is_one():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    job = yaml.safe_load(block("yaml"))
    assert (job["apiVersion"], job["kind"]) == ("kubeflow.org/v2beta1", "MPIJob")
    fits(job["spec"], JOB)
    replicas = job["spec"]["mpiReplicaSpecs"]
    assert {*replicas} == {"Launcher", "Worker"}
    command = replicas["Launcher"]["template"]["spec"]["containers"][0]["command"]
    ranks = job["spec"]["slotsPerWorker"] * replicas["Worker"]["replicas"]
    assert all([isinstance(word, str) for word in command])
    assert command[command.index("-n") + 1] == str(ranks)
    limits = replicas["Worker"]["template"]["spec"]["containers"][0]["resources"]["limits"]
    assert {*limits} <= {"cpu", "memory", "nvidia.com/gpu"}


def test_the_container_copies_before_it_installs():
    text = block("dockerfile").replace("\\\n", "")
    words = [line.split()[0] for line in text.splitlines()]
    for line in text.splitlines():
        if line.startswith("RUN"):
            subprocess.run(["bash", "-n"], input=line[3:], text=True, check=True)
    assert words == ["FROM", "RUN", "COPY", "RUN", "WORKDIR"]
