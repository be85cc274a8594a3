"""A run sees the texts of an editor in place of the files that they will be saved to."""

from __future__ import annotations

import py_compile
import textwrap
from pathlib import Path

import pytest
from forked import observe
from fullgraph_compiler import facts as f
from fullgraph_compiler.observe import overlay
from worker_client import run_worker

ON_DISK = "raise AssertionError('this is the file on disk')\n"


def saved(path: Path, text: str = ON_DISK) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return str(path)


def unsaved(filename: str, text: str) -> f.SourceText:
    return f.SourceText(filename, textwrap.dedent(text))


def assert_finishes(program: f.Program, folder: Path, *texts: f.SourceText) -> None:
    """The program ends well: its own assertions are the test."""
    facts = observe(program, folder, texts)
    assert [fact for fact in facts if isinstance(fact, (f.ProgramRaised, f.TargetProblem))] == []


def test_script_runs_as_the_editor_has_it(tmp_path: Path) -> None:
    path = saved(tmp_path / "program.py")
    text = """\
        import torch

        @torch.compile
        def f(x):
            print("woo")
            return x + 1

        f(torch.ones(3))
        """
    facts = observe(f.Script(path), tmp_path, (unsaved(path, text),))
    (found,) = (fact for fact in facts if isinstance(fact, f.GraphBreak))
    assert (found.code, found.stack[-1].filename, found.stack[-1].row) == ("GB0059", path, 5)
    assert 'print("woo")' in found.text


def test_import_sees_the_text_and_leaves_the_bytecode_of_the_file_alone(tmp_path: Path) -> None:
    compiled, fresh = saved(tmp_path / "compiled.py"), saved(tmp_path / "fresh.py")
    saved(tmp_path / "other.py", "value = 3\n")
    cached = Path(py_compile.compile(compiled))
    before = cached.read_bytes()
    program = saved(
        tmp_path / "program.py",
        """
        import sys
        sys.dont_write_bytecode = False
        import compiled, fresh, other
        assert (compiled.value, fresh.value, other.value) == (1, 2, 3)
        """,
    )
    assert_finishes(
        f.Script(program), tmp_path, unsaved(compiled, "value = 1\n"), unsaved(fresh, "value = 2\n")
    )
    assert cached.read_bytes() == before
    assert {path.name.partition(".")[0] for path in cached.parent.iterdir()} == {"compiled", "other"}


def test_source_and_tracebacks_are_of_the_text(tmp_path: Path) -> None:
    helper = saved(tmp_path / "helper.py", "\n\n" + ON_DISK)
    program = saved(
        tmp_path / "program.py",
        """
        import inspect, linecache, traceback
        import helper
        for _ in range(2):
            assert inspect.getsource(helper.fail) == "def fail():\\n    raise ValueError(1)\\n"
            linecache.checkcache()
        try:
            helper.fail()
        except ValueError as error:
            assert traceback.extract_tb(error.__traceback__)[-1].line == "raise ValueError(1)"
        linecache.clearcache()
        assert linecache.getline(helper.__file__, 1) == "def fail():\\n"
        """,
    )
    text = unsaved(helper, "def fail():\r\n    raise ValueError(1)")
    assert_finishes(f.Script(program), tmp_path, text)


def test_text_that_does_not_compile_is_told_at_its_place(tmp_path: Path) -> None:
    path = saved(tmp_path / "program.py")
    facts = observe(f.Script(path), tmp_path, (unsaved(path, "x = 1\ndef (\n"),))
    (problem,) = (fact for fact in facts if isinstance(fact, f.TargetProblem))
    assert (problem.message, problem.stack[-1].row) == ("SyntaxError: invalid syntax", 2)


@pytest.mark.parametrize("through_link", ["text", "program"])
def test_links_to_one_file_are_one(tmp_path: Path, through_link: str) -> None:
    real = saved(tmp_path / "real" / "helper.py")
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    folder = "real" if through_link == "text" else "link"
    named = str(tmp_path / "link" / "helper.py") if through_link == "text" else real
    program = saved(
        tmp_path / "program.py",
        f"""
        import inspect, sys
        sys.path.append({str(tmp_path / folder)!r})
        import helper
        assert helper.double(2) == 4
        assert "return x * 2" in inspect.getsource(helper.double)
        """,
    )
    assert_finishes(f.Script(program), tmp_path, unsaved(named, "def double(x):\n    return x * 2\n"))


@pytest.mark.parametrize(
    "text",
    [
        "# -*- coding: latin-1 -*-\nvalue = 'é'\n",
        "#!/usr/bin/python\n# vim: set fileencoding=iso8859-15 :\nvalue = '€é'[1]\n",
        "\ufeffvalue = 'é'\n",
        "\ufeff# coding: utf-8\nvalue = 'é'\n",
        "value = 'é'\r\nif True:\r\n    pass\r\n",
        "value = 'é'",
    ],
    ids=["latin-1", "iso8859-15", "mark", "mark and coding", "CRLF", "no last line feed"],
)
def test_python_reads_the_very_text(text: str) -> None:
    namespace: dict[str, object] = {}
    exec(compile(overlay.encode(text), "module.py", "exec"), namespace)
    assert namespace["value"] == "é"


@pytest.mark.parametrize(
    "text",
    [
        "# coding: latin-1\nvalue = '日本'\n",
        "# coding: nonsense\nvalue = 'é'\n",
        "# coding: rot13\nvalue = 'é'\n",
    ],
    ids=["letters that the encoding lacks", "no encoding", "no encoding of text"],
)
def test_text_that_cannot_be_encoded_as_it_says_is_saved_as_an_editor_would(text: str) -> None:
    assert overlay.encode(text) == text.encode()


def test_half_a_character_is_no_reason_to_fail() -> None:
    assert overlay.encode("x = '\ud800'\n") == b"x = '\xed\xa0\x80'\n"


def test_example_calls_are_of_the_text(tmp_path: Path) -> None:
    path = saved(tmp_path / "model.py")
    text = unsaved(path, "def f(x):\n    return x + 1\n")
    calls = f.Example("f", (f.ExampleCall("f(f32[2])", 1),))
    facts = observe(f.Examples(path, (calls,)), tmp_path, (text,))
    assert [fact.graphs for fact in facts if isinstance(fact, f.FrameCompiled)] == [1]


def test_pytest_sees_the_texts_of_tests_and_conftest(tmp_path: Path) -> None:
    conftest, test = saved(tmp_path / "conftest.py"), saved(tmp_path / "test_model.py")
    texts = (
        unsaved(conftest, "import pytest\n\n@pytest.fixture\ndef three():\n    return 3\n"),
        unsaved(test, "def test_three(three):\n    assert three == 4\n"),
    )
    result = run_worker(f.PytestNode(f"{test}::test_three"), tmp_path, texts=texts)
    (raised,) = result.of(f.ProgramRaised)
    assert (raised.error, raised.stack[-1].filename, raised.stack[-1].row) == ("AssertionError", test, 2)


def test_nothing_is_patched_without_texts(tmp_path: Path) -> None:
    program = saved(
        tmp_path / "program.py",
        """
        import linecache
        from importlib.machinery import SourceFileLoader
        assert "get_data" not in vars(SourceFileLoader)
        assert linecache.updatecache.__module__ == "linecache"
        """,
    )
    assert_finishes(f.Script(program), tmp_path)
