"""Links, which own parameters, give them names and a device, and save them."""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

from core.arrays.backend import (
    Device,
    DeviceSpec,
    current_device,
    get_device,
    gpu,
    host,
    to_backend,
)
from core.arrays.backend import of as backend_of
from core.errors import RegistrationError, nearest
from core.errors.keywords import KnownKeywords, answering
from core.errors.kinds import truth
from core.errors.place import warn
from core.errors.refused import real_names, refuse_names_of_others
from core.errors.slips import TellsSlips
from core.graph.fitting import is_array
from core.link.copies import check_writable, copied, match
from core.link.hook import LinkHook, call_observed
from core.link.initializer import filled
from core.link.parameter import Parameter
from core.link.recurrent_state import RecurrentState
from core.link.registering import Registering
from core.link.serializer import Deserializer
from core.registry.configuration import current_state
from core.registry.hook import with_hook, without_hook

if TYPE_CHECKING:
    from typing import ParamSpec, Protocol, TypeVar

    from core.link.sequential import Sequential

    P = ParamSpec("P")
    R = TypeVar("R", covariant=True)

    class HasForward(Protocol[P, R]):
        """A link, by what its `forward` takes and gives."""

        def forward(self, *args: P.args, **kwargs: P.kwargs) -> R:
            """What the link computes."""


COPY_MODES = ("init", "copy", "share")


