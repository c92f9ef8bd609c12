"""Extensions: what happens beside the updates while a trainer runs."""

provides = {
    "dump_graph": "DumpGraph dump_graph",
    "evaluator": "Evaluator",
    "log_report": "LogReport",
    "observe": "observe_lr observe_value",
    "plot_report": "PlotReport",
    "print_report": "PrintReport",
    "progress_bar": "ProgressBar",
    "snapshot": "snapshot snapshot_object",
}
