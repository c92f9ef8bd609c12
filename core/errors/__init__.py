"""What is raised, where it comes from, and what to write instead.

`exceptions` has the errors, all of them `CoreError`s; `place` finds link and line, and `notes` adds
them; `cures` and `suggestions` find what was meant, `synonyms` by the table `names_of_others`. The
other files hold checks that are shared: of attributes, arguments, and of an `__init__` that was not
called.
"""

from core.errors import dtypes as dtypes
from core.errors import exceptions as exceptions
from core.errors import notes as notes
from core.errors import removed as removed
from core.errors.exceptions import BackendError as BackendError
from core.errors.exceptions import BackendUnavailable as BackendUnavailable
from core.errors.exceptions import CheckpointDamaged as CheckpointDamaged
from core.errors.exceptions import CheckpointError as CheckpointError
from core.errors.exceptions import CommunicatorError as CommunicatorError
from core.errors.exceptions import CoreError as CoreError
from core.errors.exceptions import DatasetDamaged as DatasetDamaged
from core.errors.exceptions import DatasetMissing as DatasetMissing
from core.errors.exceptions import DeclarationError as DeclarationError
from core.errors.exceptions import DownloadError as DownloadError
from core.errors.exceptions import ExportError as ExportError
from core.errors.exceptions import GraphError as GraphError
from core.errors.exceptions import HookError as HookError
from core.errors.exceptions import InvalidSetting as InvalidSetting
from core.errors.exceptions import InvalidType as InvalidType
from core.errors.exceptions import MissingInit as MissingInit
from core.errors.exceptions import NameConflict as NameConflict
from core.errors.exceptions import NotDifferentiable as NotDifferentiable
from core.errors.exceptions import OutOfRange as OutOfRange
from core.errors.exceptions import PluginError as PluginError
from core.errors.exceptions import RegistrationError as RegistrationError
from core.errors.exceptions import RemovedArgument as RemovedArgument
from core.errors.exceptions import TraceError as TraceError
from core.errors.exceptions import UnknownName as UnknownName
from core.errors.exceptions import UntracedAttribute as UntracedAttribute
from core.errors.exceptions import UpdateError as UpdateError
from core.errors.kinds import checked as checked
from core.errors.suggestions import nearest as nearest
from core.errors.suggestions import refuse_unknown as refuse_unknown

for _error in vars(exceptions).values():  # tracebacks say the name that users import
    if isinstance(_error, type) and issubclass(_error, CoreError):
        _error.__module__ = __name__

_MODULES = (
    "arguments",
    "dtypes",
    "interval",
    "keywords",
    "kinds",
    "known_attributes",
    "notes",
    "place",
    "refused",
    "removed",
    "scalars",
    "set_by_init",
    "suggestions",
    "synonyms",
)


def __dir__() -> list[str]:
    return sorted({*_MODULES, *(name for name in globals() if not name.startswith("_"))})