@answering("children", "cleargrads", "links", "params", "release_graph")
class Link(RecurrentState, Registering, KnownKeywords, TellsSlips):
    """A building block with parameters, which a subclass applies in `forward`.

    Parameters are registered by setting them as attributes inside `with self.init_scope():`; an
    attribute set outside is just an attribute. They can also be given by shape, as keywords. In the
    place of a parameter another may be set at any time, an array (which becomes its values), or
    None, without which the link then does.

    A link that keeps Variables from call to call names their attributes in `carried`, a tuple that
    the class has: they move with the link, and snapshots of a training hold them.

    Args:
        params: Name -> shape, or name -> (shape, dtype), of parameters to register unfilled (NaN);
            a shape of None is left open.

    >>> import core
    >>> class Scale(core.Link):
    ...     def __init__(self, size):
    ...         super().__init__()
    ...         with self.init_scope():
    ...             self.factor = core.Parameter(1, (size,))
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> Scale(3)
    Scale: 3 parameters
    └─ factor  (3,) float32  3
    """

    _reserved = (*Registering._reserved, "name", "_device", "_hooks")
    name: str | None = None
    _device: Device | None = None
    _hooks: dict[str, LinkHook] | None = None

    def __init__(self, **params: Any) -> None:
        super().__init__()
        for name, value in params.items():
            shape, dtype = _shape_and_dtype(value)
            self.add_param(name, shape, dtype)

    # ------------------------------------------------------------------ calling

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; calling the link calls this method."""
        for name in ("forward", "__call__"):  # of a class that stands after Link among the bases
            mixed_in: Any = getattr(super(), name, None)
            if mixed_in is not None:
                return mixed_in(*args, **kwargs)
        raise NotImplementedError(
            f"{type(self).__name__} defines no forward(). Write one, or call a link that has it."
        )

    if TYPE_CHECKING:  # a call takes and gives what the `forward` of its class does

        def __call__(self: HasForward[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
            """Apply the link."""

    else:

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            """Apply the link: `forward`, with the active hooks around it."""
            try:
                if self._hooks is None and not current_state().observes_links:
                    return self.forward(*args, **kwargs)
                return call_observed(self, args, kwargs)
            except Exception:
                from core.errors.notes import note

                note(sys.exception())  # without a name here, which frames that are read would keep
                raise

    @property
    def local_link_hooks(self) -> dict[str, LinkHook]:
        """The hooks of this link alone, by name."""
        return self._hooks or {}

    def add_hook(self, hook: LinkHook, name: str | None = None) -> Self:
        """Call `hook` whenever this link is called; returns the link itself."""
        hooks = with_hook(type(self).__name__, self.local_link_hooks, hook, name, LinkHook)
        hook.added(self)  # which may refuse the link
        self._hooks = hooks
        return self

    def delete_hook(self, name: str) -> None:
        """Remove the hook called `name`."""
        hooks = self.local_link_hooks
        self._hooks = without_hook(type(self).__name__, hooks, name) or None
        hooks[name].deleted(self)

    def __dir__(self) -> list[str]:
        return real_names(self)

    def _left_out(self, name: str, parameter: Parameter) -> None:
        """Warn of a parameter that is not registered where the others are being trained."""
        untrained = parameter.requires_grad and parameter.update_rule is None
        if untrained and any(each.update_rule is not None for each in self.params()):
            warn(
                f"{type(self).__name__}.{name}: this parameter is neither trained nor saved nor "
                "moved, though the link's others have an optimizer. Set it inside `with "
                "self.init_scope():`, and call the optimizer's setup after that."
            )

    def _register(self, name: str, value: Any) -> None:
        if isinstance(value, Link):
            raise RegistrationError(
                f"{type(self).__name__}.{name}: a Link holds parameters only, and cannot register "
                f"the {type(value).__name__}. Derive {type(self).__name__} from core.Chain."
            )
        super()._register(name, value)

    # ------------------------------------------------------------------ walking

    def _named_children(self) -> Iterable[tuple[str, Link]]:
        """The direct children, each with the name that paths use."""
        return ()

    def _shown_parts(self) -> Iterator[tuple[str, Link | None]]:
        """What `repr` lists below the parameters: children, and names of what is not a link."""
        yield from self._named_children()

    def children(self) -> Iterator[Link]:
        """Iterate over the links directly under this one."""
        yield from self._child_links()

    def _child_links(self) -> list[Link]:  # without the names: each step of a training asks
        return []

    def links(self, skipself: bool = False) -> Iterator[Link]:
        """Iterate over this link and all links below, parents before children."""
        pending = self._child_links()[::-1] if skipself else [self]
        while pending:
            link = pending.pop()
            yield link
            if children := link._child_links():
                pending += children[::-1]

    def namedlinks(self, skipself: bool = False) -> Iterator[tuple[str, Link]]:
        """Iterate over the same links with their paths: '/' for this link, '/encoder/l1' below."""
        if not skipself:
            yield "/", self
        for name, child in self._named_children():
            prefix = f"/{name}"
            yield prefix, child
            for path, link in child.namedlinks(True):
                yield prefix + path, link

    def params(self, include_uninit: bool = True) -> Iterator[Parameter]:
        """Iterate over all parameters; `include_uninit=False` skips those without an array."""
        if include_uninit is not True and include_uninit is not False:
            include_uninit = truth("params", "include_uninit", include_uninit)
        seen = set()
        for link in self.links():
            own = link.__dict__
            for name in link._params:
                parameter = own[name]
                if parameter is None or id(parameter) in seen:
                    continue
                if include_uninit or parameter._array is not None:
                    seen.add(id(parameter))
                    yield parameter

    def namedparams(self, include_uninit: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Iterate over all parameters with paths such as `/encoder/l1/W`, each only once."""
        seen = set()
        for path, link in self.namedlinks():
            prefix = path.rstrip("/")
            for name, parameter in link._own_params():
                if id(parameter) in seen or not (include_uninit or parameter.is_initialized):
                    continue
                seen.add(id(parameter))
                yield f"{prefix}/{name}", parameter

    def count_params(self) -> int:
        """Count the elements of all parameters; warns of those whose size is not known yet."""
        unsized = [path for path, parameter in self.namedparams() if not parameter.is_initialized]
        if unsized:
            warnings.warn(
                f"count_params: not counted, because they have no size yet: {', '.join(unsized)}",
                stacklevel=2,
            )
        return sum(parameter.size for parameter in self.params(include_uninit=False))

    # ------------------------------------------------------------------ gradients and updates

    def cleargrads(self) -> None:
        """Set the gradients of all parameters to None."""
        for parameter in self.params():
            parameter.cleargrad()

    def zerograds(self) -> None:
        """Set the gradients of all parameters to zeros."""
        for parameter in self.params():
            parameter.zerograd()

    def addgrads(self, link: Link) -> None:
        """Add the gradients of a link of the same structure, on any device, to these."""
        for mine, other in self._pairs(link, "addgrads"):
            mine.addgrad(other)

    def enable_update(self) -> None:
        """Let optimizers change the parameters again."""
        self._set_update(True)

    def disable_update(self) -> None:
        """Freeze the parameters: optimizers skip them, and no gradient is computed."""
        self._set_update(False)

    def _set_update(self, enabled: bool) -> None:
        for parameter in self.params():
            parameter.frozen = not enabled
            if parameter.update_rule is not None:
                parameter.update_rule.enabled = enabled

    @property
    def update_enabled(self) -> bool:
        """Whether an optimizer changes at least one of the parameters."""
        rules = (parameter.update_rule for parameter in self.params())
        return any(rule is not None and rule.enabled for rule in rules)

    def release_graph(self) -> None:
        """Release the graphs that are kept alive by results in attributes.

        An optimizer that owns the loss calls it on every link before it walks back, so that the
        graph can die on the way. A link that keeps its latest results for the user overrides it.
        """

    # ------------------------------------------------------------------ copies

    def copy(self, mode: str = "share") -> Self:
        """Copy the link.

        Args:
            mode: `'share'` shares the arrays of parameters, each copy having gradients of its own;
                `'copy'` copies them; `'init'` fills them anew with their initializers. Of
                parameters without an array yet, shared copies will all have the one that the first
                of them gets, others an array of their own. What stands in several places of the
                link does so in each copy, and so it does in attributes, lists, tuples and dicts.
        """
        self._check_mode("copy", mode)
        if mode == "share":
            made: dict[int, Any] = {}
            shared = self._shared(made)
            for each in [*made.values()]:
                if isinstance(each, Link):
                    each.__dict__.update({k: copied(v, made) for k, v in vars(each).items()})
            return shared
        # Copies to be filled anew draw one after the other, of generators that initializers hold.
        drawn = [parameter.initializer for parameter in self.params()] if mode == "init" else []
        clone = copy.deepcopy(self, {id(each): each for each in drawn})
        clone.name = None
        if mode == "init":
            for parameter in clone.params(include_uninit=False):
                _fill_anew(parameter)
        return clone

    def _shared(self, made: dict[int, Any]) -> Self:
        """The shared copy; `made` has those of the links and parameters so far, by identity."""
        if id(self) in made:
            return made[id(self)]  # type: ignore[no-any-return]
        if made and type(self).copy is not Link.copy:  # a child whose class has its own way
            made[id(self)] = self.copy("share")
            return made[id(self)]  # type: ignore[no-any-return]
        clone = made[id(self)] = copy.copy(self)
        clone.name = None
        for name, mine in self._own_params():
            if id(mine) not in made:
                made[id(mine)] = copy.copy(mine)
                made[id(mine)].grad = None
            clone.__dict__[name] = made[id(mine)]
        clone._share_children(made)
        return clone

    def _share_children(self, made: dict[int, Any]) -> None:
        """In a fresh shared copy: give it children of its own, shared copies as well."""

    def repeat(self, n_repeat: int, mode: str = "init") -> Sequential:
        """Make a Sequential of `n_repeat` links like this one; `mode` is that of `copy`."""
        from core.link.sequential import Sequential

        self._check_mode("repeat", mode)
        return Sequential(*(self.copy(mode) for _ in range(n_repeat)))

    def _check_mode(self, what: str, mode: str) -> None:
        if mode not in COPY_MODES:
            raise ValueError(
                f"{type(self).__name__}.{what}: expected a mode of {', '.join(COPY_MODES)}, "
                f"got {mode!r}.{nearest(str(mode), COPY_MODES)}"
            )

    def copyparams(self, link: Link, copy_persistent: bool = True) -> None:
        """Copy parameters and persistent values from a link of the same structure.

        Raises ValueError, before anything is copied, where it lacks one or has another shape, or
        where one here cannot be changed.
        """
        pairs, what = self._pairs(link, "copyparams"), f"{type(self).__name__}.copyparams"
        check_writable(what, dict(self.namedparams()))
        own, others = self._persistent_places(), link._persistent_places()
        values = {path: place[name] for path, (place, name) in others.items()}
        if copy_persistent:
            present = {path: place[name] for path, (place, name) in own.items()}
            match(what, link, present, values)
            check_writable(what, present)
        for mine, other in pairs:
            mine.copydata(other)
        for path, (place, name) in own.items() if copy_persistent else ():
            mine, other = place[name], values[path]
            if is_array(mine) and is_array(other):
                place[name] = backend_of(mine).copyto(mine, other)
            else:
                place[name] = copy.deepcopy(other)

    def _persistent_places(self) -> dict[str, tuple[dict[str, Any], str]]:
        """The attributes in which persistent values are, by path."""
        found = {path.rstrip("/"): link for path, link in self.namedlinks()}
        return {f"{p}/{n}": (x.__dict__, n) for p, x in found.items() for n in x._persistent}

    def _pairs(self, link: Link, what: str) -> list[tuple[Parameter, Parameter]]:
        """My parameters, each with that of `link` at the same path."""
        own, others = dict(self.namedparams()), dict(link.namedparams())
        match(f"{type(self).__name__}.{what}", link, own, others)
        return [(mine, others[path]) for path, mine in own.items()]

    # ------------------------------------------------------------------ places

    @property
    def device(self) -> Device:
        """The link's device: where it was moved, or that of its first parameter or new arrays."""
        if self._device is not None:
            return self._device
        first = next(self.params(include_uninit=False), None)
        return current_device() if first is None else first.device

    @property
    def xp(self) -> Any:
        """The namespace of the link's backend."""
        return self.device.xp

    def to_device(self, device: DeviceSpec) -> Self:
        """Move parameters and persistent arrays to `device`, such as 'cuda:1'; returns itself."""
        target = get_device(device)
        self._move(target)
        for child in self.children():
            child.to_device(target)
        return self

    def to_cpu(self) -> Self:
        """Move to the NumPy backend; returns the link itself."""
        self._move(host().default_device())
        for child in self.children():
            child.to_cpu()
        return self

    def to_gpu(self, device: SupportsIndex | None = None) -> Self:
        """Move to the CUDA backend; `device` is a number, or None for the current one."""
        target = gpu(device)
        self._move(target)
        for child in self.children():
            child.to_gpu(target.id)
        return self

    def _move(self, device: Device) -> None:
        """Move what this link itself owns."""
        self._device = device
        self._move_carried(device)
        for _, parameter in self._own_params():
            parameter.to_device(device)
        for name in self._persistent:
            value = self.__dict__[name]
            if is_array(value):
                self.__dict__[name] = to_backend(value, device)

    # ------------------------------------------------------------------ saving

    def serialize(self, serializer: Any) -> None:
        """Save or load all parameters and persistent values under their names."""
        for name, parameter in self._own_params():
            _serialize_parameter(serializer, name, parameter)
        for name in self._persistent:
            value = serializer(name, self.__dict__[name])
            # What is loaded in place of None comes as a host array.
            self.__dict__[name] = self.device.send(value) if is_array(value) else value
        for name, child in self._named_children():
            child.serialize(serializer[name])

    # ------------------------------------------------------------------ looks

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """Settings worth showing: name, value, and the default that is not shown."""
        yield from ()

    def __repr__(self) -> str:
        from core.link.tree import tree

        return tree(self) if "_params" in self.__dict__ else object.__repr__(self)

    def _repr_html_(self) -> str:
        from core.link.html import link_html

        return link_html(self)

    @classmethod
    def from_params(cls, *args: Any, **kwargs: Any) -> Self:
        """Make a link with given arrays as its parameters, if its class supports this."""
        raise NotImplementedError(f"{cls.__name__} cannot be made from parameters.")


refuse_names_of_others(Link)


def _shape_and_dtype(value: Any) -> tuple[Any, Any]:
    """A shape, or a pair of a shape (a tuple or None) and a dtype."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], tuple | None):
        return value
    return value, None


def _fill_anew(parameter: Parameter) -> None:
    """Fill the parameter's array again by its initializer, if it has one."""
    if parameter.initializer is not None:
        parameter.array = filled(parameter.array, parameter.initializer)
        parameter.version += 1


def _serialize_parameter(serializer: Any, name: str, parameter: Parameter) -> None:
    data = serializer(name, parameter.array)
    if not isinstance(serializer, Deserializer) or data is None:
        return
    if not parameter.is_initialized:
        parameter.initialize(data.shape)
        parameter.array = parameter.backend.copyto(parameter.array, data)
    elif not parameter.backend.mutable:
        parameter.array = data
    parameter.version += 1
