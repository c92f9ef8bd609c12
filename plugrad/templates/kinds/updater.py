"""The updater `Thing`."""

from core.training.updaters import StandardUpdater


class Thing(StandardUpdater):
    """Takes two steps on each batch."""

    def update_core(self) -> None:
        """One iteration."""
        optimizer = self.get_optimizer("main")
        arrays = self.converter(self.get_iterator("main").next(), self.device)
        for _ in range(2):
            optimizer.update(self.loss_func or optimizer.target, *arrays)
