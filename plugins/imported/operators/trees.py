"""`ai.onnx.ml.TreeEnsemble`: trees of decisions, all rows at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from plugins.imported.operators.common import Refused, host, like, plain, sized
from plugins.imported.operators.tables import transformed

COMPARE: tuple[Any, ...] = (
    np.less_equal,
    np.less,
    np.greater_equal,
    np.greater,
    np.equal,
    np.not_equal,
)
"""By the number of a node's mode; 6 asks for a member of a set."""

MEMBER = 6
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def _within(a: Any, count: Any, what: str) -> Any:
    """Numbers of nodes, leaves or features, all of which are there."""
    a = np.asarray(a, "int64")
    if a.ndim != 1 or ((a < 0) | (a >= count)).any():
        raise Refused(f"expected numbers of {what} from 0, below {count}, got others")
    return a


class _Trees:
    """The nodes of all trees, as columns."""

    def __init__(self, node: Any, features: int) -> None:
        self.modes = _within(node.get("nodes_modes"), MEMBER + 1, "modes")
        n = len(self.modes)
        self.features = _within(node.get("nodes_featureids"), features, "features")
        self.splits = np.asarray(node.get("nodes_splits"))
        self.weights = np.asarray(node.get("leaf_weights"))
        self.targets = _within(node.get("leaf_targetids"), node.get("n_targets"), "targets")
        self.leaf, self.next = [], []
        for side in ("false", "true"):
            leaf = np.asarray(node.get(f"nodes_{side}leafs"), bool)
            to = _within(node.get(f"nodes_{side}nodeids"), max(n, len(self.targets)), "nodes")
            _within(to[leaf], len(self.targets), "leaves")
            _within(to[~leaf], n, "nodes")
            self.leaf.append(leaf)
            self.next.append(to)
        missing = node.get("nodes_missing_value_tracks_true") or [0] * n
        self.missing = np.asarray(missing, bool)
        self.sets = self._sets(node.get("membership_values"))
        columns = [self.features, self.splits, self.missing, *self.leaf, *self.next]
        if any([len(each) != n for each in columns]) or len(self.weights) != len(self.targets):
            raise Refused("expected as many settings as nodes, and as many weights as leaves")

    def _sets(self, values: Any) -> dict[int, Any]:
        """Members by the number of the node that asks for one; NaN ends each set."""
        asking = np.flatnonzero(self.modes == MEMBER)
        values = np.asarray([] if values is None else values)
        ends = np.flatnonzero(np.isnan(values))
        if len(ends) < len(asking):
            raise Refused(f"expected {len(asking)} sets of members, got {len(ends)}")
        parts = np.split(values, ends)
        return {int(i): part[~np.isnan(part)] for i, part in zip(asking, parts, strict=False)}

    def leaves(self, x: Any, root: int) -> Any:
        """The leaf of each row in the tree of a root."""
        rows, at = np.arange(len(x)), np.full(len(x), root)
        found = np.zeros(len(x), "int64")
        for _ in range(len(self.modes)):
            value = x[rows, self.features[at]]
            yes = np.zeros(len(rows), bool)
            for mode in np.unique(self.modes[at]):
                here = self.modes[at] == mode
                if mode < MEMBER:
                    yes[here] = COMPARE[mode](value[here], self.splits[at[here]])
                    continue
                for i in np.unique(at[here]):
                    yes[at == i] = np.isin(value[at == i], self.sets[int(i)])
            yes |= np.isnan(value) & self.missing[at]
            to = np.where(yes, self.next[1][at], self.next[0][at])
            done = np.where(yes, self.leaf[1][at], self.leaf[0][at])
            found[rows[done]] = to[done]
            rows, at = rows[~done], to[~done]
            if not len(rows):
                return found
        raise Refused("expected trees, got nodes that lead back to themselves")


@plain
def _ensemble(node: Any, x: Any) -> Any:
    """Weights of the leaves that rows come to, joined over the trees for each target."""
    a = host(x)
    if a.ndim != 2:
        raise Refused(f"expected rows of features, got the shape {a.shape}")
    trees = _Trees(node, a.shape[1])
    roots = _within(node.get("tree_roots"), len(trees.modes), "roots")
    shape = sized((len(a), node.get("n_targets")))
    how = node.get("aggregate_function", 1)
    join = {2: np.minimum, 3: np.maximum}.get(how, np.add)
    y, seen = np.zeros(shape, trees.weights.dtype), np.zeros(shape, bool)
    rows = np.arange(len(a))
    for root in roots:
        leaf = trees.leaves(a, root)
        at, weight = (rows, trees.targets[leaf]), trees.weights[leaf]
        y[at] = np.where(seen[at], join(y[at], weight), weight)
        seen[at] = True
    if how == 0:
        y = y / len(roots)
    made = like(x, y.astype(a.dtype))
    return transformed(
        made, TRANSFORMS[_within([node.get("post_transform", 0)], 5, "transforms")[0]]
    )


OPERATORS: dict[str, Any] = {"ai.onnx.ml.TreeEnsemble": _ensemble}
