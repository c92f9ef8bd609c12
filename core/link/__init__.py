"""Parameters in trees: links, what they start as, how they are copied, moved and saved.

Start with `link`; `parameter` and `initializer` are its leaves, `serializer` is what saving is.
"""

from core.link.chain import Chain as Chain
from core.link.chain import ChainList as ChainList
from core.link.chain_dict import ChainDict as ChainDict
from core.link.hook import LinkHook as LinkHook
from core.link.link import Link as Link
from core.link.parameter import Parameter as Parameter
from core.link.sequential import Sequential as Sequential
from core.registry.public import listing

__all__ = [
    "Chain",
    "ChainDict",
    "ChainList",
    "Link",
    "LinkHook",
    "Parameter",
    "Sequential",
    "hook",
    "html",
    "initializer",
    "parameter",
    "recurrent_state",
    "sequential",
    "serializer",
    "tree",
    "unregistered",
]

__dir__ = listing(__name__)
