"""A plugin for plugrad. Importing this module imports none of what it offers."""

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
