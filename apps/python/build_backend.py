# What pip and `python -m build` call: scikit-build-core, with a source distribution that is whole.
# SPDX-License-Identifier: MIT
"""The package is built from the C++ sources of the repository, which lie above its folder. A source
distribution has them beside it, under a pyproject.toml that knows the other places; from there
scikit-build-core alone builds the wheel, and the same source distribution again."""
import os
import pathlib
import shutil
import tempfile

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F401, F403 - the other hooks

PACKAGE = pathlib.Path(__file__).resolve().parent
ROOT = PACKAGE.parents[1]
NEEDED = ("CMakeLists.txt", "LICENSE", ".cmake", "codec", "cuda", "io", "apps/python",
          "samples/python", "samples/media", "tests/python")
PLACES = {
    'build-backend = "build_backend"\nbackend-path = ["."]\n':
        'build-backend = "scikit_build_core.build"\n',
    'readme = "README.md"': 'readme = "apps/python/README.md"',
    'cmake.version =': 'cmake.source-dir = "apps/python"\ncmake.version =',
    'wheel.packages = ["zerorun"]': 'wheel.packages = ["apps/python/zerorun"]',
    'input = "../../codec/': 'input = "codec/',
}


def sdist_project(text):
    """pyproject.toml as it stands at the top of a source distribution."""
    for here, there in PLACES.items():
        if text.count(here) != 1:
            raise RuntimeError(f"pyproject.toml must have {here!r} once")
        text = text.replace(here, there)
    return text


def copy_sources(folder):
    unwanted = shutil.ignore_patterns("__pycache__", "*.pyc", ".pytest_cache", "build", "dist", "*.so")
    for name in NEEDED:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=unwanted)
        else:
            shutil.copy2(source, target)
    (folder / "apps" / "python" / "pyproject.toml").unlink()
    text = (PACKAGE / "pyproject.toml").read_text(encoding="utf-8")
    (folder / "pyproject.toml").write_text(sdist_project(text), encoding="utf-8")


def build_sdist(sdist_directory, config_settings=None):
    target, before = os.path.abspath(sdist_directory), os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        copy_sources(pathlib.Path(folder))
        os.chdir(folder)
        try:
            return _build.build_sdist(target, config_settings)
        finally:
            os.chdir(before)
