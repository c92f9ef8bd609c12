"""What graphs of cuDNN mean, in NumPy: a module that stands for its frontend where there is no GPU.

Tensors are memory that is read and written by addresses, sizes and steps, as cuDNN is told them, so
that wrong ones are seen. Formulas are written from what cuDNN documents, none of them from ours.
"""

import ctypes
from contextlib import suppress
from importlib.machinery import ModuleSpec
from itertools import product
from types import ModuleType, SimpleNamespace

import numpy as np

NAMES = {"HALF": "f2", "FLOAT": "f4", "DOUBLE": "f8", "BFLOAT16": "bfloat16"}


class cudnnGraphNotSupportedError(RuntimeError):
    pass


class Tensor:
    def __init__(self, dim=None, stride=None, data_type=None, uid=None, is_pass_by_value=False):
        self.dim, self.stride, self.data_type, self.uid = dim, stride, data_type, uid
        self.is_pass_by_value = is_pass_by_value
        self.value = None

    def set_output(self, is_output):
        return self

    def __getattr__(self, name):
        if not name.startswith("set_"):
            raise AttributeError(name)

        def set(value):
            setattr(self, name.removeprefix("set_"), value)
            return self

        return set

    def memory(self, place):
        dtype = np.dtype(NAMES[self.data_type])
        steps = [s * dtype.itemsize for s in self.stride]
        last = sum([(n - 1) * s for n, s in zip(self.dim, steps, strict=True)]) + dtype.itemsize
        whole = np.frombuffer((ctypes.c_char * last).from_address(place), dtype)
        return np.lib.stride_tricks.as_strided(whole, self.dim, steps)


class pygraph:
    """Each operation remembers how its outputs follow from its inputs, all in float64."""

    made = 0
    launched = 0
    refused = frozenset()

    def __init__(self, io_data_type, intermediate_data_type, compute_data_type, handle=None):
        self.tensors, self.steps, self.notes = [], [], []
        self.handle = handle
        type(self).made += 1

    def tensor(self, dim, stride, data_type, is_pass_by_value, name, uid):
        self.tensors.append(Tensor(dim, stride, data_type, uid, is_pass_by_value))
        return self.tensors[-1]

    def _given(self, count, compute, *inputs):
        outputs = [Tensor() for _ in range(count)]
        self.steps.append((outputs, compute, inputs))
        self.tensors += outputs
        return outputs

    # -- convolution ---------------------------------------------------------------------------

    def conv_fprop(self, image, weight, **windows):
        return self._given(1, lambda x, W: [forward(x, W, **windows)], image, weight)[0]

    def conv_dgrad(self, loss, filter, **windows):
        (y,) = found = self._given(
            1, lambda g, W: [adjoint(y.dim, W.shape, g, W=W, **windows)], loss, filter
        )
        return found[0]

    def conv_wgrad(self, image, loss, **windows):
        (y,) = found = self._given(
            1, lambda x, g: [adjoint(x.shape, y.dim, g, x=x, **windows)], image, loss
        )
        return found[0]

    # -- batch normalization -------------------------------------------------------------------

    def batchnorm(
        self, input, scale, bias, in_running_mean, in_running_var, epsilon, momentum
    ):  # fmt: skip
        def compute(x, scale, bias, mean_before, var_before, eps, momentum):
            mean, var, count = *moments(x), x.size // x.shape[1]
            inverse = 1 / np.sqrt(var + eps)
            unbiased = var * (count / (count - 1))
            after = [(1 - momentum) * a + momentum * b
                     for a, b in ((mean_before, mean), (var_before, unbiased))]  # fmt: skip
            return [(x - mean) * inverse * scale + bias, mean, inverse, *after]

        given = input, scale, bias, in_running_mean, in_running_var, epsilon, momentum
        return self._given(5, compute, *given)

    def batchnorm_backward(self, grad, input, scale, mean, inv_variance):
        def compute(g, x, scale, mean, inverse):
            hat, axes, count = (x - mean) * inverse, (0, 2, 3), x.size // x.shape[1]
            of_scale = (g * hat).sum(axes, keepdims=True)
            of_bias = g.sum(axes, keepdims=True)
            gx = scale * inverse * (g - (of_bias + hat * of_scale) / count)
            return [gx, of_scale, of_bias]

        return self._given(3, compute, grad, input, scale, mean, inv_variance)

    # -- attention -----------------------------------------------------------------------------

    def sdpa(self, q, k, v, attn_scale, generate_stats, use_causal_mask):
        assert generate_stats

        def compute(q, k, v):
            weights, total = attending(q, k, attn_scale, use_causal_mask)
            return [weights @ v, total]

        return self._given(2, compute, q, k, v)

    def sdpa_backward(
        self, q, k, v, o, dO, stats, attn_scale, use_causal_mask, use_deterministic_algorithm
    ):  # fmt: skip
        def compute(q, k, v, o, g, stats):
            weights, total = attending(q, k, attn_scale, use_causal_mask)
            np.testing.assert_allclose(stats, total, rtol=3e-3, atol=3e-3)
            through = weights * (g @ v.swapaxes(-1, -2) - (g * o).sum(-1, keepdims=True))
            through = through * attn_scale
            return [through @ k, through.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ g]

        return self._given(3, compute, q, k, v, o, dO, stats)

    # -- planning and launching ----------------------------------------------------------------

    def validate(self):
        if [t.data_type for t in self.tensors if t.data_type in self.refused]:
            raise cudnnGraphNotSupportedError("no engine for this dtype")

    def build_operation_graph(self):
        pass

    def create_execution_plans(self, modes):
        assert modes

    def deselect_numeric_notes(self, notes):
        self.notes += notes

    def check_support(self):
        pass

    def build_plans(self):
        pass

    def get_workspace_size(self):
        return 12

    def execute(self, places, workspace, handle):
        type(self).launched += 1
        assert workspace and handle is self.handle and handle.stream is not None
        assert sorted(places) == sorted([t.uid for t in self.tensors])
        for tensor in self.tensors:
            assert tensor.is_pass_by_value or places[tensor.uid] % 16 == 0
            tensor.array = tensor.memory(places[tensor.uid])
        for outputs, compute, inputs in self.steps:
            found = compute(*[t.array.astype("f8") for t in inputs])
            for tensor, value in zip(outputs, found, strict=True):
                assert list(value.shape) == tensor.dim
                tensor.array[...] = value


