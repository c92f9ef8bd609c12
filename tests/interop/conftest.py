"""SciPy decides at its first import whether it takes other arrays: such tests need a process."""

import os

if os.environ.get("SCIPY_ARRAY_API") != "1":
    collect_ignore = ["test_scipy.py", "test_scikit_learn.py"]
