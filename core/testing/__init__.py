"""What a plugin's author proves an op, a link, an optimizer or a backend with, in one line each.

    from core.testing import check_op
    def test_mish():
        check_op(Mish, reference=lambda x: x * np.tanh(np.log1p(np.exp(x))))

This room may import NumPy and Hypothesis; the core never loads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.registry.public import exporting

if TYPE_CHECKING:
    from core.testing import condition as condition
    from core.testing import gradient_check as gradient_check
    from core.testing import leaving_out as leaving_out
    from core.testing.backends import check_backend as check_backend
    from core.testing.backends import demands as demands
    from core.testing.communicators import check_communicator as check_communicator
    from core.testing.distributions import check_distribution as check_distribution
    from core.testing.gradient_check import assert_allclose as assert_allclose
    from core.testing.links import check_link as check_link
    from core.testing.mutation import mutants as mutants
    from core.testing.ops import check_op as check_op
    from core.testing.optimizers import check_optimizer as check_optimizer
    from core.testing.parameterized import parameterize as parameterize
    from core.testing.parameterized import product as product
    from core.testing.parameterized import product_dict as product_dict
    from core.testing.strategies import Case as Case
    from core.testing.strategies import cases as cases
    from core.testing.tolerances import tolerance as tolerance
    from core.testing.unary import unary_math_function_unittest as unary_math_function_unittest
else:  # checkers shall not take every name for known
    _found, __dir__ = exporting(
        __name__,
        {
            "core.testing.strategies": "Case cases",
            "core.testing.gradient_check": "assert_allclose",
            "core.testing.backends": "check_backend demands",
            "core.testing.distributions": "check_distribution",
            "core.testing.communicators": "check_communicator",
            "core.testing.links": "check_link",
            "core.testing.ops": "check_op",
            "core.testing.optimizers": "check_optimizer",
            "core.testing.mutation": "mutants",
            "core.testing.parameterized": "parameterize product product_dict",
            "core.testing.tolerances": "tolerance",
            "core.testing.unary": "unary_math_function_unittest",
        },
        "condition gradient_check leaving_out",
    )

    def __getattr__(name: str) -> Any:
        try:
            return _found(name)
        except ModuleNotFoundError as error:
            if error.name != "hypothesis":
                raise
            raise ModuleNotFoundError(
                f"core.testing.{name} needs the library hypothesis, which cannot be imported "
                f"({error}). Install it with `pip install hypothesis`, or with all that plugrad's "
                "own tests need by `pip install 'plugrad[test]'`.",
                name=error.name,
            ) from error
