"""Reading sources, and telling the user's own files from libraries."""

from __future__ import annotations

from pathlib import Path

import pytest
from counting import operations
from fullgraph_server.client.targets import target_place
from fullgraph_server.workspace.examples import FileExamples, find_examples, unknown_names
from fullgraph_server.workspace.ignores import ignore_comments
from fullgraph_server.workspace.notebooks.program import NotebookCell, NotebookError, program
from fullgraph_server.workspace.own_folder import kernel_cache, own_folder
from fullgraph_server.workspace.source import SourceFile, SourceReader, read_source
from fullgraph_server.workspace.targets import file_target, file_targets
from fullgraph_server.workspace.workspace import Workspace, project_root

pytestmark = pytest.mark.portable


def write(path: Path, text: str | bytes = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_file_is_read_in_the_encoding_that_it_declares(tmp_path: Path) -> None:
    path = write(tmp_path / "a.py", "# -*- coding: latin-1 -*-\nname = 'ü'\n".encode("latin-1"))
    found = read_source(str(path))
    assert found is not None
    assert found.line(2) == "name = 'ü'"
    assert found.tree is not None


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    path = write(tmp_path / "a.py", b"\xef\xbb\xbfx = 1\r\ny = 2\r\n")
    found = read_source(str(path))
    assert found is not None
    assert found.lines == ("x = 1", "y = 2", "")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"# coding: no-such-encoding\n", b"x = '\xff'\n"])
def test_what_is_no_python_text_is_no_source(tmp_path: Path, content: bytes) -> None:
    assert read_source(str(write(tmp_path / "a.py", content))) is None


def test_a_missing_file_a_folder_and_a_bad_name_are_no_source(tmp_path: Path) -> None:
    reader = SourceReader()
    assert [reader(name) for name in (str(tmp_path / "no.py"), str(tmp_path), "a\0b", "<string>")] == [
        None
    ] * 4


@pytest.mark.parametrize("text", ["def f(:\n", "x = '\0'\n", "(" * 500, "-" * 20000 + "1"])
def test_a_text_that_does_not_parse_has_no_tree(text: str) -> None:
    assert SourceFile("/w/a.py", text).tree is None


def test_a_form_feed_ends_no_line() -> None:
    assert SourceFile("/w/a.py", "a\x0cb\u2028c\nd").lines == ("a\x0cb\u2028c", "d")


def test_a_changed_file_is_read_again_and_an_unchanged_one_is_not(tmp_path: Path) -> None:
    path = write(tmp_path / "a.py", "x = 1\n")
    reader = SourceReader()
    first = reader(str(path))
    assert reader(str(path)) is first
    write(path, "x = 22\n")
    second = reader(str(path))
    assert second is not None
    assert second.line(1) == "x = 22"


def test_columns_and_offsets_are_inverse() -> None:
    file = SourceFile("/w/a.py", "é𝛼x = 1")
    assert [file.column(1, offset) for offset in (0, 2, 6, 7, 99)] == [1, 2, 3, 4, 8]
    assert [file.offset(1, column) for column in (1, 2, 3)] == [0, 2, 6]


def test_environments_and_libraries_are_not_the_users_own(tmp_path: Path) -> None:
    write(tmp_path / ".venv/pyvenv.cfg")
    write(tmp_path / "env/conda-meta/history")
    write(tmp_path / "third/torch/_dynamo/__init__.py")
    workspace = Workspace(tmp_path)
    own = ["train.py", "torch/helper.py", "src/lib/net.py", "tests/site/test_a.py", ".fullgraph/repros/a.py"]
    foreign = [
        ".venv/x.py",
        ".venv/bin/tool.py",
        "env/lib/foo.py",
        "vendor/site-packages/einops/einops.py",
        "usr/lib/python3/dist-packages/x.py",
        "python/lib/python3.11/contextlib.py",
        "node_modules/a/b.py",
        "third/torch/nn/modules/linear.py",
        ".fullgraph/cache/inductor/mp/cmpg6lw55.py",
        "../outside.py",
    ]
    assert [name for name in own if not workspace.contains(str(tmp_path / name))] == []
    assert [name for name in foreign if workspace.contains(str(tmp_path / name))] == []
    assert not workspace.contains("<eval_with_key>.1")
    assert not workspace.contains(f"{tmp_path}-other/a.py")


