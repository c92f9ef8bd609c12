"""Operations: declared once, checked once, and called fast ever after.

Start with `function_node`, whose attributes `operation` has; `declaration` reads a class,
`specialize` writes calls, `gradients` gradients; `dispatch` plans calls, `checking` refuses inputs;
`operands` and `widening` help with numbers and narrow floats, `general_form` is for classes in
Chainer's form.
`types` says what an operation takes, `namespace` has the array standard's functions on Variables,
and `operators` gives Variables theirs. No operation stands here: all are plugins'.
"""

__all__ = [
    "declaration",
    "dispatch",
    "elementwise",
    "function_node",
    "namespace",
    "operands",
    "operators",
    "types",
    "widening",
]
