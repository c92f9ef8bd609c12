"""Which public names show `Any` to editors and type checkers: those listed here, for a reason.

Names of `core.typing` that stand for any type say what is meant (`DType`, `AnyArray`), and are none
of them. Operations' rules have arrays of whatever library, and their calls types of their own.
"""

import inspect
import re
from fnmatch import fnmatchcase

from core import FunctionNode, registry
from core.registry.kinds import FACADES
from core.registry.signatures import of_call, operation_of

REASONS = {
    "the value of whatever setting a link shows": ["links.*.printable_specs"],
    "a tree of trees, of any depth": [
        "links.BinaryHierarchicalSoftmax.create_huffman_tree",
        "links.BinaryHierarchicalSoftmax.__init__(tree)",
    ],
    "what an example is, the dataset says; a dataset is what has __getitem__ and __len__": [
        "datasets.*.get_example",
        "datasets.*.__init__(dataset*)",
        "datasets.*(dataset)",
        "datasets.SubDataset.__init__(order)",
        "datasets.*(order)",
        "datasets.PickleDatasetWriter.write(x)",
        "datasets.TextDataset.__init__(filter_func)",
        "datasets.TransformDataset.__init__(transform)",
        "iterators.*.__init__(dataset)",
        "communicators.PartitionedIterator.__init__(dataset)",
        "communicators.*(dataset)",
    ],
    "what is sent arrives: any object that can be pickled, or an array of any library": [
        "communicators.*_obj*",
        "communicators.*.iallreduce(buffer)",
        "communicators.*.isum(buffer)",
        "communicators.*.iallgather(buffer)",
        "communicators.*.ireduce_scatter(buffer)",
        "communicators.MultiNodeChainList.forward*",
    ],
    "what captures a step takes functions of any arguments": [
        "training.updaters.StandardUpdater.__init__(capture)",
    ],
    "settings of whichever communicator is named": ["communicators.*(config)"],
    "what is given comes back, made for several ranks": [
        "communicators.create_multi_node_*",
        "communicators.create_synchronized_iterator*",
        "communicators.multi_node_snapshot(replica_sets)",
    ],
    "models of any form, and what they are exported to": ["export.onnx(*)"],
    "columns are arrays, lists or what a function of the user's makes of them": [
        "datasets.*Dataset.convert*",
        "datasets.*Dataset.get_examples",
        "datasets.TabularDataset.fetch",
        "datasets.TabularDataset.*(transform*)",
        "datasets.TabularDataset.*(converter)",
        "datasets.from_data(data)",
    ],
    "arrays or datasets of pairs, as flags say": ["datasets.get_*"],
    "paths, open files, or several of them": [
        "datasets.*ImageDataset.__init__(*)",
        "datasets.PickleDataset*.__init__(*)",
    ],
    "an entry for each example, in a list or an array of any library": [
        "iterators.StratifiedOrderSampler.__init__(labels)",
        "iterators.WeightedOrderSampler.__init__(weights)",
    ],
    "orders are NumPy's, or None": ["iterators.*Sampler.__call__*"],
    "generators of random numbers, NumPy's or like them": [
        "iterators.*Sampler.__init__(random_state)",
        "initializers.*(rng)",
    ],
    "namespaces and devices of array libraries": [
        "initializers.*.draw(device)",
        "initializers.generate_array(xp)",
        "initializers.generate_array(device)",
        "optimizer_hooks.exponential_decay_noise(xp)",
    ],
    "anything that can be saved comes and goes": ["serializers.*"],
    "a user's object, known by what its own class says": [
        "training.updaters.StandardUpdater.get_*",
        "training.updaters.StandardUpdater.next_batch",
        "training.extensions.Evaluator.get_*",
        "communicators.GenericMultiNodeEvaluator.*",
        "communicators.*.__call__(trainer)",
        "communicators.ObservationAggregator.__init__(aggregator)",
        "training.extensions.Evaluator.__init__(target)",
        "training.extensions.Evaluator.__call__(trainer)",
        "training.extensions.*Shift.__init__(optimizer)",
        "training.extensions.snapshot*(target)",
        "training.extensions.RunRecord.__init__(arguments)",
        "training.extensions.VariableStatisticsPlot.__init__(targets)",
        "optimizer_hooks.exponential_decay_noise(hook)",
        "optimizer_hooks.exponential_decay_noise(opt)",
        "optimizer_hooks.ExponentialMovingAverage.serialize(serializer)",
    ],
    "numbers, arrays or texts: what was reported": [
        "training.extensions.Evaluator.__call__",
        "training.extensions.Evaluator.evaluate",
        "training.extensions.LogReport.log",
        "training.extensions.observe_*",
    ],
    "a function of the user's, whose arguments or results are its own": [
        "links.*.__init__(*fun)",
        "links.*.__init__(activat*)",
        "links.TransformerBlock.__init__(normalization)",
        "training.extensions.ImageReport.__init__(images)",
        "initializers.generate_array(initializer)",
        "optimizers.LBFGS.update(*)",
        "optimizer_hooks.GradientNoise.__init__(noise_func)",
        "training.updaters.*.__init__(converter)",
        "training.updaters.*.__init__(loss_func)",
        "training.extensions.Evaluator.__init__(*)",
        "training.extensions.*.__init__(postprocess)",
        "training.extensions.*(filename)",
        "training.extensions.*(writer)",
    ],
    "handed on to what a class, a mode or a predictor takes": [
        "functions.pad(keywords)",
        "functions.Pad.__init__(*)",
        "functions.*.apply(inputs)",
        "functions.einsum(operands)",
        "links.Classifier.forward(*)",
        "links.ConvolutionND.from_params(settings)",
        "optimizers.LBFGS.group(hyperparameters)",
    ],
    "several forms, of which Chainer's is one": [
        "functions.copy(dst)",
        "functions.spatial_pyramid_pooling_2d(pooling*)",
        "functions.sparse_matmul(*)",
        "links.MLPConvolution2D.__init__(in_channels)",
        "links.PReLU.__init__(shape)",
        "links.Swish.__init__(beta_shape)",
        "training.updaters.*ParallelUpdater.__init__(devices)",
    ],
    "an object of another library": [
        "links.*.prepare(image)",
        "links.ONNXModel.__init__(file)",
        "communicators.*(mpi_comm)",
        "distributions.Distribution.xp",
        "functions.from_torch*",
        "interop.as_torch",
        "training.extensions.OptunaPruning.__init__(trial)",
        "training.extensions.*ump*raph*(*_style)",
    ],
}


