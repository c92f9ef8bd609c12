"""The site: `python -m pip install -e ".[docs]" && sphinx-build -W docs site`."""

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("_extensions")))

project = "plugrad"
author = "the plugrad developers"
copyright = author
release = version = installed("plugrad")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "api_pages",
    "docstrings",
    "flowcharts",
    "mathml",
    "reference_pictures",
    "relative_files",
]
exclude_patterns = ["_extensions", "_static", "reference/*.md"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4

# Docstrings put code between single backticks.
default_role = "literal"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_custom_sections = [("Source", "notes"), ("Shapes", "notes")]
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "plugrad"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
# Mathematics is drawn by the browser itself: no script of another host.
html_math_renderer = "mathml"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
pygments_style = "a11y-light"
pygments_dark_style = "a11y-high-contrast-dark"
