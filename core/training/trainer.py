"""The training loop."""

from __future__ import annotations

from contextlib import closing

from core.errors.kinds import checked
from core.training.loop import Loop


class Trainer(Loop):
    """Repeat an update, then all extensions whose triggers fire, until the stop trigger fires.

    `stop_trigger` is a pair such as `(20, 'epoch')`, counted from the beginning also of a run that
    is resumed, or a function of the trainer. None, as in Chainer, lets the run go on until a signal
    or an exception ends it. `out` is the directory of the results, made when the run begins; what
    an earlier run has left there, and this one would replace without going on from it, is moved to
    a directory in it, with a warning. `extensions` are added as by `extend`.

    While it runs, `observation` holds what was reported in this iteration: by the optimizers'
    targets, under the optimizers' names ('main/loss'), and by the extensions.

    Serialization covers the updater, all extensions and triggers and the state of all random
    numbers: a run that is resumed ends with the same bits as one that was never interrupted.

    >>> import core.links as L, numpy as np, tempfile
    >>> from core import iterators, optimizers, training
    >>> examples = [(np.ones(2, "f"), 0), (np.zeros(2, "f"), 1)]
    >>> optimizer = optimizers.SGD(0.1).setup(L.Classifier(L.Linear(2, 2)))
    >>> updater = training.StandardUpdater(iterators.SerialIterator(examples, 1), optimizer)
    >>> trainer = training.Trainer(updater, (3, "epoch"), out=tempfile.mkdtemp())
    >>> trainer.extend(lambda trainer: print(trainer.updater.epoch), trigger=(1, "epoch"))
    >>> trainer.run()
    1
    2
    3
    """

    @checked
    def run(self, show_loop_exception_msg: bool = True) -> None:
        """Train until the stop trigger fires; a trainer can run only once.

        When something raises, `on_error` of every extension is called and the error, which says
        the extension it comes from, is raised again; `show_loop_exception_msg` prints it
        beforehand. Extensions and updater are finalized in any case.

        SIGINT (Ctrl-C) and SIGTERM let the iteration under way come to its end. Then `on_interrupt`
        of every extension is called, by which `snapshot` saves, and the run ends with SystemExit
        of the usual status, 130 or 143; that of SIGINT is a KeyboardInterrupt as well, and nothing
        else where someone types commands. A second signal is obeyed at once. This holds in the
        main thread, where signals can be handled, and for signals that the program has not given a
        handler of its own.
        """
        with self._session(show_loop_exception_msg), closing(self._turns()) as turns:
            for _ in turns:
                self.updater.update()
