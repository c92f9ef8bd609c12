"""What `core.distributions` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.distributions.bernoulli import Bernoulli as Bernoulli
from plugins.distributions.beta import Beta as Beta
from plugins.distributions.binomial import Binomial as Binomial
from plugins.distributions.categorical import Categorical as Categorical
from plugins.distributions.cauchy import Cauchy as Cauchy
from plugins.distributions.chisquare import Chisquare as Chisquare
from plugins.distributions.dirichlet import Dirichlet as Dirichlet
from plugins.distributions.distribution import Distribution as Distribution
from plugins.distributions.divergence import cross_entropy as cross_entropy
from plugins.distributions.divergence import kl_divergence as kl_divergence
from plugins.distributions.divergence import register_kl as register_kl
from plugins.distributions.exponential import Exponential as Exponential
from plugins.distributions.gamma import Gamma as Gamma
from plugins.distributions.geometric import Geometric as Geometric
from plugins.distributions.gumbel import Gumbel as Gumbel
from plugins.distributions.half_cauchy import HalfCauchy as HalfCauchy
from plugins.distributions.half_normal import HalfNormal as HalfNormal
from plugins.distributions.independent import Independent as Independent
from plugins.distributions.laplace import Laplace as Laplace
from plugins.distributions.log_normal import LogNormal as LogNormal
from plugins.distributions.logistic import Logistic as Logistic
from plugins.distributions.mixture_same_family import MixtureSameFamily as MixtureSameFamily
from plugins.distributions.multinomial import Multinomial as Multinomial
from plugins.distributions.multivariate_normal import MultivariateNormal as MultivariateNormal
from plugins.distributions.negative_binomial import NegativeBinomial as NegativeBinomial
from plugins.distributions.normal import Normal as Normal
from plugins.distributions.one_hot_categorical import OneHotCategorical as OneHotCategorical
from plugins.distributions.pareto import Pareto as Pareto
from plugins.distributions.poisson import Poisson as Poisson
from plugins.distributions.student_t import StudentT as StudentT
from plugins.distributions.transformed import TransformedDistribution as TransformedDistribution
from plugins.distributions.transforms import AffineTransform as AffineTransform
from plugins.distributions.transforms import ExpTransform as ExpTransform
from plugins.distributions.transforms import SigmoidTransform as SigmoidTransform
from plugins.distributions.transforms import TanhTransform as TanhTransform
from plugins.distributions.transforms import Transform as Transform
from plugins.distributions.uniform import Uniform as Uniform
from plugins.distributions.von_mises import VonMises as VonMises
from plugins.distributions.weibull import Weibull as Weibull

def of(distribution: str) -> Offer: ...
