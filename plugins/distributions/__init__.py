"""Probability distributions: densities, moments, draws, and how far apart two of them are."""

from __future__ import annotations

from core import hookimpl

provides = {
    "distribution": "Distribution",
    "bernoulli": "Bernoulli",
    "beta": "Beta",
    "binomial": "Binomial",
    "categorical": "Categorical",
    "cauchy": "Cauchy",
    "chisquare": "Chisquare",
    "dirichlet": "Dirichlet",
    "exponential": "Exponential",
    "gamma": "Gamma",
    "geometric": "Geometric",
    "gumbel": "Gumbel",
    "half_cauchy": "HalfCauchy",
    "half_normal": "HalfNormal",
    "independent": "Independent",
    "laplace": "Laplace",
    "log_normal": "LogNormal",
    "logistic": "Logistic",
    "mixture_same_family": "MixtureSameFamily",
    "multinomial": "Multinomial",
    "multivariate_normal": "MultivariateNormal",
    "negative_binomial": "NegativeBinomial",
    "normal": "Normal",
    "one_hot_categorical": "OneHotCategorical",
    "pareto": "Pareto",
    "poisson": "Poisson",
    "student_t": "StudentT",
    "transformed": "TransformedDistribution",
    "transforms": "AffineTransform ExpTransform SigmoidTransform TanhTransform Transform",
    "uniform": "Uniform",
    "von_mises": "VonMises",
    "weibull": "Weibull",
    "divergence": "cross_entropy kl_divergence register_kl",
}


@hookimpl
def register_distributions() -> dict[str, str]:
    """The distributions, loaded when asked for."""
    from core.registry import lazily

    return lazily(__name__, provides)
