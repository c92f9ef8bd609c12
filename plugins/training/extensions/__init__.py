"""Extensions: what happens beside the updates while a trainer runs."""

provides = {
    "dump_graph": "DumpGraph dump_graph",
    "evaluator": "Evaluator",
    "exponential_shift": "ExponentialShift",
    "fail_on_non_number": "FailOnNonNumber",
    "inverse_shift": "InverseShift",
    "linear_shift": "LinearShift",
    "log_report": "LogReport",
    "micro_average": "MicroAverage",
    "multistep_shift": "MultistepShift",
    "observe": "observe_lr observe_value",
    "parameter_statistics": "ParameterStatistics",
    "plot_report": "PlotReport",
    "polynomial_shift": "PolynomialShift",
    "print_report": "PrintReport PrintReportNotebook",
    "progress_bar": "ProgressBar ProgressBarNotebook",
    "snapshot": "snapshot snapshot_object snapshot_writers",
    "step_shift": "StepShift",
    "unchain_variables": "unchain_variables",
    "variable_statistics_plot": "VariableStatisticsPlot",
    "warmup_shift": "WarmupShift",
}
