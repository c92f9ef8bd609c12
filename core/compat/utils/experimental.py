"""Warnings about what may change, and about what gives different numbers every time."""

from __future__ import annotations

import sys
import warnings


def experimental(api_name: str) -> None:
    """Warn that `api_name` is experimental, unless the user has switched that off.

    Called inside what is experimental, with its public name. Setting
    `core.disable_experimental_feature_warning = True` silences all such warnings.
    """
    if not getattr(sys.modules["core"], "disable_experimental_feature_warning", False):
        warnings.warn(
            f"{api_name} is experimental: its interface may change in a later version. "
            "core.disable_experimental_feature_warning = True silences this warning.",
            FutureWarning,
            stacklevel=3,
        )


def nondeterministic(f_name: str) -> None:
    """Warn that `f_name` may round differently from run to run, if the configuration asks."""
    from core.registry.configuration import config

    if config.warn_nondeterministic:
        warnings.warn(
            f"{f_name} may give slightly different numbers every time it is run.",
            RuntimeWarning,
            stacklevel=3,
        )
