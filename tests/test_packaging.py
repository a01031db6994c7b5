"""What is installed, and which part may import which."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from interop import registry

ROOT = Path(__file__).parents[1]
LIBRARY = sorted(
    p
    for folder in ("interop", "adapters")
    for p in (ROOT / folder).rglob("*.py")
    if p.relative_to(ROOT).parts[:2] not in (("interop", "adapters"), ("interop", "cli"))
)
CORE = [p for p in LIBRARY if p.relative_to(ROOT).parts[0] == "interop"]
ADAPTERS = [p for p in LIBRARY if p.relative_to(ROOT).parts[0] == "adapters"]

MAY = (
    *("interop.model", "interop.adapter", "interop.errors", "interop.fields", "interop.host"),
    *("interop.syntax", "interop.markup"),
)
"""What of the project an adapter may import, besides its own package."""
HOSTS = {f"adapters/memhtml/{part}.py" for part in ("repository", "git", "own_data")}
"""What runs around a store's files, and is not pure by its nature: ``Adapter.host``."""
IMPURE = {
    *("os", "io", "glob", "shutil", "tempfile", "fcntl", "sqlite3"),
    *("subprocess", "socket", "urllib.request", "http", "asyncio", "threading"),
    *("time", "random", "secrets", "uuid", "locale", "platform", "platformdirs", "filelock"),
}
"""What no adapter may import: disk, network, clock, chance and environment."""
LEAVING = ("print", "input", "exit", "quit", "sys.exit", "os._exit", "breakpoint")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, at any depth, by its full name."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{_name(path)}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def below(module: str, *parents: str) -> bool:
    return any(module == parent or module.startswith(f"{parent}.") for parent in parents)


@pytest.mark.parametrize("path", LIBRARY, ids=_name)
def test_the_library_does_not_know_the_command_line(path: Path) -> None:
    assert not [m for m in imports(path) if below(m, "interop.cli", "cli", "typer", "rich")]


@pytest.mark.parametrize("path", LIBRARY, ids=_name)
def test_the_library_neither_prints_nor_exits_nor_swallows(path: Path) -> None:
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in LEAVING:
            found.append(f"line {node.lineno}: {ast.unparse(node.func)}")
        elif isinstance(node, ast.ExceptHandler) and not _raises_again(node):
            caught = "everything" if node.type is None else ast.unparse(node.type)
            if caught in ("everything", "Exception", "BaseException"):
                found.append(f"line {node.lineno}: except {caught}")
    assert not found


def _raises_again(handler: ast.ExceptHandler) -> bool:
    """Whatever went wrong may be caught to clean up, if it goes on from there."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


@pytest.mark.parametrize("path", ADAPTERS, ids=_name)
def test_an_adapter_imports_only_the_contract(path: Path) -> None:
    parts = path.relative_to(ROOT / "adapters").parts
    own = "interop.adapters." + parts[0].removesuffix(".py")
    ours = [m for m in imports(path) if below(m, "interop", "adapters")]
    assert not [m for m in ours if not below(m, *MAY, own)]
    if _name(path) not in HOSTS:
        assert not [m for m in imports(path) if below(m, *IMPURE)]


@pytest.mark.parametrize("path", CORE, ids=_name)
def test_the_core_knows_no_format(path: Path) -> None:
    names = {n for name in registry.names() for n in (name, name.replace("-", "_"))}
    assert not [m for m in imports(path) if below(m, *(f"interop.adapters.{n}" for n in names))]
    # Docstrings and comments may take a format as an example; code may not depend on one.
    code = ast.unparse(_Undocumented().visit(ast.parse(path.read_bytes())))
    assert not [n for n in names if re.search(rf"\b{n}\b", code)]


class _Undocumented(ast.NodeTransformer):
    """A module without its docstrings; comments are gone from the tree already."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        return ast.Expr(ast.Constant(...)) if isinstance(node.value, ast.Constant) else node


def test_there_is_one_import_root() -> None:
    bare = [
        f"{_name(p)}: {m}"
        for p in sorted([*LIBRARY, *(ROOT / "cli").glob("*.py"), *(ROOT / "tests").glob("*.py")])
        for m in imports(p)
        if below(m, "adapters", "cli")
    ]
    assert not bare


# --- what is installed


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist of the checkout, and the wheel that is built from that sdist."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def sources() -> set[str]:
    """Every Python module of the checkout, by the path it is installed at."""
    inside = {_name(p) for p in CORE}
    for folder in ("adapters", "cli"):
        inside |= {f"interop/{_name(p)}" for p in (ROOT / folder).rglob("*.py")}
    return inside


def test_the_sdist_holds_the_three_folders(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        names = {name.split("/", 1)[1] for name in sdist.getnames() if "/" in name}
    inside = {re.sub("^interop/(?=adapters/|cli/)", "", name) for name in sources()}
    assert {"pyproject.toml", "README.md", "LICENSE", "interop/py.typed", *inside} <= names


def test_the_wheel_has_one_import_root_and_every_module(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
    roots = {name.split("/")[0] for name in names}
    assert roots == {"interop", "memory_interop-0.1.0.dist-info"}
    assert {n for n in names if n.endswith(".py")} == sources()
    assert {"interop/py.typed", "memory_interop-0.1.0.dist-info/licenses/LICENSE"} <= names
    assert not [n for n in names if "__pycache__" in n or n.endswith(".pyc")]


def test_the_installed_wheel_runs(built: Path, tmp_path: Path) -> None:
    wheel = next(built.glob("*.whl"))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", "--no-deps", "--target", tmp_path, wheel], check=True)
    # The target stands before the checkout's own editable install on the path.
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    where = "import interop, interop.cli.main as m; print(interop.__file__, m.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", where], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.stdout.count(str(tmp_path)) == 2, done
    listed = subprocess.run(
        [sys.executable, "-m", "interop.cli.main", "formats"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert listed.returncode == 0, listed.stderr
    assert all(name in listed.stdout for name in registry.names())
