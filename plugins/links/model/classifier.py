"""A predictor with its loss and accuracy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core import Chain, Variable
from core import functions as F
from core.errors.kinds import checked
from core.link import Link
from core.training import reporter


class Classifier(Chain):
    r"""Compute the loss of a predictor, and report loss and accuracy.

    .. math:: y = \mathrm{lossfun}(\mathrm{predictor}(x), t)

    Args:
        predictor: The link that predicts, from all arguments but the labels.
        lossfun: `lossfun(y, t)` gives the loss of predictions y for labels t.
        accfun: `accfun(y, t)` gives the accuracy.
        label_key: Which argument the labels are: the number of a positional or the name of a
            keyword argument.

    Shapes: what the predictor takes, and labels as lossfun wants them: (n,) integers for
    `softmax_cross_entropy`. Calling it gives the loss, (). The attributes `y`, `loss` and
    `accuracy` hold the latest results; after a step of an optimizer `y` holds the predictions
    without their graph, which is gone then. Set `compute_accuracy` to False to leave the accuracy
    out.

    >>> import core.links as L, numpy as np
    >>> model = L.Classifier(L.Linear(2, 3, initialW=0))
    >>> loss = model(np.ones((4, 2), "f"), np.array([0, 1, 2, 0], "i"))
    >>> round(loss.item(), 4), model.accuracy.item()
    (1.0986, 0.5)
    """

    compute_accuracy: bool = True
    predictor: Any

    @checked
    def __init__(
        self,
        predictor: Link,
        lossfun: Callable[..., Any] = F.softmax_cross_entropy,
        accfun: Callable[..., Any] = F.accuracy,
        label_key: int | str = -1,
    ) -> None:
        super().__init__()
        self.lossfun = lossfun
        self.accfun = accfun
        self.label_key = label_key
        self._forget()
        with self.init_scope():
            self.predictor = predictor

    def _forget(self) -> None:
        self.y: Any = None
        self.loss: Any = None
        self.accuracy: Any = None

    def forward(self, *args: Any, **kwargs: Any) -> Variable:
        """Compute the loss of the prediction for the labels, which are among the arguments."""
        t, args = self._labels(args, kwargs)
        if not args and not kwargs:
            raise TypeError(
                "links.Classifier: expected what the predictor takes beside the labels, got the "
                "labels alone. Call it with both, as model(x, t)."
            )
        self._forget()
        self.y = self.predictor(*args, **kwargs)
        self.loss = self.lossfun(self.y, t)
        reporter.report({"loss": self.loss}, self)
        if self.compute_accuracy:
            self.accuracy = self.accfun(self.y, t)
            reporter.report({"accuracy": self.accuracy}, self)
        loss: Variable = self.loss
        return loss

    def _labels(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
        """The labels, and the positional arguments without them; takes them out of `kwargs`."""
        key = self.label_key
        if isinstance(key, str):
            if key not in kwargs:
                raise ValueError(
                    f"links.Classifier: expected the labels as the argument {key!r}, got "
                    f"{', '.join(kwargs) or 'no keyword arguments'}."
                )
            return kwargs.pop(key), args
        if not -len(args) <= key < len(args):
            raise ValueError(
                f"links.Classifier: expected the labels as argument number {key}, got "
                f"{len(args)} positional arguments"
                + (f" and {', '.join(kwargs)}. Name one of these as label_key." if kwargs else ".")
            )
        place = key % len(args)
        return args[place], args[:place] + args[place + 1 :]

    def release_graph(self) -> None:
        """Keep the predictions without the graph that computed them."""
        if isinstance(self.y, Variable):
            self.y = Variable(self.y.array, name=self.y.name, requires_grad=False)

    def __getstate__(self) -> dict[str, Any]:
        # Results are of the moment; their graphs could not be copied anyway.
        return {**super().__getstate__(), "y": None, "loss": None, "accuracy": None}
