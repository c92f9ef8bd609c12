"""Who takes part: frameworks, each in the settings that are measured."""

import json
import sys
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

from benchmarks import peers
from benchmarks.process import Worker
from benchmarks.workloads import Workload

SUBJECT = "plugrad"
PLAIN = "plugrad-plain"
EAGER = "plugrad-eager"
NUMPY_ALONE = {"PLUGRAD_COMPILED": "0"}
PLAINER = {PLAIN: "without [fast]", EAGER: "eager"}
"""plugrad in the settings beside the subject's, of which the same ratios are told."""
COMPILED = "compiled"
"""The setting of those who compile whole steps, as captures do, where they can."""
CAPTURED = {"captured": "plugrad captured", "fused": "plugrad captured, fused"}


@dataclass(frozen=True)
class Contestant:
    """A framework in a setting."""

    name: str
    framework: str
    label: str
    setting: str = "default"
    device: str = ""
    """Where its arrays are, by the name of plugrad's device; on the host by default."""
    variables: dict[str, str] = field(default_factory=dict)

    def takes_part(self, w: Workload) -> bool:
        """Whether a workload has this setting."""
        if self.setting == COMPILED:
            return w.mode != "memory"
        return self.setting != "best" or bool(w.best)

    def describe(self, w: Workload) -> str:
        """The label, with what the best setting is."""
        return f"{self.label}: {w.best}" if self.setting == "best" else self.label

    def start(self, w: Workload, threads: int) -> Worker:
        """Start its process for a workload."""
        own = self.framework in ("plugrad", "numpy")  # NumPy is there, as plugrad uses it
        python = Path(sys.executable) if own else peers.environment(self.framework)
        given = [self.framework, self.setting, str(threads), self.device, json.dumps(asdict(w))]
        command = ["workload_worker.py", *given]
        # The framework's name decides about the path; the worker's is the contestant's.
        worker = Worker(self.framework, python, command, threads, self.variables)
        worker.name = self.name
        return worker


ALL = {
    c.name: c
    for c in [
        Contestant(SUBJECT, "plugrad", "plugrad"),
        Contestant(PLAIN, "plugrad", "plugrad without [fast]", "plain", variables=NUMPY_ALONE),
        Contestant(EAGER, "plugrad", "plugrad eager"),
        Contestant("torch", "torch", "PyTorch eager"),
        Contestant("torch-best", "torch", "PyTorch", "best"),
        Contestant("torch-compiled", "torch", "PyTorch, torch.compile", COMPILED),
        Contestant("jax", "jax", "JAX, jit"),
        Contestant("chainer", "chainer", "Chainer"),
        Contestant("numpy", "numpy", "NumPy by hand"),
    ]
}
FRAMEWORKS = list(dict.fromkeys(c.framework for c in ALL.values() if c.framework != "plugrad"))


def chosen(
    against: list[str],
    compiled: bool | None = None,
    captured: str = "",
    backend: str = "",
    device: str = "",
) -> list[Contestant]:
    """Return plugrad and all settings of the frameworks; `[fast]` is a setting if it is there.

    With `captured`, a setting, the subject are captured steps, beside those of eager, and others
    compile theirs as well; with `backend`, the name of one, steps on its arrays. With `device` they
    are captured too, and the arrays of all are there.
    """
    if device:
        return [replace(c, device=device) for c in chosen(against, captured="captured")]
    others = [
        c for c in ALL.values() if c.framework in against and (captured or c.setting != COMPILED)
    ]
    if captured:
        subject = Contestant(SUBJECT, "plugrad", CAPTURED[captured], captured)
        return [subject, ALL[EAGER], *others]
    if backend:
        subject = Contestant(SUBJECT, "plugrad", f"plugrad on {backend}", device=backend)
        return [subject, *others]
    fast = find_spec("numba") is not None if compiled is None else compiled
    own = [SUBJECT, PLAIN] if fast else [SUBJECT]
    return [ALL[n] for n in own] + others
