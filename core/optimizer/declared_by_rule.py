"""Optimizers that are declared by their rule, whose hyper-parameters they take and have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from core.errors import DeclarationError, nearest
from core.errors.arguments import signature_of
from core.errors.set_by_init import set_by_init
from core.link import Link
from core.optimizer.hyperparameter import Hyperparameter, HyperparameterProxy
from core.optimizer.optimizer import Optimizer
from core.optimizer.update_rule import UpdateRule

if TYPE_CHECKING:
    import inspect


class DeclaredByRule(Optimizer):
    """Base of optimizers that name the class of their rule, which declares the rest."""

    rule: ClassVar[type[UpdateRule] | None] = None
    arguments: ClassVar[tuple[str, ...] | None] = None
    settings: ClassVar[dict[str, Any]] = {}
    variants: ClassVar[tuple[type[UpdateRule], ...]] = ()  # of `rule`; others have their own
    hyperparam: Hyperparameter = set_by_init()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.rule is None:
            return
        if "rule" in vars(cls) and "variants" not in vars(cls):
            cls.variants = ()
        known = cls._declared()
        for name in (*(cls.arguments or ()), *cls.settings):
            if name not in known and not hasattr(cls, name):
                raise DeclarationError(
                    f"{cls.__name__}: its rule has no hyper-parameter {name!r}; there are "
                    f"{', '.join(known)}.{nearest(name, known)}"
                )
        for name in known:
            if not hasattr(cls, name):
                setattr(cls, name, HyperparameterProxy(name))
        if "__init__" in vars(cls):
            own = signature_of(cls.__init__)
            shown = own.replace(parameters=list(own.parameters.values())[1:])
        else:
            shown = _signature(cls)
        cls.__signature__ = shown  # type: ignore[attr-defined]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        declared = self._declared()
        ranges = {k: v for rule in self._rules() for k, v in rule.ranges.items()}
        whole = [name for rule in self._rules() for name in rule.whole()]
        parent = Hyperparameter(None, ranges, whole).define(**declared) if declared else None
        self.hyperparam = Hyperparameter(parent)
        if args and (isinstance(args[0], (Link, list, tuple)) or hasattr(args[0], "__next__")):
            raise TypeError(
                f"{type(self).__name__}: expected hyperparameters, got {type(args[0]).__name__}. "
                f"What to train is given afterwards: {type(self).__name__}(...).setup(model)."
            )
        try:
            given = _signature(type(self)).bind(*args, **kwargs)
        except TypeError as error:
            known = list(_signature(type(self)).parameters)
            hints = (nearest(n, known, "hyperparameters") for n in kwargs if n not in known)
            raise TypeError(
                f"{type(self).__name__}: {error}.{next(hints, '')} It takes "
                f"{', '.join(known) or 'no arguments'}."
            ) from None
        for name, value in (declared | self.settings | given.arguments).items():
            if name in declared:
                self.hyperparam.assign(type(self).__name__, name, value)
            else:
                setattr(self, name, value)

    @classmethod
    def _rules(cls) -> tuple[type[UpdateRule], ...]:
        return () if cls.rule is None else (cls.rule, *cls.variants)

    @classmethod
    def _declared(cls) -> dict[str, Any]:
        """The hyper-parameters of its rules, with their defaults."""
        return {k: v for rule in cls._rules() for k, v in rule.hyperparameters.items()}

    def __repr__(self) -> str:
        numbers = self.hyperparam.get_dict()
        own = {name: getattr(self, name) for name in self.settings if name not in numbers}
        values = ", ".join(f"{k}={v!r}" for k, v in (numbers | own).items())
        return f"{type(self).__name__}({values})"


def _signature(method: type[DeclaredByRule]) -> inspect.Signature:
    """Arguments of an optimizer: the hyper-parameters of its rule, with their defaults."""
    import inspect

    declared = method._declared()
    names = declared if method.arguments is None else method.arguments
    defaults = declared | method.settings
    from core.registry.signatures import annotation

    made = inspect.Parameter
    classes = [base for each in (*method._rules(), method) for base in each.__mro__[:-1]]
    return inspect.Signature(
        [
            made(
                name,
                made.POSITIONAL_OR_KEYWORD,
                default=defaults[name],
                annotation=annotation(classes, name),
            )
            for name in names
        ]
    )
