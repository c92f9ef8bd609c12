"""The kinds of things that plugins give: one row a kind, and all else about it comes from the row.

The hook `register_NAME()`, what a registered value is checked against, the catalogue, and the name
in its package are there at once. The files of the facade are written by `plugrad stubs`, the page
of the reference by `plugrad reference`.
"""

from __future__ import annotations


class Kind:  # no NamedTuple, which would take longer to make than most of what `import core` does
    """One kind of things."""

    name: str
    """What it is called in catalogues, preferences and its hook."""
    facade: str
    """The module that shows its names to users; empty where users name them in calls."""
    takes: str
    """What a value may be: a subclass of 'package:Class', 'callable', 'function', ... | ..."""
    meaning: str
    """What they are, without a full stop."""
    advice: str
    """What else authors have to know."""

    by_class: bool
    """Whether a name is 'package.module:Class', of the class that the value is about."""

    def __init__(
        self,
        name: str,
        facade: str,
        takes: str,
        meaning: str,
        advice: str = "",
        by_class: bool = False,
    ) -> None:
        self.name, self.facade, self.takes = name, facade, takes
        self.meaning, self.advice, self.by_class = meaning, advice, by_class

    @property
    def hook(self) -> str:
        """What a plugin implements."""
        return f"register_{self.name}"

    @property
    def expected(self) -> str:
        """`takes` in words.

        >>> KINDS["links"].expected, KINDS["initializers"].expected
        ('a subclass of core.Link', 'a subclass of core.Initializer or a function')
        """
        words = ("subclass of " * (":" in what) + what for what in self.takes.split(" | "))
        return " or ".join(f"a {word.replace(':', '.')}" for word in words)


_ROWS = (
    Kind("functions", "core.functions", "callable", "Functions on variables"),
    Kind("links", "core.links", "core:Link", "Links, functions with parameters"),
    Kind("optimizers", "core.optimizers", "core:Optimizer", "Optimizers"),
    Kind("optimizer_hooks", "core.optimizer_hooks", "callable", "Hooks of optimizers"),
    Kind("initializers", "core.initializers", "core:Initializer | function", "Initializers"),
    Kind("datasets", "core.datasets", "callable", "Datasets, and functions that make them"),
    Kind("iterators", "core.iterators", "callable", "Iterators over the batches of datasets"),
    Kind("serializers", "core.serializers", "callable", "Classes and functions that save and load"),
    Kind("updaters", "core.training.updaters", "callable", "Updaters, the steps of a training"),
    Kind("triggers", "core.training.triggers", "callable", "Triggers of extensions"),
    Kind("extensions", "core.training.extensions", "callable | module", "Trainer extensions"),
    Kind("distributions", "core.distributions", "callable", "Probability distributions"),
    Kind("function_hooks", "core.function_hooks", "core:FunctionHook", "Hooks of functions"),
    Kind("link_hooks", "core.link_hooks", "core:LinkHook", "Hooks of links"),
    Kind("bridges", "core.interop", "callable", "Bridges to other libraries"),
    Kind("formats", "core.export", "callable", "Functions that write models for other programs"),
    Kind(
        "exporters",
        "",
        "callable",
        "What ONNX has for whole operations, by 'package.module:Class'",
        "A function takes the graph that is written, the call (`function`, the operation, and its "
        "`inputs` and `outputs`), and the names of the inputs; it adds nodes and returns the names "
        "of the results, or None where the operation's formula is to be written.",
        by_class=True,
    ),
    Kind(
        "communicators",
        "core.communicators",
        "callable | module",
        "Communicators, and what is built on them for many processes",
        "A communicator is a `core.training.Communicator`, registered under the name by which "
        "`create_communicator(name, mpi_comm=None, **config)` finds and calls it.",
    ),
    Kind(
        "backends",
        "",
        "core.backend:Backend",
        "Array backends, by the names of `core.use(name)` and `core.backend.get(name)`",
        "Register a backend also where its library is missing or has no device: its "
        "`unavailable()` gives the reason. Import the library in the backend's methods or behind a "
        "lazy string, never in the module that implements this hook.",
    ),
    Kind(
        "namespace",
        "",
        "callable | module | number",
        "Differentiable functions under the array standard's names, with its signatures",
        "They make up what `Variable.__array_namespace__()` answers, hence what gradient rules see "
        "as `xp` while the graph of the backward is recorded.",
    ),
)

_KERNELS = Kind("kernels", "", "callable", "Faster implementations for a backend, by class")

KINDS = {kind.name: kind for kind in _ROWS}
"""Every kind by its name, in the order in which they are shown."""

FACADES = {kind.name: kind.facade for kind in _ROWS if kind.facade}
"""The modules of those that have one."""

HOOKS = {kind.hook: kind for kind in (*_ROWS, _KERNELS)}
"""What plugins implement; kernels have no names that users look up, and hence no catalogue."""
