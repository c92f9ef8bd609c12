"""Cases of mathematics: elementwise, reductions, linear algebra, transforms."""

from oracles.cases import Family, real, values, whole

CASES = Family()
add = CASES.add

for name in (
    *("absolute", "arctan", "ceil", "cos", "cosh", "erf", "erfc", "erfcx", "exp", "expm1", "fix"),
    *("floor", "identity", "log_ndtr", "ndtr", "sign", "sin", "sinh", "square", "tan"),
):
    add(name, real(2, 3))
    add(name, values([-1.0, 0.0, 1.0]))
    add(name, real())
for name in ("digamma", "lgamma", "log", "log10", "log1p", "log2", "rsqrt", "sqrt"):
    add(name, real(2, 3, lo=0.1))
    add(name, values([1.0, 4.0]))
for name in ("arccos", "arcsin", "arctanh", "erfinv"):
    add(name, real(2, 3, lo=-0.9, hi=0.9))
add("sqrt", values([0.0, 1.0]))
add("rsqrt", values([4.0, 1.0]))
add("log", values([0.0, 1.0]))
add("erfcx", values([-5.0, 10.0, 100.0]))
add("log_ndtr", values([-40.0, -5.0, 5.0, 10.0]))
add("erfcinv", real(2, 3, lo=0.1, hi=1.9))
add("ndtri", real(2, 3, lo=0.1, hi=0.9))
add("identity", real(2), real(3))
add("polygamma", values([0, 1, 2], "int32"), real(3, lo=0.1))
add("polygamma", values([1], "int32"), real(2, 3, lo=0.1))
add("polygamma", 2, real(2, 3, lo=0.1))
add("zeta", real(2, lo=1.5, plain=True), real(2, lo=0.5))
add("zeta", values([2.0]), real(2, 3, lo=0.5))

for name in ("arctan2", "maximum", "minimum", "squared_difference"):
    add(name, real(2, 3), real(2, 3))
    add(name, real(2, 1), real(3))
    add(name, values([1.0, 2.0, 0.5]), values([1.0, 1.0, 1.0]))
    add(name, real(2, 3), real(2, 2))
for name in ("maximum", "minimum"):
    add(name, real(2, 3), 0.5)
    add(name, 1, real(2, 3))
add("fmod", real(2, 3), real(2, 3, lo=0.5))
add("fmod", real(2, 3), real(3, lo=0.5))
add("fmod", values([4.0, -4.0, 5.0]), values([2.0, 2.0, -3.0]))
add("fmod", real(2, 3), 0.5)
add("add", real(2, 3), real(2, 3))
add("add", real(2, 3), real(2, 3), real(2, 3))
add("add", real(2, 3), real(3))
add("add", real(2, 3), real(3), real(2, 1))
add("add", real(2, 3), 1.5)
add("add", real(2, 3))
add("clip", values([-1.0, 0.0, 0.5, 1.0, 2.0]), 0.0, 1.0)
add("clip", real(2, 3), x_min=None, x_max=0.5)
add("clip", real(2, 3), -0.5, None)
add("clip", real(2, 3), 1.0, -1.0)
add("clip", real(2, 3), None, None)
add("linear_interpolate", real(2, 3, lo=0.0, hi=1.0), real(2, 3), real(2, 3))
add("linear_interpolate", real(2, 3), real(2, 3), real(2, 2))
for name in ("bias", "scale"):
    add(name, real(2, 3, 4), real(3))
    add(name, real(2, 3, 4), real(3, 4))
    add(name, real(2, 3, 4), real(2, 3), axis=0)
    add(name, real(2, 3, 4), real(4), -1)
    add(name, real(2, 3), real())
    add(name, real(2, 3, 4), real(4))

for name in ("max", "min", "sum", "prod", "average", "mean"):
    add(name, real(2, 3, 4))
    add(name, real(2, 3, 4), 1)
    add(name, real(2, 3, 4), axis=-1, keepdims=True)
    add(name, real(2, 3, 4), axis=(0, 2))
    add(name, real(2, 3, 4), axis=(-1, 0), keepdims=True)
    add(name, real())
    add(name, real(2, 3), axis=2)
    add(name, real(2, 3), axis=(0, 0))
    add(name, real(2, 3), axis=())
    add(name, values([[1.0, 2.0, 2.0], [0.0, 2.0, 0.0]]), axis=1)
for name in ("average", "mean"):
    add(name, real(2, 3), weights=real(2, 3, lo=0.5))
    add(name, real(2, 3), 1, real(3, lo=0.5))
    add(name, real(2, 3, 4), (0, 2), weights=real(2, 4, lo=0.5))
    add(name, real(2, 3, 4), (0, 2), weights=real(2, 4, lo=0.5), keepdims=True)
    add(name, real(2, 3), axis=0, weights=real(3, lo=0.5))
