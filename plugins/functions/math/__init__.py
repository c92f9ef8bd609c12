"""Elementary functions, sums and products."""

provides = {
    "absolute": "Absolute absolute",
    "add": "Add add",
    "argextrema": "ArgMax ArgMin argmax argmin",
    "average": "Mean average mean",
    "bias": "bias",
    "clip": "Clip clip",
    "erf": "Erf erf",
    "exponential": "Exp Expm1 exp expm1",
    "extrema": "Max Min max min",
    "fmod": "Fmod fmod",
    "hyperbolic": "Arccosh Arcsinh Arctanh Cosh Sinh arccosh arcsinh arctanh cosh sinh",
    "identity": "Identity identity",
    "linear_interpolate": "LinearInterpolate linear_interpolate",
    "logarithm": "Log Log10 Log1p Log2 log log10 log1p log2",
    "logsumexp": "LogSumExp logsumexp",
    "matmul": "MatMul batch_matmul matmul",
    "maximum": "Maximum Minimum maximum minimum",
    "norm": "BatchL2NormSquared batch_l2_norm_squared",
    "prod": "Prod prod",
    "root": "Rsqrt Sqrt Square rsqrt sqrt square",
    "rounding": "Ceil Fix Floor ceil fix floor",
    "scale": "scale",
    "sign": "Sign sign",
    "squared_difference": "SquaredDifference squared_difference",
    "sum": "Sum SumTo sum sum_to",
    "trigonometric": (
        "Arccos Arcsin Arctan Arctan2 Cos Sin Tan arccos arcsin arctan arctan2 cos sin tan"
    ),
}
