"""A worker runs programs of every kind, and says what happened whatever they do."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path

import pytest
from fullgraph_compiler import facts as f
from worker_client import Forks, Result, run_worker

pytestmark = pytest.mark.xdist_group("worker")

BREAKS = """
    import os, signal, sys, threading
    import torch

    @torch.compile
    def f(x):
        print("woo")
        return x + 1

    f(torch.ones(3))
"""


def script(tmp_path: Path, text: str, name: str = "program.py") -> f.Script:
    path = tmp_path / name
    path.write_text(textwrap.dedent(text))
    return f.Script(str(path))


def breaks_then(forks: Forks, tmp_path: Path, text: str) -> Result:
    """Run a program that has one graph break, and then does ``text``."""
    return forks.run(script(tmp_path, BREAKS + textwrap.indent(textwrap.dedent(text), "    ")))


def assert_break_was_told(result: Result) -> None:
    assert [fact.code for fact in result.of(f.GraphBreak)] == ["GB0059"]


def test_script_runs_as_main_with_arguments(tmp_path: Path) -> None:
    program = script(
        tmp_path,
        """
        import sys, pathlib, torch
        assert __name__ == "__main__" and sys.modules["__main__"].__file__ == __file__
        assert sys.path[0] == str(pathlib.Path(__file__).parent), sys.path
        assert not any("fullgraph" in entry and "worker" in entry for entry in sys.path)
        print(sys.argv[1:], pathlib.Path.cwd().name)
        """,
    )
    result = run_worker(f.Script(program.filename, ("--size", "3")), tmp_path)
    assert f"['--size', '3'] {tmp_path.name}" in result.output
    assert result.of(f.ProgramRaised) == []
    assert [(x.status, x.exit_code) for x in result.of(f.RunFinished)] == [("finished", 0)]
    assert result.exit_code == 0


@pytest.mark.parametrize(("low_priority", "more"), [(False, 0), (True, 19)])
def test_a_run_that_nobody_waits_for_leaves_the_processor_to_others(
    tmp_path: Path, low_priority: bool, more: int
) -> None:
    program = script(tmp_path, "import os; print('nice', os.nice(0))")
    result = run_worker(program, tmp_path, low_priority=low_priority)
    assert f"nice {min(os.nice(0) + more, 19)}\n" in result.output


def test_break_has_place_with_columns_and_the_calls_that_led_there(forks: Forks, tmp_path: Path) -> None:
    result = forks.run(script(tmp_path, BREAKS))
    (found,) = result.of(f.GraphBreak)
    assert [(frame.row, frame.function) for frame in found.stack] == [(10, "<module>"), (7, "f")]
    if sys.version_info >= (3, 11):
        assert (found.stack[-1].column, found.stack[-1].end_column) == (4, 16)
    assert found.url.endswith("gb0059.html")
    assert any("print" in hint for hint in found.hints)
    assert not found.skips_frame


@pytest.mark.parametrize(
    "text",
    [
        """
        @torch.compile
        def g(x):
            for _ in range(2):
                torch._dynamo.graph_break()
            return x
        g(torch.ones(3))
        """,
        """
        @torch.compile
        def g(x):
            try:
                torch._dynamo.graph_break()
            except ValueError:
                pass
            return x
        g(torch.ones(3))
        """,
    ],
    ids=["for", "try"],
)
def test_break_that_skips_its_frame(forks: Forks, tmp_path: Path, text: str) -> None:
    result = forks.run(script(tmp_path, "import torch\n" + textwrap.dedent(text)))
    (found,) = result.of(f.GraphBreak)
    assert found.code == "GB0025"
    assert found.skips_frame
    assert found.stack[-1].row == 6


def test_fullgraph_failure_is_a_failure_and_not_told_twice(forks: Forks, tmp_path: Path) -> None:
    result = forks.run(script(tmp_path, BREAKS.replace("@torch.compile", "@torch.compile(fullgraph=True)")))
    (found,) = result.of(f.CompileFailure)
    assert (found.phase, found.code, found.stack[-1].row) == ("capture", "GB0059", 7)
    assert result.of(f.GraphBreak) == []
    assert result.of(f.ProgramRaised) == []
    assert result.of(f.RunFinished)[0].status == "raised"


def test_backend_failure_is_put_on_the_line_of_the_node(forks: Forks, tmp_path: Path) -> None:
    result = forks.run(
        script(
            tmp_path,
            """
            import torch
            @torch.compile(backend="relu_compile_error_TESTING_ONLY")
            def g(x):
                y = x + 1
                return torch.relu(y)
            g(torch.ones(3))
            """,
        )
    )
    (found,) = result.of(f.CompileFailure)
    assert (found.phase, found.stack[-1].row) == ("backend", 6)
    assert "ReluCompileError" in found.message


def test_recompilation_names_the_guard(forks: Forks, tmp_path: Path) -> None:
    program = BREAKS.replace('print("woo")\n', "").replace(
        "f(torch.ones(3))", "f(torch.ones(3)); f(torch.ones(5))"
    )
    result = forks.run(script(tmp_path, program))
    (found,) = result.of(f.Recompile)
    (failure,) = found.failures
    assert (failure.source, failure.kind, failure.dimension, failure.expected, failure.actual) == (
        "L['x']", "TENSOR_MATCH", 0, "3", "5",
    )  # fmt: skip
    assert failure.stack[-1].row == 7
    guard = next(g for g in result.of(f.GuardInstalled) if g.source == "L['x']" and g.kind == "TENSOR_MATCH")
    assert guard.expected == "torch.float32, shape [3], device cpu, requires_grad=False, stride [1]"


def test_pooling_compiles_and_its_sizes_are_numbers(tmp_path: Path) -> None:
    program = script(
        tmp_path,
        """
        import torch
        from torch.nn import functional as F

        def f(x):
            return F.adaptive_avg_pool2d(F.max_pool2d(x, 2), 2)

        compiled = torch.compile(f)
        for size in (4, 8, 12):
            compiled(torch.ones(1, 2, size, size))
        """,
    )
    result = run_worker(program, tmp_path)
    assert result.of(f.CompileFailure) == []
    assert len(result.of(f.Recompile)) == 2  # as with TorchInductor


@pytest.mark.parametrize("fullgraph", [False, True])
def test_recompile_limit(forks: Forks, tmp_path: Path, fullgraph: bool) -> None:
    result = forks.run(
        script(
            tmp_path,
            f"""
            import torch
            @torch.compile(fullgraph={fullgraph})
            def g(x, word):
                return x + len(word)
            for size in range(12):
                g(torch.ones(3), "a" * size)
            """,
        )
    )
    limits = result.of(f.RecompileLimit)
    assert (limits[0].function, limits[0].limit, limits[0].setting, limits[0].fatal) == (
        "g", 8, "recompile_limit", fullgraph,
    )  # fmt: skip
    assert len(limits[0].failures) == 8
    assert len(result.of(f.Recompile)) == 7
    assert result.of(f.ProgramRaised) == []


def test_program_that_raises(forks: Forks, tmp_path: Path) -> None:
    result = breaks_then(forks, tmp_path, "raise ValueError('mine')")
    assert_break_was_told(result)
    (found,) = result.of(f.ProgramRaised)
    assert (found.error, found.message, found.stack[-1].row) == ("ValueError", "mine", 11)
    assert "fullgraph_compiler" not in found.text


def test_program_that_exits(forks: Forks, tmp_path: Path) -> None:
    result = breaks_then(forks, tmp_path, "sys.exit(3)")
    assert_break_was_told(result)
    assert [(x.status, x.exit_code) for x in result.of(f.RunFinished)] == [("exited", 3)]
    assert result.of(f.ProgramRaised)[0].message == "the program ended with exit code 3"


def test_program_that_exits_well(forks: Forks, tmp_path: Path) -> None:
    result = breaks_then(forks, tmp_path, "sys.exit()")
    assert result.of(f.ProgramRaised) == []
    assert [(x.status, x.exit_code) for x in result.of(f.RunFinished)] == [("exited", 0)]


def test_syntax_error_does_not_start(forks: Forks, tmp_path: Path) -> None:
    result = forks.run(script(tmp_path, "import torch\ndef f(:\n    pass\n"))
    (problem,) = result.of(f.TargetProblem)
    assert "SyntaxError" in problem.message
    assert (problem.stack[-1].row, problem.stack[-1].column) == (2, 6)
    assert result.of(f.RunFinished)[0].status == "not-started"


def test_missing_file_does_not_start(forks: Forks, tmp_path: Path) -> None:
    result = forks.run(f.Script(str(tmp_path / "gone.py")))
    assert "cannot read" in result.of(f.TargetProblem)[0].message
    assert result.of(f.RunFinished)[0].status == "not-started"


def test_binary_output_does_not_reach_the_protocol(forks: Forks, tmp_path: Path) -> None:
    result = breaks_then(
        forks,
        tmp_path,
        r"""
        sys.stdout.buffer.write(bytes(range(256))); sys.stdout.flush()
        os.write(1, b"Content-Length: 5\r\n\r\nhello")
        os.system("echo from a child")
        """,
    )
    assert_break_was_told(result)
    assert "from a child" in result.output
    assert result.of(f.RunFinished)[0].status == "finished"


def test_closing_its_own_stdout(forks: Forks, tmp_path: Path) -> None:
    result = breaks_then(forks, tmp_path, "sys.stdout.close(); os.close(1)")
    assert_break_was_told(result)
    assert result.of(f.RunFinished)[0].status == "finished"
    assert result.exit_code == 0


def test_crash_leaves_the_facts_and_the_place(forks: Forks, tmp_path: Path) -> None:
    result = breaks_then(forks, tmp_path, "os.kill(os.getpid(), signal.SIGSEGV)")
    assert_break_was_told(result)
    assert result.exit_code == -11
    assert f'File "{tmp_path / "program.py"}", line 11' in result.crash_log


def test_os_exit_ends_without_a_last_fact(forks: Forks, tmp_path: Path) -> None:
    result = breaks_then(forks, tmp_path, "os._exit(5)")
    assert_break_was_told(result)
    assert (result.of(f.RunFinished), result.exit_code) == ([], 5)


def test_forked_child_is_not_heard(forks: Forks, tmp_path: Path) -> None:
    result = breaks_then(
        forks,
        tmp_path,
        """
        child = os.fork()
        f(torch.ones(3, 3))
        if child:
            os.waitpid(child, 0)
        """,
    )
    assert [x.status for x in result.of(f.RunFinished)] == ["finished"]
    assert len({(x.compile_id, x.code) for x in result.of(f.GraphBreak)}) == len(result.of(f.GraphBreak))


def test_threads_belong_to_the_run(forks: Forks, tmp_path: Path) -> None:
    result = breaks_then(forks, tmp_path, "threading.Thread(target=lambda: f(torch.ones(3, 3))).start()")
    (again,) = result.of(f.Recompile)
    assert again.failures[0].source == "L['x']"
    assert isinstance(result.facts[-1], f.RunFinished)


def test_a_pool_of_threads_ends_with_the_script(forks: Forks, tmp_path: Path) -> None:
    result = breaks_then(
        forks,
        tmp_path,
        """
        from concurrent.futures import ThreadPoolExecutor
        pool = ThreadPoolExecutor()
        pool.submit(f, torch.ones(3, 3))
        """,
    )
    assert result.of(f.Recompile)
    assert result.facts[-1].status == "finished"


@pytest.mark.parametrize("name", [pytest.param("logging.py", marks=pytest.mark.slow), "torch.py"])
def test_modules_that_hide_others_are_named_and_harmless(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("raise RuntimeError('the wrong module')\n")
    result = run_worker(script(tmp_path, BREAKS), tmp_path)
    assert_break_was_told(result)
    (problem,) = result.of(f.TargetProblem)
    assert problem.severity == "warning"
    assert name in problem.message
    assert problem.stack[-1].filename == str(tmp_path / name)


def test_interpreter_without_torch_says_what_to_do(tmp_path: Path) -> None:
    broken = tmp_path / "site"
    (broken / "torch").mkdir(parents=True)
    (broken / "torch" / "__init__.py").write_text(
        "raise ModuleNotFoundError('No module named torch', name='torch')\n"
    )
    result = run_worker(script(tmp_path, BREAKS), tmp_path, env={"PYTHONPATH": str(broken)})
    assert result.hello["error"]["message"].startswith("Install torch (pip install torch) or choose another")
    assert result.exit_code == 0


def test_users_caches_are_left_alone(tmp_path: Path) -> None:
    program = script(tmp_path, "import os, torch\nprint('cache', os.environ['TORCHINDUCTOR_CACHE_DIR'])\n")
    mine = str(tmp_path / "mine")
    result = run_worker(program, tmp_path, env={"TORCHINDUCTOR_CACHE_DIR": mine, "TRITON_CACHE_DIR": mine})
    assert "cache " in result.output
    assert mine not in result.output
    assert not os.path.exists(mine)


def test_user_code_that_sets_torch_logs_does_not_stop_the_trace(forks: Forks, tmp_path: Path) -> None:
    program = BREAKS.replace(
        "    f(torch.ones(3))", "    torch._logging.set_logs(dynamo=30)\n    f(torch.ones(3))"
    )
    assert_break_was_told(forks.run(script(tmp_path, program)))


@pytest.mark.parametrize("question", ["input()", "breakpoint()\npass"])
def test_a_program_that_asks_where_nobody_answers_is_told_who_would(tmp_path: Path, question: str) -> None:
    (raised,) = run_worker(script(tmp_path, question), tmp_path).of(f.ProgramRaised)
    assert raised.hints == (
        "This run has no standard input: `fullgraph check`, on the command line, passes on yours.",
    )
