"""What function hooks are told, in both libraries: of a function, its arrays and its gradients."""

import inspect

import numpy as np

X = np.array([0.5, -1.0], "f")


def telling(library, told):
    """A hook that notes its calls, but for those of functions that compute gradients of others."""

    class Telling(library.FunctionHook):
        name = "Telling"
        inside = 0

        def added(self, function=None):
            told.append(["added", function is None])

        def deleted(self, function=None):
            told.append(["deleted", function is None])

        def forward_preprocess(self, function, in_data):
            self.note("forward_preprocess", function, in_data)

        def forward_postprocess(self, function, in_data):
            self.note("forward_postprocess", function, in_data)

        def backward_preprocess(self, function, in_data, out_grad):
            self.note("backward_preprocess", function, in_data, out_grad)
            self.inside += 1

        def backward_postprocess(self, function, in_data, out_grad):
            self.inside -= 1
            self.note("backward_postprocess", function, in_data, out_grad)

        def note(self, what, function, *data):
            if not self.inside:
                arrays = [[None if a is None else a.tolist() for a in each] for each in data]
                kinds = [type(each).__name__ for each in data]
                told.append([what, function.label, function.rank, kinds, arrays])

    return Telling()


class _Squared:
    """An old-style function, to be mixed with the library's base."""

    def forward(self, xs):
        return (xs[0] * xs[0],)

    def backward(self, xs, gs):
        return (2 * xs[0] * gs[0],)


def of(library):
    """The calls for a graph, for one function alone; and the arguments of every method."""
    told, alone = [], []
    F, x = library.functions, library.Variable(X)
    squared = type("Squared", (_Squared, library.Function), {})
    with telling(library, told):
        y = F.sum(F.square(squared()(x)) * x)
        y.backward()
    f = F.ReLU()
    f.add_hook(telling(library, alone))
    (y,) = f.apply((x,))
    y.grad = X
    y.backward()
    f.delete_hook("Telling")
    methods = [m for m in vars(library.FunctionHook).items() if m[0][0] != "_" and callable(m[1])]
    arguments = {name: list(inspect.signature(method).parameters) for name, method in methods}
    return {"graph": told, "alone": alone, "arguments": dict(sorted(arguments.items()))}
