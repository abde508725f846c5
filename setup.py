"""Map the four top-level folders onto the import root ``tmigrate``."""

from setuptools import find_packages, setup

ROOTS = {
    "tmigrate": "migrate",
    "tmigrate.tilelang": "tilelang",
    "tmigrate.converters": "converters",
    "tmigrate.compat": "compat",
}
NESTED = [name.rpartition(".")[2] for name in ROOTS if "." in name]

packages = list(ROOTS)
for name, folder in ROOTS.items():
    skip = [p for n in NESTED for p in (n, n + ".*")] if folder == "migrate" else []
    packages += [f"{name}.{sub}" for sub in find_packages(folder, exclude=skip)]

setup(packages=packages, package_dir=ROOTS)
