"""Cases of normalization; what running statistics become is watched."""

from oracles.cases import Family, real, values

CASES = Family()
add = CASES.add

WIDE = real(4, 3, lo=-4.0)
TINY = real(4, 3, lo=1.0, hi=1.0001)
for x, size, options in (
    (WIDE, (3,), {}),
    (real(2, 3, 2), (3, 2), {}),
    (real(2, 3, 2, 2), (3,), {}),
    (real(2, 3, 2, 2), (3,), {"axis": (0, 2, 3)}),
    (real(2, 3, 2, 2), (2, 2), {"axis": (0, 1)}),
    (real(4, 3), (4,), {"axis": 1}),
    (real(4, 3), (), {"axis": (0, 1)}),
):
    gamma, beta = real(*size), real(*size)
    add("batch_normalization", x, gamma, beta, **options)
    add("batch_normalization", x, gamma, beta, eps=0.5, **options)
    statistics = {
        "running_mean": real(*size, plain=True, watched=True),
        "running_var": real(*size, lo=0.5, plain=True, watched=True),
    }
    add("batch_normalization", x, gamma, beta, decay=0.7, **statistics, **options)
    mean, var = real(*size), real(*size, lo=0.5)
    add("fixed_batch_normalization", x, gamma, beta, mean, var, **options)
    add("fixed_batch_normalization", x, gamma, beta, mean, var, eps=0.5, **options)
add("batch_normalization", TINY, real(3), real(3))
add("batch_normalization", real(1, 3), real(3), real(3))
add("batch_normalization", real(4, 3), real(2), real(2))
add("batch_normalization", real(4, 3), real(3), real(3), eps=1e-7)
add("fixed_batch_normalization", real(4, 3), real(3), real(3), real(2), real(2))
for rmax, dmax in ((1.0, 0.0), (1.5, 0.5), (3.0, 5.0)):
    for x in (WIDE, real(3, 3, 2)):
        size = (3,) if x is WIDE else (3, 2)
        add(
            "batch_renormalization",
            *(x, real(*size), real(*size), rmax, dmax),
            running_mean=real(*size, plain=True, watched=True),
            running_var=real(*size, lo=0.5, plain=True, watched=True),
            decay=0.8,
        )
        add(
            "batch_renormalization",
            *(x, real(*size), real(*size), rmax, dmax, 0.1),
            running_mean=real(*size, plain=True, watched=True),
            running_var=real(*size, lo=0.5, plain=True, watched=True),
            update_statistics=True,
        )
add("batch_renormalization", WIDE, real(3), real(3), 1.5, 0.5)
add("fixed_batch_renormalization", WIDE, real(3), real(3), real(3), real(3, lo=0.5))
add("fixed_batch_renormalization", WIDE, real(3), real(3), real(3), real(3, lo=0.5), eps=0.1)
add("layer_normalization", real(4, 3), real(3), real(3))
add("layer_normalization", real(4, 3), real(3), real(3), eps=0.1)
add("layer_normalization", TINY, real(3), real(3))
add("layer_normalization", real(4, 3), real(2), real(3))
add("layer_normalization", real(2, 3, 2), real(3), real(3))
add("layer_normalization", real(2, 3, 2), real(6), real(6))
add("group_normalization", real(2, 4, 3), 2, real(4), real(4))
add("group_normalization", real(2, 4, 2, 2), 4, real(4), real(4), eps=0.1)
add("group_normalization", real(2, 4), 1, real(4), real(4))
add("group_normalization", real(2, 4, 2), 3, real(4), real(4))
add("local_response_normalization", real(1, 7, 2))
add("local_response_normalization", real(2, 5, 2, 2), 3, 1, 0.1, 0.5)
add("local_response_normalization", real(2, 5), n=2, k=1.5, alpha=0.5, beta=0.75)
add("normalize", real(2, 3))
add("normalize", real(2, 3, 2))
add("normalize", real(2, 3, 2), eps=0.1, axis=2)
add("normalize", real(2, 3, 2), axis=(1, 2))
add("normalize", real(2, 3, 2), axis=(0, -1))
add("normalize", values([[0.0, 0.0], [3.0, 4.0]]))
add("normalize", real(2, 3), axis=2)
for x, groups in ((real(6, 4), 2), (real(5, 4, 2), 1), (real(8, 2), 1)):
    add("decorrelated_batch_normalization", x, groups=groups, eps=0.1)
add(
    "decorrelated_batch_normalization",
    real(6, 4),
    groups=2,
    decay=0.7,
    running_mean=real(2, 2, plain=True, watched=True),
    running_projection=real(2, 2, 2, plain=True, watched=True),
)


def fixed(groups, size):
    """A mean and a projection, to which Chainer's gradients have other shapes."""
    return real(groups, size, plain=True), real(groups, size, size, plain=True)


add("fixed_decorrelated_batch_normalization", real(3, 4), *fixed(2, 2), groups=2)
add("fixed_decorrelated_batch_normalization", real(3, 4, 2), *fixed(1, 4), 1)
