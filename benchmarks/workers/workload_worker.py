"""The worker of workloads: ``workload_worker.py FRAMEWORK SETTING THREADS DEVICE WORKLOAD``.

The device is by its name in plugrad, or empty; the workload is an object of JSON.
"""

import json
import sys
from pathlib import Path

from protocol import refuse, serve

# At the end: all are to find the benchmarks there, and nobody but plugrad anything else.
sys.path.append(str(Path(__file__).parents[2]))

from benchmarks.kits import Missing
from benchmarks.work import Work
from benchmarks.workloads import Workload


def main(framework: str, setting: str, threads: str, device: str, workload: str) -> None:
    given = json.loads(workload)
    w = Workload(**{**given, "sizes": tuple(given["sizes"])})
    try:
        work = Work(framework, setting, int(threads), w, device)
    except Missing as error:
        return refuse(str(error))
    asked = (work.able, work.amount, work.values, work.warming, work.settle, work.peak, work.held)
    questions = {question.__name__: question for question in asked}
    serve({w.name: work.run}, work.kit.versions(), questions)


if __name__ == "__main__":
    main(*sys.argv[1:])
