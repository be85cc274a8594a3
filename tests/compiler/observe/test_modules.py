"""A run tells which files its program imported, which libraries, and which variables it set."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest
from forked import observe
from fullgraph_compiler import facts as f
from fullgraph_compiler.observe.modules import own_modules
from worker_client import run_worker


def saved(path: Path, text: str = "") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return str(path)


def script(tmp_path: Path, text: str) -> f.Script:
    return f.Script(saved(tmp_path / "program.py", text))


def run(program: f.Program, tmp_path: Path) -> tuple[f.Fact, ...]:
    """The facts of a program that must not raise."""
    facts = observe(program, tmp_path)
    assert [fact for fact in facts if isinstance(fact, f.ProgramRaised)] == []
    return facts


def files(facts: tuple[f.Fact, ...]) -> list[str]:
    return [name for fact in facts if isinstance(fact, f.ModulesLoaded) for name in fact.filenames]


def libraries(facts: tuple[f.Fact, ...]) -> list[str]:
    return [name for fact in facts if isinstance(fact, f.ModulesLoaded) for name in fact.libraries]


def variables(facts: tuple[f.Fact, ...]) -> tuple[str, ...]:
    return [fact for fact in facts if isinstance(fact, f.ModulesLoaded)][-1].variables


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of installed packages, with one package in it."""
    folder = tmp_path / "env" / "site-packages"
    saved(folder / "lib" / "__init__.py", "from . import part\n")
    saved(
        folder / "lib" / "part.py",
        "import os, sys\nsys.modules['lib.alias'] = sys.modules[__name__]\nos.environ['OF_LIB'] = '1'\n",
    )
    return folder


def test_own_files_and_libraries_and_not_the_standard_library(tmp_path: Path, site: Path) -> None:
    package = [saved(tmp_path / "pkg" / name) for name in ("__init__.py", "first.py", "second.py")]
    saved(tmp_path / "pkg" / "unused.py")
    program = script(
        tmp_path,
        f"""
        import sys, colorsys
        sys.path.append({str(site)!r})
        import pkg.first, pkg.second, lib
        sys.modules["alias"] = colorsys
        """,
    )
    facts = run(program, tmp_path)
    assert files(facts) == [program.filename, *package]
    # torch has some of its own, which differ.
    assert [name for name in libraries(facts) if name.partition(".")[0] == "lib"] == ["lib.part", "lib"]
    assert "colorsys" not in libraries(facts)
    assert variables(facts) == ()


def test_imports_are_told_before_the_facts_that_need_them(tmp_path: Path) -> None:
    early, late = saved(tmp_path / "early.py"), saved(tmp_path / "late.py")
    program = script(
        tmp_path,
        """
        import torch
        import early
        torch.compile(lambda x: x + 1)(torch.ones(3))
        import late
        """,
    )
    facts = run(program, tmp_path)
    compiled = next(at for at, fact in enumerate(facts) if isinstance(fact, f.FrameStarted))
    assert files(facts[:compiled]) == [program.filename, early]
    assert files(facts[compiled:]) == [late]
    assert isinstance(facts[-1], f.RunFinished)


def test_imports_of_a_program_that_raises(tmp_path: Path) -> None:
    helper = saved(tmp_path / "helper.py")
    program = script(tmp_path, "import helper\nraise ValueError\n")
    facts = observe(program, tmp_path)
    assert files(facts) == [program.filename, helper]
    assert [type(fact) for fact in facts[-2:]] == [f.ProgramRaised, f.RunFinished]


def test_file_that_does_not_compile_is_told_all_the_same(tmp_path: Path) -> None:
    program = script(tmp_path, "def (\n")
    assert files(observe(program, tmp_path)) == [program.filename]
    assert files(observe(f.Examples(program.filename, ()), tmp_path)) == [program.filename]


def test_file_that_is_not_there_is_not_told(tmp_path: Path) -> None:
    assert files(observe(f.Script(str(tmp_path / "gone.py")), tmp_path)) == []


def test_imports_of_a_test(tmp_path: Path) -> None:
    conftest, helper = saved(tmp_path / "conftest.py"), saved(tmp_path / "helper.py")
    test = saved(tmp_path / "test_it.py", "import helper\n\ndef test_it():\n    pass\n")
    result = run_worker(f.PytestNode("test_it.py::test_it"), tmp_path)
    assert sorted(files(result.facts)) == [conftest, helper, test]
    assert "pytest" in libraries(result.facts)


def test_lazy_and_odd_modules_are_left_as_they_are(tmp_path: Path) -> None:
    lazy = saved(tmp_path / "lazy.py", "raise AssertionError('nobody asked for it')\n")
    program = script(
        tmp_path,
        """
        import importlib.util, sys, types

        class Touchy:
            def __getattr__(self, name):
                raise AssertionError(name)

        class Empty:
            __class__ = types.ModuleType
            __slots__ = ()

        class TouchyModule(types.ModuleType):
            def __getattribute__(self, name):
                raise AssertionError(name)

        spec = importlib.util.find_spec("lazy")
        spec.loader = importlib.util.LazyLoader(spec.loader)
        module = sys.modules["lazy"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules.update(nothing=None, touchy=Touchy(), module=TouchyModule("module"), empty=Empty())
        """,
    )
    assert files(run(program, tmp_path)) == [program.filename, lazy]


def test_variables_that_own_files_set(tmp_path: Path, site: Path) -> None:
    saved(tmp_path / "helper.py", "import os\nos.environ['OF_HELPER'] = '1'\n")
    program = script(
        tmp_path,
        f"""
        import os, sys
        sys.path.append({str(site)!r})
        import lib, helper
        os.environ["ITEM"] = "1"
        os.environ.update(UPDATED="1")
        os.environ.setdefault("DEFAULT", "1")
        os.environ.pop("ITEM")
        os.environb[b"BYTES"] = b"1"
        exec("os.environ['EXECUTED'] = '1'")
        del os.environ["UPDATED"]
        assert os.environ["OF_LIB"] == "1"
        """,
    )
    names = ("OF_HELPER", "ITEM", "UPDATED", "DEFAULT", "BYTES", "EXECUTED")
    assert variables(run(program, tmp_path)) == names


def test_watching_variables_changes_no_graph_break(tmp_path: Path) -> None:
    program = script(
        tmp_path,
        """
        import os
        import torch

        @torch.compile
        def f(x):
            y = x + 1
            os.environ["WITHIN"] = "1"
            import helper
            return y * 2

        f(torch.ones(3))
        """,
    )
    helper = saved(tmp_path / "helper.py")
    facts = run(program, tmp_path)
    (found,) = (fact for fact in facts if isinstance(fact, f.GraphBreak))
    assert "posix.putenv" in found.explanation
    started = [fact.function for fact in facts if isinstance(fact, f.FrameStarted)]
    assert started == ["f", "f"]
    assert (files(facts)[-1], variables(facts)) == (helper, ("WITHIN",))


def test_code_that_torch_generated_is_not_the_programs_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("torch._inductor.runtime.compile_tasks.c5", "own_c5"):
        module = ModuleType(name)
        module.__file__ = str(tmp_path / f"{name}.py")
        monkeypatch.setitem(sys.modules, name, module)
    found = [name for name in own_modules() if name.startswith(str(tmp_path))]
    assert found == [str(tmp_path / "own_c5.py")]
