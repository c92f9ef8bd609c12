"""Operations: declared once, checked once, and called fast ever after.

Start with `function_node`; `declaration` reads a class, `specialize` writes its calls, `dispatch`
plans them, `operands` and `widening` help it with what is no Variable, and with narrow floats.
`types` says what an operation takes, `intrinsics` are the operators, `namespace` has the array
standard's functions on Variables.
"""

__all__ = [
    "declaration",
    "dispatch",
    "function_node",
    "intrinsics",
    "namespace",
    "namespace_info",
    "types",
]
