"""The modules by which ChainerMN's scripts find things: `chainermn.functions.send`, ..."""

from plugins.communicators import datasets as datasets
from plugins.communicators import evaluators as evaluators
from plugins.communicators import extensions as extensions
from plugins.communicators import functions as functions
from plugins.communicators import global_except_hook as global_except_hook
from plugins.communicators import iterators as iterators
from plugins.communicators import links as links
