"""What `core.training.extensions` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.training.extensions.dump_graph import DumpGraph as DumpGraph
from plugins.training.extensions.dump_graph import dump_graph as dump_graph
from plugins.training.extensions.evaluator import Evaluator as Evaluator
from plugins.training.extensions.log_report import LogReport as LogReport
from plugins.training.extensions.observe import observe_lr as observe_lr
from plugins.training.extensions.observe import observe_value as observe_value
from plugins.training.extensions.plot_report import PlotReport as PlotReport
from plugins.training.extensions.print_report import PrintReport as PrintReport
from plugins.training.extensions.progress_bar import ProgressBar as ProgressBar
from plugins.training.extensions.snapshot import snapshot as snapshot
from plugins.training.extensions.snapshot import snapshot_object as snapshot_object

def of(distribution: str) -> Offer: ...