def test_a_file_reached_through_a_link_is_the_users_own(tmp_path: Path) -> None:
    real = write(tmp_path / "real/a.py").parent
    link = tmp_path / "link"
    link.symlink_to(real)
    assert Workspace(link).contains(str(real / "a.py"))
    assert Workspace(real).contains(str(link / "a.py"))


def test_the_project_is_the_nearest_marked_folder(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml")
    path = write(tmp_path / "pkg/deep/a.py")
    assert project_root(path) == tmp_path
    write(tmp_path / "pkg/setup.py")
    assert project_root(path) == tmp_path / "pkg"
    assert project_root(tmp_path / "pkg") == tmp_path / "pkg"


# -- the folder that Fullgraph keeps -----------------------------------------------------------


def test_the_own_folder_is_made_and_ignored(tmp_path: Path) -> None:
    assert own_folder(tmp_path, "repros") == tmp_path / ".fullgraph" / "repros"
    assert own_folder(tmp_path, "repros").is_dir()
    assert (tmp_path / ".fullgraph" / ".gitignore").read_text() == "*\n"
    (tmp_path / "link").symlink_to(tmp_path)
    assert kernel_cache(tmp_path / "link") == str(tmp_path / "link" / ".fullgraph" / "cache"), (
        "the root may be one"
    )


@pytest.mark.parametrize("name", [".fullgraph", ".fullgraph/cache", ".fullgraph/.gitignore"])
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_in_the_own_folder_is_not_followed(tmp_path: Path, name: str, exists: bool) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    link = root / name
    link.parent.mkdir(parents=True)
    if exists:
        elsewhere.mkdir()
    link.symlink_to(elsewhere)
    if name.endswith(".gitignore"):
        assert own_folder(root, "cache").is_dir()
    else:
        assert kernel_cache(root) == ""
        with pytest.raises(OSError, match="is a symbolic link, which is not followed"):
            own_folder(root, "cache")
    assert (sorted(elsewhere.iterdir()) if exists else elsewhere.exists()) == ([] if exists else False)


def test_a_document_of_9_mb_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(*_: object) -> None:
        raise AssertionError("the text is parsed")

    unit = "# fullgraph: f(1)\ndef f(x):\n    return x  # fullgraph: ignore\n"
    source = SourceFile("/w/a.py", unit * 150_000)
    monkeypatch.setattr("ast.parse", parse)
    monkeypatch.setattr("tokenize.generate_tokens", parse)
    assert source.tree is None
    assert find_examples(source) == FileExamples()
    assert (ignore_comments(source), unknown_names(source)) == ((), ())
    assert file_targets(source, Path("/w")) == ()
    assert file_target(source, Path("/w")).kind == "script"  # it can still be run
    with pytest.raises(NotebookError, match="its code is longer than 1,000,000 characters"):
        program([NotebookCell("python", source.text)])


@pytest.mark.parametrize(
    "text",
    [
        "# fullgraph: f{0}(g)\ndef f{0}(x): ...\n",
        "def test_{0}(): ...\n",
        'def f{0}():\n    """\n    >>> f{0}()\n    """\n',
    ],
    ids=["example calls", "tests", "docstrings"],
)
def test_twice_the_definitions_take_twice_the_work(text: str) -> None:
    def work(count: int) -> int:
        def read() -> None:
            source = SourceFile("/w/test_a.py", "".join(text.format(index) for index in range(count)))
            targets = file_targets(source, Path("/w"))
            assert len(targets) == count
            assert all(target_place(target, source) for target in targets)
            unknown_names(source)

        return operations(read)

    work(1)
    assert work(400) < 2.2 * work(200)
