"""A plugin for plugrad. Importing this module imports none of what it offers."""

from importlib.util import find_spec

from core import hookimpl

requires_plugin_api = 1


@hookimpl
def register_functions():
    return {"mish": "plugrad_mish.mish:mish"}


@hookimpl
def register_links():
    return {"LinearMish": "plugrad_mish.linear_mish:LinearMish"}


@hookimpl
def register_optimizers():
    return {"Signum": "plugrad_mish.signum:Signum"}


@hookimpl
def register_extensions():
    return {"ReportGradientNorm": "plugrad_mish.gradient_norm:ReportGradientNorm"}


@hookimpl
def register_kernels(backend):
    if backend != "numpy" or find_spec("numba") is None:
        return {}
    return {
        "compute": {"plugrad_mish.mish:Mish": "plugrad_mish.on_numpy:mish"},
        "gradient": {"plugrad_mish.mish:Mish": "plugrad_mish.on_numpy:gradient"},
    }
