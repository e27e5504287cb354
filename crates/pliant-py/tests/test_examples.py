"""The programs in examples/python, and those in the guide, run as they are written."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pliant

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))
GUIDE = ROOT / "docs" / "python.md"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)

# Expected output and files of each program.
EXPECTED = {
    "pull_a_beam": (r"neo-Hookean: 152\.\d N at 100 mm", ["pull_a_beam.png"]),
    "fit_stiffness": (r"found +1\.19\d\d MPa, -0\.\d\d %", ["fit_stiffness.png"]),
    "control_loop": (r"PI controller: error of the tip 1\.\d\d mm", ["control_loop.png", "control_loop/00.png"]),
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_and_draws_what_it_says(path: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(path), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    printed, files = EXPECTED[path.stem]
    assert re.search(printed, done.stdout), done.stdout
    for name in files:
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_the_control_loop_can_be_drawn_by_pyvista(tmp_path: Path) -> None:
    path = ROOT / "examples" / "python" / "control_loop.py"
    command = [sys.executable, str(path), "--out", str(tmp_path), "--pyvista", "--gif"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "control_loop.gif").read_bytes().startswith(b"GIF89a")
    assert (tmp_path / "control_loop" / "00.png").stat().st_size > 2000


def test_examples_pass_mypy_strictly() -> None:
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), *map(str, EXAMPLES)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "examples")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_guide_prints_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks continue from one another; the block of text after each is its output."""
    text = GUIDE.read_text()
    namespace: dict[str, object] = {"__name__": "__main__"}
    monkeypatch.chdir(tmp_path)
    blocks = list(BLOCK.finditer(text))
    assert len(blocks) >= 15
    for block in blocks:
        line = text.count("\n", 0, block.start()) + 2
        printed = io.StringIO()
        code = compile("\n" * (line - 1) + block[1], str(GUIDE), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        assert printed.getvalue() == (block[2] or ""), f"{os.path.relpath(GUIDE, ROOT)}:{line}"


def test_the_program_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (program,) = (block[1] for block in BLOCK.finditer((ROOT / "README.md").read_text()) if "pliant.Mesh" in block[1])
    namespace: dict[str, object] = {}
    exec(compile(program, "README.md", "exec"), namespace)
    assert isinstance(namespace["sim"], pliant.Simulation) and namespace["sim"].step_count == 500
