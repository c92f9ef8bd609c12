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

from typing import TYPE_CHECKING

from core.arrays import backend as backend
from core.arrays.backend import Backend as Backend
from core.arrays.backend import Device as Device
from core.arrays.backend import get_device as get_device
from core.arrays.backend import get_dtype as get_dtype
from core.arrays.backend import seed as seed
from core.arrays.backend import use as use
from core.arrays.backend import using as using
from core.arrays.backend import using_device as using_device
from core.arrays.mixed import mixed16 as mixed16
from core.graph.backprop import backward as backward
from core.graph.backprop import grad as grad
from core.graph.function_hook import FunctionHook as FunctionHook
from core.graph.function_hook import get_function_hooks as get_function_hooks
from core.graph.variable import Variable as Variable
from core.graph.variable import as_array as as_array
from core.graph.variable import as_variable as as_variable
from core.graph.variable_node import VariableNode as VariableNode
from core.registry import configuration as configuration
from core.registry.configuration import DebugMode as DebugMode
from core.registry.configuration import config as config
from core.registry.configuration import force_backprop_mode as force_backprop_mode
from core.registry.configuration import global_config as global_config
from core.registry.configuration import is_debug as is_debug
from core.registry.configuration import no_backprop_mode as no_backprop_mode
from core.registry.configuration import set_debug as set_debug
from core.registry.configuration import using_config as using_config
from core.registry.paths import install as _install
from core.registry.public import exporting
from core.registry.threads import using_threads as using_threads

if TYPE_CHECKING:
    from core import communicators as communicators
    from core import dataset as dataset
    from core import datasets as datasets
    from core import distributions as distributions
    from core import errors as errors
    from core import export as export
    from core import function_hooks as function_hooks
    from core import functions as functions
    from core import initializers as initializers
    from core import interop as interop
    from core import iterators as iterators
    from core import link as link
    from core import link_hooks as link_hooks
    from core import links as links
    from core import optimizer as optimizer
    from core import optimizer_hooks as optimizer_hooks
    from core import optimizers as optimizers
    from core import registry as registry
    from core import serializers as serializers
    from core import testing as testing
    from core import training as training
    from core import typing as typing
    from core.capturing import capture as capture
    from core.compat import backends as backends
    from core.compat import cuda as cuda
    from core.compat import function as function
    from core.compat import type_check as type_check
    from core.compat import utils as utils
    from core.compat.function import Function as Function
    from core.compat.function import FunctionAdapter as FunctionAdapter
    from core.derivatives import hessian as hessian
    from core.derivatives import hvp as hvp
    from core.derivatives import jacobian as jacobian
    from core.derivatives import jvp as jvp
    from core.derivatives import vjp as vjp
    from core.derivatives import vmap as vmap
    from core.graph import function_hook as function_hook
    from core.graph import variable as variable
    from core.link import Chain as Chain
    from core.link import ChainDict as ChainDict
    from core.link import ChainList as ChainList
    from core.link import Link as Link
    from core.link import LinkHook as LinkHook
    from core.link import Parameter as Parameter
    from core.link import Sequential as Sequential
    from core.link import functional_call as functional_call
    from core.link import hook as link_hook  # noqa: F401 - under the name that users know
    from core.link import initializer as initializer
    from core.link import parameter as parameter
    from core.link import sequential as sequential
    from core.link import serializer as serializer
    from core.link.initializer import Initializer as Initializer
    from core.link.serializer import AbstractSerializer as AbstractSerializer
    from core.link.serializer import Deserializer as Deserializer
    from core.link.serializer import Serializer as Serializer
    from core.ops import function_node as function_node
    from core.ops.elementwise import Elementwise as Elementwise
    from core.ops.function_node import FunctionNode as FunctionNode
    from core.ops.types.domain import Domain as Domain
    from core.ops.types.values import anything as anything
    from core.ops.types.values import axes as axes
    from core.ops.types.values import boolean as boolean
    from core.ops.types.values import choice as choice
    from core.ops.types.values import integers as integers
    from core.ops.types.values import number as number
    from core.ops.types.values import numeric as numeric
    from core.ops.types.values import real as real
    from core.optimizer import GradientMethod as GradientMethod
    from core.optimizer import Hyperparameter as Hyperparameter
    from core.optimizer import Optimizer as Optimizer
    from core.optimizer import UpdateRule as UpdateRule
    from core.programs import Program as Program
    from core.registry import hookspecs as hookspecs
    from core.registry import plugins as plugins
    from core.registry.hookspecs import hookimpl as hookimpl
    from core.show import computational_graph as computational_graph
    from core.show.info import print_runtime_info as print_runtime_info
    from core.show.summary import summary as summary
    from core.testing import gradient_check as gradient_check
    from core.tracing import trace as trace
    from core.training import reporter as reporter
    from core.training.reporter import DictSummary as DictSummary
    from core.training.reporter import Reporter as Reporter
    from core.training.reporter import Summary as Summary
    from core.training.reporter import get_current_reporter as get_current_reporter
    from core.training.reporter import report as report
    from core.training.reporter import report_scope as report_scope

    intrinsics = functions  # the path at which some of them stood

_install()

__version__ = "0.1.0"

disable_experimental_feature_warning = False

if not TYPE_CHECKING:  # checkers shall not take every name for known
    __getattr__, __dir__ = exporting(
        __name__,
        {
            "core.capturing": "capture",
            "core.compat.function": "Function FunctionAdapter",
            "core.derivatives": "hessian hvp jacobian jvp vjp vmap",
            "core.link": (
                "Chain ChainDict ChainList Link LinkHook Parameter Sequential functional_call"
            ),
            "core.link.initializer": "Initializer",
            "core.link.serializer": "AbstractSerializer Deserializer Serializer",
            "core.ops.elementwise": "Elementwise",
            "core.ops.function_node": "FunctionNode",
            "core.ops.types.domain": "Domain",
            "core.ops.types.values": "anything axes boolean choice integers number numeric real",
            "core.optimizer": "GradientMethod Hyperparameter Optimizer UpdateRule",
            "core.programs": "Program",
            "core.registry.hookspecs": "hookimpl",
            "core.show.info": "print_runtime_info",
            "core.show.summary": "summary",
            "core.tracing": "trace",
            "core.training.reporter": (
                "DictSummary Reporter Summary get_current_reporter report report_scope"
            ),
        },
        "dataset errors link optimizer registry testing training typing",
    )