def signatures(name, value):
    operation = operation_of(value)
    if operation is not None:
        yield name, of_call(operation)
    elif not isinstance(value, type) and callable(value):
        yield name, inspect.signature(value)
    elif isinstance(value, type) and not issubclass(value, FunctionNode):
        for member, found in vars(value).items():
            found = found.fget if isinstance(found, property) else found
            found = getattr(found, "__func__", found)
            is_public = not member.startswith("_") or member in ("__init__", "__call__")
            if is_public and inspect.isfunction(found):
                yield f"{name}.{member}", inspect.signature(found)


def shows_any(annotation):
    text = str(annotation).replace("ndarray[Any, Any]", "ndarray")
    return annotation is inspect.Signature.empty or re.search(r"\bAny\b", text)


def names_with_any():
    for kind, facade in FACADES.items():
        claims = [
            each for found in registry.installed.snapshot().claims[kind].values() for each in found
        ]
        for claim in claims:
            if not claim.plugin.bundled:
                continue
            path = f"{facade.removeprefix('core.')}.{claim.name}"
            for name, signature in signatures(path, claim.resolve()):
                if shows_any(signature.return_annotation):
                    yield name
                for each in signature.parameters.values():
                    if each.name not in ("self", "cls") and shows_any(each.annotation):
                        yield f"{name}({each.name})"


def test_any_is_shown_where_there_is_a_reason():
    found = set(names_with_any())
    patterns = [pattern for each in REASONS.values() for pattern in each]
    unexplained = {n for n in found if not any(fnmatchcase(n, p) for p in patterns)}
    assert not unexplained, "Name the type, or the reason why there is none."
    idle = [p for p in patterns if not any(fnmatchcase(n, p) for n in found)]
    assert not idle, "These have types by now."
