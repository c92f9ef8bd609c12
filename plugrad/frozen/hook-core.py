"""PyInstaller: programs that import `core` take every plugin along, and what these name as text."""

from PyInstaller.utils.hooks import collect_entry_point, collect_submodules

# The metadata of each distribution that has plugins, and the modules that its entry points name.
datas, hiddenimports = collect_entry_point("plugrad")
for package in sorted({"core", *[module.partition(".")[0] for module in hiddenimports]}):
    hiddenimports += collect_submodules(package)
