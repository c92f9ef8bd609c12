"""Extensions: what happens beside the updates while a trainer runs."""

provides = {
    "dump_graph": "DumpGraph dump_graph",
    "evaluator": "Evaluator",
    "exponential_shift": "ExponentialShift",
    "inverse_shift": "InverseShift",
    "linear_shift": "LinearShift",
    "log_report": "LogReport",
    "multistep_shift": "MultistepShift",
    "observe": "observe_lr observe_value",
    "plot_report": "PlotReport",
    "polynomial_shift": "PolynomialShift",
    "print_report": "PrintReport",
    "progress_bar": "ProgressBar",
    "snapshot": "snapshot snapshot_object",
    "step_shift": "StepShift",
    "warmup_shift": "WarmupShift",
}
