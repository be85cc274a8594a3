"""Every setting: of an editor, of ``[tool.fullgraph]`` in pyproject.toml, and of its targets.

After a change here, ``python scripts/settings.py`` writes them into package.json, package.nls.json and
docs/configuration.md; a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping

from fullgraph_compiler.facts import DEVICES

from .setting_types import (
    FLAG,
    FOLDERS,
    INTERPRETER,
    ITEMS,
    PATTERN,
    STRING_TABLE,
    STRINGS,
    TEXT,
    WHOLE,
    Option,
    Setting,
    choice,
    number,
    one_of,
)

_FILES = (
    Option("keep", "They stay as the program leaves them. A dry run discards them all the same."),
    Option("discard", "They are gone after the run, and every file is as it was before."),
)
_FILES_DESCRIPTION = "What becomes of the files that a program writes, changes and removes while it runs."
_FILES_UNSET = (
    "a run that you ask for keeps them, and one that starts by itself (on save, while typing) discards them"
)

EDITOR = (
    Setting(
        "interpreter",
        INTERPRETER,
        "The Python that runs your programs. It needs torch. A path, where `~` and `${workspaceFolder}` are "
        "allowed, or the folder of an environment.",
        "`python` of `[tool.fullgraph]` in pyproject.toml, the interpreter that is selected in the Python "
        "extension, the active environment, `.venv`, `venv` or `.conda` of the project, the server's own "
        "Python if it has torch, or `python3`",
        default="",
        scope="machine-overridable",
    ),
    Setting(
        "activeInterpreter",
        INTERPRETER,
        "The Python that is active in the editor. The client sends it with the settings.",
    ),
    Setting(
        "runOn",
        choice(
            Option("manual", "Never: only on command."),
            Option("save", "When a file that it imported is saved, if that parses."),
            Option(
                "type",
                "When a file that it imported is saved, and while you type in one: it runs the unsaved text "
                "as soon as that parses.",
            ),
            quoted=False,
        ),
        "When a target that has run once runs again automatically: the one that you ran last, and those "
        "whose results show in an open file. You are asked before one that took more than 20 seconds does. "
        "**Turn Off Run on Save** in the targets view excludes a single target.",
        default="save",
        scope="resource",
    ),
    Setting(
        "runInductor",
        choice(
            Option("manual", "Only on command: the lens **Run TorchInductor**, **Open Generated Kernels**."),
            Option(
                "idle",
                "Also by itself, after a run that has come to its end, once no other run is on: at low "
                "priority, without changing files, and only until something else is to run.",
            ),
            quoted=False,
        ),
        "When TorchInductor runs, which ordinary runs leave out: then what it cannot compile shows as an "
        "error on its line.",
        default="manual",
        scope="resource",
    ),
    Setting(
        "files",
        choice(*_FILES, quoted=False),
        _FILES_DESCRIPTION,
        f"`files` of the target or of `[tool.fullgraph]` in pyproject.toml; else {_FILES_UNSET}",
        scope="resource",
    ),
    Setting(
        "tryFixes",
        choice(
            Option("asked", "By the quick fix **Try fixes**."),
            Option(
                "short",
                "After a run that took up to five seconds, too: the program runs several times again, and "
                "its file changes are discarded. Not if it connected to a server or started another program.",
            ),
            quoted=False,
        ),
        "When fixes for graph breaks and recompilations are tried, and what may help against errors: each is "
        "offered with what running the program with it has shown.",
        default="short",
        scope="resource",
    ),
    Setting(
        "timeout",
        number("seconds"),
        "The time limit of a run, in seconds.",
        "`timeout` of the target or of `[tool.fullgraph]` in pyproject.toml, else 60",
        scope="resource",
    ),
    Setting(
        "memory",
        number("GiB"),
        "The memory limit of a run with the processes that it starts, in GiB. On Linux only.",
        "`memory` of `[tool.fullgraph]` in pyproject.toml, else three quarters of the machine's",
        scope="resource",
    ),
    Setting(
        "graphMarks",
        FLAG,
        "Whether the gutter shows which graph each line belongs to: a bar in the colour of its graph, and a "
        "dotted grey one for lines that ran eagerly. A line without a bar adds nothing to a graph.",
        default=True,
        scope="window",
        client_only=True,
    ),
    Setting(
        "tracePaths",
        FOLDERS,
        "Folders of other machines that traces name, and what each is in this workspace: a path in the "
        "folder, or an absolute one. **Map a Remote Folder…** writes it for files that are not found. These "
        "folders come before `[tool.fullgraph.paths]` in pyproject.toml.",
        "files are found by their names and lines",
        default={},
        scope="resource",
    ),
    Setting(
        "previewPython",
        INTERPRETER,
        "A second Python, for **Preview Kernels for…** where the torch of your programs is a CPU build: one "
        "whose torch is a CUDA build, with Triton. No GPU is needed. A path, where `~` and "
        "`${workspaceFolder}` are allowed, or the folder of an environment.",
        "`preview-python` of `[tool.fullgraph]` in pyproject.toml, if it is there",
        default="",
        scope="machine-overridable",
    ),
)
"""The section ``fullgraph`` of an editor's configuration."""

