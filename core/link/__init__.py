"""Parameters in trees: links, what they start as, how they are copied, moved and saved.

Start with `link`; `parameter` and `initializer` are its leaves, `serializer` is what saving is.
`replays` keeps what links had when they were called, for calls that are made again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.registry.public import exporting

if TYPE_CHECKING:
    from core.link.chain import Chain as Chain
    from core.link.chain import ChainList as ChainList
    from core.link.chain_dict import ChainDict as ChainDict
    from core.link.functional import functional_call as functional_call
    from core.link.hook import LinkHook as LinkHook
    from core.link.link import Link as Link
    from core.link.parameter import Parameter as Parameter
    from core.link.sequential import Sequential as Sequential
else:  # checkers shall not take every name for known
    __getattr__, __dir__ = exporting(
        __name__,
        {
            "core.link.chain": "Chain ChainList",
            "core.link.chain_dict": "ChainDict",
            "core.link.functional": "functional_call",
            "core.link.hook": "LinkHook",
            "core.link.link": "Link",
            "core.link.parameter": "Parameter",
            "core.link.sequential": "Sequential",
        },
        "hook html initializer parameter recurrent_state replays sequential serializer tree "
        "unregistered",
    )
