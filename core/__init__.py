"""plugrad's core: variables, functions, links and optimizers, on any array backend.

    import core
    import core.functions as F
    import core.links as L
    from core import training
    from core.training import extensions

Everything with a name that people type beyond this module comes from plugins, the bundled ones
included; see `plugrad plugins`. Importing this module loads neither an array library nor a plugin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core import backend as backend
from core import configuration as configuration
from core.backend import Backend as Backend
from core.backend import Device as Device
from core.backend import get_device as get_device
from core.backend import get_dtype as get_dtype
from core.backend import seed as seed
from core.backend import use as use
from core.backend import using as using
from core.backend import using_device as using_device
from core.backprop import backward as backward
from core.backprop import grad as grad
from core.configuration import DebugMode as DebugMode
from core.configuration import config as config
from core.configuration import force_backprop_mode as force_backprop_mode
from core.configuration import global_config as global_config
from core.configuration import is_debug as is_debug
from core.configuration import no_backprop_mode as no_backprop_mode
from core.configuration import set_debug as set_debug
from core.configuration import using_config as using_config
from core.domain import Domain as Domain
from core.domain import anything as anything
from core.domain import axes as axes
from core.domain import boolean as boolean
from core.domain import choice as choice
from core.domain import integers as integers
from core.domain import number as number
from core.domain import numeric as numeric
from core.domain import real as real
from core.function_hook import FunctionHook as FunctionHook
from core.function_hook import get_function_hooks as get_function_hooks
from core.function_node import Elementwise as Elementwise
from core.function_node import FunctionNode as FunctionNode
from core.initializer import Initializer as Initializer
from core.link import Chain as Chain
from core.link import ChainDict as ChainDict
from core.link import ChainList as ChainList
from core.link import Link as Link
from core.link_hook import LinkHook as LinkHook
from core.mixed import mixed16 as mixed16
from core.parameter import Parameter as Parameter
from core.public import listing
from core.sequential import Sequential as Sequential
from core.serializer import AbstractSerializer as AbstractSerializer
from core.serializer import Deserializer as Deserializer
from core.serializer import Serializer as Serializer
from core.variable import Variable as Variable
from core.variable import as_array as as_array
from core.variable import as_variable as as_variable
from core.variable_node import VariableNode as VariableNode

from core import intrinsics as intrinsics  # isort: skip - gives Variable its operators

if TYPE_CHECKING:
    from core import backends as backends
    from core import computational_graph as computational_graph
    from core import cuda as cuda
    from core import dataset as dataset
    from core import datasets as datasets
    from core import function as function
    from core import function_hooks as function_hooks
    from core import functions as functions
    from core import gradient_check as gradient_check
    from core import initializers as initializers
    from core import iterators as iterators
    from core import link_hooks as link_hooks
    from core import links as links
    from core import optimizer as optimizer
    from core import optimizer_hooks as optimizer_hooks
    from core import optimizers as optimizers
    from core import plugins as plugins
    from core import registry as registry
    from core import reporter as reporter
    from core import serializers as serializers
    from core import testing as testing
    from core import training as training
    from core import type_check as type_check
    from core import utils as utils
    from core.commands.info import print_runtime_info as print_runtime_info
    from core.function import Function as Function
    from core.function import FunctionAdapter as FunctionAdapter
    from core.hookspecs import hookimpl as hookimpl
    from core.link_summary import summary as summary
    from core.optimizer import GradientMethod as GradientMethod
    from core.optimizer import Hyperparameter as Hyperparameter
    from core.optimizer import Optimizer as Optimizer
    from core.optimizer import UpdateRule as UpdateRule
    from core.reporter import DictSummary as DictSummary
    from core.reporter import Reporter as Reporter
    from core.reporter import Summary as Summary
    from core.reporter import get_current_reporter as get_current_reporter
    from core.reporter import report as report
    from core.reporter import report_scope as report_scope

__version__ = "0.1.0"

disable_experimental_feature_warning = False

_rooms = frozenset(
    [
        "backends",
        "computational_graph",
        "cuda",
        "dataset",
        "datasets",
        "function",
        "function_hooks",
        "functions",
        "gradient_check",
        "initializers",
        "iterators",
        "link_hooks",
        "links",
        "optimizer",
        "optimizer_hooks",
        "optimizers",
        "plugins",
        "registry",
        "reporter",
        "serializers",
        "testing",
        "training",
        "type_check",
        "utils",
    ]
)

_elsewhere = {
    "print_runtime_info": "core.commands.info",
    "Function": "core.function",
    "FunctionAdapter": "core.function",
    "hookimpl": "core.hookspecs",
    "summary": "core.link_summary",
    "GradientMethod": "core.optimizer",
    "Hyperparameter": "core.optimizer",
    "Optimizer": "core.optimizer",
    "UpdateRule": "core.optimizer",
    "DictSummary": "core.reporter",
    "Reporter": "core.reporter",
    "Summary": "core.reporter",
    "get_current_reporter": "core.reporter",
    "report": "core.reporter",
    "report_scope": "core.reporter",
}


if not TYPE_CHECKING:  # checkers shall not take every name for known

    def __getattr__(name: str) -> Any:
        """What costs too much to load before it is needed."""
        from importlib import import_module

        if name in _rooms:
            return import_module(f"core.{name}")
        if name in _elsewhere:
            globals()[name] = value = getattr(import_module(_elsewhere[name]), name)
            return value
        from core.errors import nearest

        known = [n for n in __dir__() if not n.startswith("_")]
        raise AttributeError(
            f"module 'core' has no attribute {name!r}.{nearest(name, known, 'core')}"
        )


__dir__ = listing(__name__, [*_rooms, *_elsewhere, "backend", "configuration"])