PROJECT = (
    Setting("targets", ITEMS, "What runs under a name: tables as below.", "none"),
    Setting(
        "python",
        TEXT,
        "The Python that runs the programs. It needs torch. A path, from the project's folder on, or the "
        "folder of an environment.",
        "the interpreter that is selected in the editor, the active environment, `.venv`, `venv` or "
        "`.conda` of the project, the Python of Fullgraph itself if it has torch, or `python3`",
    ),
    Setting(
        "preview-python",
        TEXT,
        "A second Python, for kernels for a GPU that is not there where the torch of `python` is a CPU "
        "build: one whose torch is a CUDA build, with Triton.",
        "`python`",
    ),
    Setting(
        "timeout",
        number("seconds"),
        "The time limit of a run, in seconds.",
        "60 in an editor, no limit on the command line",
    ),
    Setting(
        "memory",
        number("GiB"),
        "The memory limit of a run with the processes that it starts, in GiB. On Linux only.",
        "three quarters of the machine's",
    ),
    Setting(
        "baseline",
        TEXT,
        "The file of known findings, a [baseline](ci.md#baselines): `check` and `trace` take it without "
        "`--baseline`, and editors do not show what is in it. A path, from the project's folder on.",
        "none",
    ),
    Setting(
        "paths",
        STRING_TABLE,
        "Folders of other machines that [traces](traces.md#which-file-is-it) name, and what each is here.",
        "files are found by their names and lines",
    ),
)
"""``[tool.fullgraph]``, which also has the :data:`SWITCHES` of all targets."""

PROGRAMS: Mapping[str, str] = {
    "script": "The path of a script, which runs as with `python`.",
    "module": "A module, which runs in `cwd` as with `python -m`: `package.module`.",
    "console-script": "A command that a package installs, as it runs in a terminal: `my-train`.",
    "pytest": "A test: `tests/test_model.py::test_forward`.",
    "example": "A function or class with example calls: `model.py::Block`.",
    "torchrun": "The path of a script that runs in several processes, as with `torchrun`.",
}
"""What a target runs, by the key that says so: a target has exactly one of them."""

TARGET = (
    Setting("name", TEXT, "The name of the target.", "the program"),
    *(Setting(key, TEXT, description) for key, description in PROGRAMS.items()),
    Setting(
        "args",
        STRINGS,
        "The arguments of a program that is no `pytest` or `example`.",
        "none",
    ),
    Setting("ranks", WHOLE, "How many processes a `torchrun` target has.", default=2),
    Setting("cwd", TEXT, "The folder in which the program runs.", "the project's"),
    Setting("env", STRING_TABLE, "Variables that are added to the program's environment.", "none"),
    Setting(
        "timeout",
        number("seconds"),
        "The time limit of a run, in seconds.",
        "`timeout` of `[tool.fullgraph]`",
    ),
)
"""One of ``[[tool.fullgraph.targets]]``, which also has its own :data:`SWITCHES`."""

SWITCHES = (
    Setting(
        "dynamic",
        choice(
            Option(True, "Sizes are dynamic from the first call.", "on"),
            Option(False, "Sizes are never dynamic, but for those that the program marks.", "off"),
            Option("automatic", "Sizes are dynamic once they have changed, as torch does by default."),
        ),
        "Whether sizes are dynamic.",
        "as the program says",
    ),
    Setting("recompile-limit", WHOLE, "How often a function may be compiled.", "as the program says"),
    Setting(
        "only",
        PATTERN,
        "A regular expression for whole names (`forward`, `Block\\.forward`). Other functions run eagerly, "
        "but not what they call.",
        "all functions are compiled",
    ),
    Setting("cold-caches", FLAG, "Whether no kernel of an earlier run is used.", default=False),
    Setting(
        "cpp-stacks",
        FLAG,
        "Whether a condition on a size names the C++ calls that added it, too. This is slow.",
        default=False,
    ),
    Setting(
        "warm-up",
        WHOLE,
        "How many calls of each compiled function may compile, for `fullgraph frozen`.",
        default=1,
    ),
    Setting(
        "dry-run",
        FLAG,
        "Whether tensors have sizes and types and no data, so that a model of any size runs on a laptop. "
        "For `check`, `recompiles`, `frozen` and `kernels`. Checkpoints (`torch.load`, safetensors) give "
        'their sizes and types only. Files are as with `files = "discard"`. A number that is only logged '
        '(`f"{loss.item():.3f}"`) reads `?`; where the program needs a value, the run ends, and says so.',
        default=False,
    ),
    Setting(
        "device",
        one_of(DEVICES),
        "Makes the run a dry one, as if this GPU were there. For `check`, and for `kernels`, which writes "
        "Triton kernels for it and compiles them to PTX or AMDGCN. None is launched; what only the GPU "
        "itself could tell is named.",
        "none",
    ),
    Setting(
        "files",
        choice(*_FILES),
        f"{_FILES_DESCRIPTION} [What is promised](files.md). On the command line: `--keep-files` and "
        "`--discard-files`.",
        _FILES_UNSET,
    ),
)
"""What a run does otherwise than its program says: for all targets, or for one."""