add("logsumexp", real(2, 3))
add("logsumexp", real(2, 3, 4), 1)
add("logsumexp", real(2, 3, 4), axis=(0, 2))
add("logsumexp", values([[1000.0, 1000.0], [-1000.0, 0.0]]), axis=-1)
for name in ("argmax", "argmin"):
    add(name, real(2, 3))
    add(name, real(2, 3), 1)
    add(name, real(2, 3), axis=-2)
    add(name, values([[1.0, 2.0, 2.0], [0.0, 0.0, 3.0]]), axis=1)
    add(name, real(2, 3), axis=2)
for name in ("cumsum", "cumprod"):
    add(name, real(2, 3))
    add(name, real(2, 3), 0)
    add(name, real(2, 3, 2), axis=-1)
    add(name, real(2, 3), axis=2)
add("cumprod", values([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]]), axis=1)
add("prod", values([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]]), axis=1)
add("sum_to", real(2, 3), (1, 3))
add("sum_to", real(2, 3, 4), (3, 1))
add("sum_to", real(2, 3), ())
add("sum_to", real(2, 3), (2, 3))
add("sum_to", real(2, 3), (2,))

add("matmul", real(2, 3), real(3, 4))
add("matmul", real(3, 2), real(4, 3), True, True)
add("matmul", real(3, 2), real(3, 4), transa=True)
add("matmul", real(2, 3), real(4, 3), transb=True)
add("matmul", real(3), real(3))
add("matmul", real(2, 3), real(3))
add("matmul", real(3), real(3, 2))
add("matmul", real(2, 3, 2), real(2, 2, 3))
add("matmul", real(2, 3, 2), real(2, 2, 3), True, True)
add("matmul", real(2, 1, 3, 2), real(3, 2, 4))
add("matmul", real(2, 3, 2), real(2))
add("matmul", real(2), real(3, 2, 4))
add("matmul", real(2, 3), real(2, 4))
add("matmul", real(3), real(3), True)
add("batch_matmul", real(2, 3, 2), real(2, 2, 3))
add("batch_matmul", real(2, 3), real(2, 3))
add("batch_matmul", real(2, 2, 3), real(2, 4, 2), True, transb=True)
add("batch_matmul", real(2, 3, 2), real(2, 2))
add("batch_matmul", real(2, 3), real(2, 3), True)
add("batch_l2_norm_squared", real(2, 3))
add("batch_l2_norm_squared", real(2, 3, 2))
add("batch_l2_norm_squared", real(3))
add("det", real(3, 3))
add("det", values([[1.0, 2.0], [2.0, 4.0]]))
add("det", real(2, 3))
add("batch_det", real(2, 3, 3))
add("batch_det", real(2, 2))
add("inv", values([[2.0, 1.0], [0.5, 3.0]]))
add("inv", real(2, 3))
add("inv", values([[1.0, 2.0], [2.0, 4.0]]))
add("batch_inv", values([[[2.0, 1.0], [0.5, 3.0]], [[1.0, 0.0], [0.0, 2.0]]]))
add("cholesky", values([[4.0, 1.0], [1.0, 3.0]]))
add("cholesky", real(2, 3))
add("tensordot", real(2, 3), real(3, 4), 1)
add("tensordot", real(2, 3, 4), real(3, 4, 2))
add("tensordot", real(2, 3, 4), real(4, 2, 3), axes=((0, 1), (1, 2)))
add("tensordot", real(2, 3), real(2, 2), axes=0)
add("tensordot", real(2, 3), real(3, 2), axes=(1, 0))
add("tensordot", real(2, 3), real(2, 3), axes=1)
add("einsum", "ij,jk->ik", real(2, 3), real(3, 4))
add("einsum", "ij,jk", real(2, 3), real(3, 4))
add("einsum", "ii->i", real(3, 3))
add("einsum", "ii", real(3, 3))
add("einsum", "...ij,...jk->...ik", real(2, 2, 3), real(3, 4))
add("einsum", "ij->j", real(2, 3))
add("einsum", "i,j,k->kji", real(2), real(3), real(2))
add("einsum", real(2, 3), [0, 1], real(3, 4), [1, 2], [0, 2])
add("einsum", real(2, 3), [0, 1], real(3, 4), [1, 2])
add("einsum", "ij,jk->ik", real(2, 3), real(2, 4))
add("fft", (real(2, 4), real(2, 4)))
add("fft", (real(3), real(3)))
add("ifft", (real(2, 4), real(2, 4)))
add("ifft", (real(3), real(3)))


def multiplied(F, a, b, options):
    """The left one made sparse, by the utility that lies beside the functions."""
    import importlib

    root = F.__name__.partition(".")[0]
    sparse = importlib.import_module(
        f"{root}.utils.sparse" if root == "chainer" else f"{root}.utils"
    )
    return F.sparse_matmul(sparse.to_coo(a.array, requires_grad=False), b, **options)


for a, b, options in (
    (real(2, 3), real(3, 4), {}),
    (real(3, 2), real(4, 3), {"transa": True, "transb": True}),
    (real(2, 3), real(4, 3), {"transb": True}),
    (real(2, 2, 3), real(2, 3, 4), {}),
):
    add("sparse_matmul", a, b, options, call=multiplied)
add("exp", whole(2, 3))
add("sum", whole(2, 3))
