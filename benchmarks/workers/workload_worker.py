"""The worker of workloads: ``workload_worker.py FRAMEWORK SETTING THREADS WORKLOAD``."""

import sys
from pathlib import Path

from protocol import serve

# At the end: all are to find the benchmarks there, and nobody but plugrad anything else.
sys.path.append(str(Path(__file__).parents[2]))

from benchmarks.work import Work
from benchmarks.workloads import WORKLOADS


def main(framework: str, setting: str, threads: str, workload: str) -> None:
    work = Work(framework, setting, int(threads), WORKLOADS[workload])
    asked = (work.able, work.amount, work.values, work.warming, work.settle, work.peak)
    questions = {question.__name__: question for question in asked}
    serve({workload: work.run}, work.kit.versions(), questions)


if __name__ == "__main__":
    main(*sys.argv[1:])