def places(image, weight, pre_padding, post_padding, stride, dilation):
    """Of each place in a filter: the elements of the padded image that meet it, by output."""
    padded = [n + a + b for n, a, b in zip(image[2:], pre_padding, post_padding, strict=True)]
    reach = [d * (k - 1) + 1 for k, d in zip(weight[2:], dilation, strict=True)]
    out = [(n - r) // s + 1 for n, r, s in zip(padded, reach, stride, strict=True)]
    for place in product(*map(range, weight[2:])):
        yield (
            (slice(None), slice(None), *place),
            (slice(None), slice(None), *[
                slice(i * d, i * d + (o - 1) * s + 1, s)
                for i, d, o, s in zip(place, dilation, out, stride, strict=True)
            ]),
        )  # fmt: skip


def padding(windows):
    return [(0, 0), (0, 0), *zip(windows["pre_padding"], windows["post_padding"], strict=True)]


def forward(x, W, **windows):
    groups, padded, y = x.shape[1] // W.shape[1], np.pad(x, padding(windows)), 0
    for of_filter, of_image in places(x.shape, W.shape, **windows):
        taps = W[of_filter].reshape(groups, -1, W.shape[1])
        seen = padded[of_image]
        grouped = seen.reshape(len(x), groups, W.shape[1], -1)
        part = np.einsum("goc,ngcp->ngop", taps, grouped)
        y = y + part.reshape(len(x), len(W), *seen.shape[2:])
    return y


def adjoint(image, weight, g, x=None, W=None, **windows):
    """The gradient of an image where filters are given, of filters where an image is."""
    groups = image[1] // weight[1]
    of_groups = g.reshape(len(g), groups, weight[0] // groups, -1)
    spread = np.pad(np.zeros(image), padding(windows))
    padded = None if x is None else np.pad(x, padding(windows))
    filters = np.zeros(weight)
    for of_filter, of_image in places(image, weight, **windows):
        if W is not None:
            taps = W[of_filter].reshape(groups, -1, weight[1])
            part = np.einsum("goc,ngop->ngcp", taps, of_groups)
            spread[of_image] += part.reshape(spread[of_image].shape)
        else:
            seen = padded[of_image].reshape(len(g), groups, weight[1], -1)
            filters[of_filter] = np.einsum("ngop,ngcp->goc", of_groups, seen).reshape(weight[:2])
    if W is None:
        return filters
    return spread[tuple([slice(a, a + n) for (a, _), n in zip(padding(windows), image)])]  # noqa: B905


def moments(x):
    mean = x.mean((0, 2, 3), keepdims=True)
    return mean, ((x - mean) ** 2).mean((0, 2, 3), keepdims=True)


def attending(q, k, scale, causal):
    scores = scale * (q @ k.swapaxes(-1, -2))
    if causal:  # aligned at the first query and the first key
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    total = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    return np.exp(scores - total), total


def module():
    """A module `cudnn`, whose graphs are counted."""
    made = ModuleType("cudnn")
    made.__spec__ = ModuleSpec("cudnn", None)
    made.__version__ = "1.28.0"
    made.backend_version = lambda: 92800
    made.backend_version_string = lambda: "9.28.0"
    made.pygraph = type("pygraph", (pygraph,), {})
    made.cudnnGraphNotSupportedError = cudnnGraphNotSupportedError
    made.data_type = SimpleNamespace(**{name: name for name in NAMES})
    made.heur_mode = SimpleNamespace(A="A", FALLBACK="FALLBACK")
    notes = "DOWN_CONVERT_INPUTS", "TENSOR_CORE", "NONDETERMINISTIC"
    made.numerical_note = SimpleNamespace(**{name: name for name in notes})
    made.create_handle = lambda: SimpleNamespace(stream=None)

    def set_stream(handle, stream):
        handle.stream = stream

    made.set_stream = set_stream
    return made


with suppress(ImportError):
    import ml_dtypes  # noqa: F401  what NumPy knows bfloat16 by
