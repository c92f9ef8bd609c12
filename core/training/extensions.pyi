"""What `core.training.extensions` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.training.extensions.cosine_shift import CosineShift as CosineShift
from plugins.training.extensions.dump_graph import DumpGraph as DumpGraph
from plugins.training.extensions.dump_graph import dump_graph as dump_graph
from plugins.training.extensions.evaluator import Evaluator as Evaluator
from plugins.training.extensions.exponential_shift import ExponentialShift as ExponentialShift
from plugins.training.extensions.fail_on_non_number import FailOnNonNumber as FailOnNonNumber
from plugins.training.extensions.function_shift import FunctionShift as FunctionShift
from plugins.training.extensions.histogram_report import HistogramReport as HistogramReport
from plugins.training.extensions.image_report import ImageReport as ImageReport
from plugins.training.extensions.inverse_shift import InverseShift as InverseShift
from plugins.training.extensions.linear_shift import LinearShift as LinearShift
from plugins.training.extensions.log_report import LogReport as LogReport
from plugins.training.extensions.micro_average import MicroAverage as MicroAverage
from plugins.training.extensions.multistep_shift import MultistepShift as MultistepShift
from plugins.training.extensions.observe import observe_lr as observe_lr
from plugins.training.extensions.observe import observe_value as observe_value
from plugins.training.extensions.one_cycle_shift import OneCycleShift as OneCycleShift
from plugins.training.extensions.optuna_pruning import OptunaPruning as OptunaPruning
from plugins.training.extensions.parameter_statistics import (
    ParameterStatistics as ParameterStatistics,
)
from plugins.training.extensions.plot_report import PlotReport as PlotReport
from plugins.training.extensions.polynomial_shift import PolynomialShift as PolynomialShift
from plugins.training.extensions.print_report import PrintReport as PrintReport
from plugins.training.extensions.print_report import PrintReportNotebook as PrintReportNotebook
from plugins.training.extensions.progress_bar import ProgressBar as ProgressBar
from plugins.training.extensions.progress_bar import ProgressBarNotebook as ProgressBarNotebook
from plugins.training.extensions.run_record import RunRecord as RunRecord
from plugins.training.extensions.snapshot import snapshot as snapshot
from plugins.training.extensions.snapshot import snapshot_object as snapshot_object
from plugins.training.extensions.snapshot import snapshot_writers as snapshot_writers
from plugins.training.extensions.step_shift import StepShift as StepShift
from plugins.training.extensions.tensorboard_report import TensorBoardReport as TensorBoardReport
from plugins.training.extensions.unchain_variables import unchain_variables as unchain_variables
from plugins.training.extensions.variable_statistics_plot import (
    VariableStatisticsPlot as VariableStatisticsPlot,
)
from plugins.training.extensions.warmup_shift import WarmupShift as WarmupShift

def of(distribution: str) -> Offer: ...
