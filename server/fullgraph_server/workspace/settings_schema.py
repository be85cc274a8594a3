"""All settings: of editors, of ``[tool.fullgraph]`` in pyproject.toml, of targets.

Run ``python scripts/settings.py`` after a change here: it writes the settings into package.json,
package.nls.json and docs/configuration.md. A test checks that these files are up to date.
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
    ChoiceOption,
    Setting,
    choice,
    number,
    one_of,
)

_FILES = (
    ChoiceOption("keep", "File changes stay after the run. A dry run discards them anyway."),
    ChoiceOption("discard", "File changes are discarded after the run: every file is unchanged."),
)
_FILES_DESCRIPTION = "Whether Fullgraph keeps or discards the file changes that a program makes during a run."
_FILES_UNSET = (
    "runs that you start keep file changes, and automatic runs (on save, while typing) discard them"
)

EDITOR = (
    Setting(
        "interpreter",
        INTERPRETER,
        "The Python interpreter that runs your programs; it needs torch. Either a path (`~` and "
        "`${workspaceFolder}` are allowed) or the folder of an environment.",
        "`python` of `[tool.fullgraph]` in pyproject.toml, the interpreter selected in the Python "
        "extension, the active environment, `.venv`, `venv` or `.conda` of the project, the server's own "
        "Python if it has torch, or `python3`",
        default="",
        scope="machine-overridable",
    ),
    Setting(
        "activeInterpreter",
        INTERPRETER,
        "The Python interpreter that is active in the editor. The client sends it with the settings.",
    ),
    Setting(
        "runOn",
        choice(
            ChoiceOption("manual", "Never automatically: only when you start them."),
            ChoiceOption("save", "Rerun when an imported file is saved, unless it has a syntax error."),
            ChoiceOption(
                "type",
                "Rerun when an imported file is saved, and while you type in one: the unsaved text runs "
                "as soon as it has no syntax error.",
            ),
            quoted=False,
        ),
        "When targets run again automatically: the target that you ran last, and targets whose results show "
        "in an open file. Fullgraph asks before it repeats a run that took more than 20 seconds. **Turn Off "
        "Run on Save** in the targets view excludes a single target.",
        default="save",
        scope="resource",
    ),
    Setting(
        "runInductor",
        choice(
            ChoiceOption(
                "manual", "Only on command: the lens **Run TorchInductor** or **Open Generated Kernels**."
            ),
            ChoiceOption(
                "idle",
                "Also automatically, after a run has finished and while nothing else runs: at low priority, "
                "without changing files, and only until another run starts.",
            ),
            quoted=False,
        ),
        "When TorchInductor runs. Ordinary runs skip it. Code that it cannot compile gets an error on its "
        "line.",
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
            ChoiceOption("asked", "Only with the quick fix **Try fixes**."),
            ChoiceOption(
                "short",
                "Also after a run of up to five seconds: the program runs several more times, and its file "
                "changes are discarded. Not if it connected to a server or started another program.",
            ),
            quoted=False,
        ),
        "When Fullgraph tries fixes for graph breaks, recompilations and errors. It runs the program with "
        "each fix, and offers the fix with the result of that run.",
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
        "The memory limit of a run and the processes that it starts, in GiB. Linux only.",
        "`memory` of `[tool.fullgraph]` in pyproject.toml, else three quarters of the machine's memory",
        scope="resource",
    ),
    Setting(
        "graphMarks",
        FLAG,
        "Whether the gutter shows which graph each line belongs to: a bar in the colour of its graph, or a "
        "dotted grey bar for a line that ran eagerly. A line without a bar adds nothing to a graph.",
        default=True,
        scope="window",
        client_only=True,
    ),
    Setting(
        "tracePaths",
        FOLDERS,
        "Maps folders of the machine that wrote a trace to folders on this machine: paths relative to the "
        "workspace folder, or absolute paths. **Map a Remote Folder…** adds an entry for files that are not "
        "found. The entries take precedence over `[tool.fullgraph.paths]` in pyproject.toml.",
        "files are found by their names and lines",
        default={},
        scope="resource",
    ),
    Setting(
        "previewPython",
        INTERPRETER,
        "A second Python interpreter, for **Preview Kernels for…** if the torch of your programs is a CPU "
        "build. Its torch must be a CUDA build with Triton; no GPU is needed. Either a path (`~` and "
        "`${workspaceFolder}` are allowed) or the folder of an environment.",
        "`preview-python` of `[tool.fullgraph]` in pyproject.toml, if it is set",
        default="",
        scope="machine-overridable",
    ),
)
"""The settings in the section ``fullgraph`` of an editor's configuration."""

PROJECT = (
    Setting("targets", ITEMS, "Programs that run under a name: the tables described below.", "none"),
    Setting(
        "python",
        TEXT,
        "The Python interpreter that runs the programs; it needs torch. Either a path, relative to the "
        "project's folder, or the folder of an environment.",
        "the interpreter selected in the editor, the active environment, `.venv`, `venv` or "
        "`.conda` of the project, Fullgraph's own Python if it has torch, or `python3`",
    ),
    Setting(
        "preview-python",
        TEXT,
        "A second Python interpreter, for previews of GPU kernels if the torch of `python` is a CPU build. "
        "Its torch must be a CUDA build with Triton; no GPU is needed.",
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
        "The memory limit of a run and the processes that it starts, in GiB. Linux only.",
        "three quarters of the machine's memory",
    ),
    Setting(
        "baseline",
        TEXT,
        "The file of known findings, a [baseline](ci.md#baselines): `check` and `trace` use it without "
        "`--baseline`, and editors hide its findings. A path relative to the project's folder.",
        "none",
    ),
    Setting(
        "paths",
        STRING_TABLE,
        "Maps folders of the machine that wrote a [trace](traces.md#which-file-is-it) to folders on this "
        "machine.",
        "files are found by their names and lines",
    ),
)
"""The keys of ``[tool.fullgraph]``, which can also have the :data:`SWITCHES`, for all targets."""

PROGRAMS: Mapping[str, str] = {
    "script": "The path of a script, which runs as with `python`.",
    "module": "A module, which runs in `cwd` as with `python -m`: `package.module`.",
    "console-script": "A command that a package installs, run as in a terminal: `my-train`.",
    "pytest": "A test: `tests/test_model.py::test_forward`.",
    "example": "A function or class with example calls: `model.py::Block`.",
    "torchrun": "The path of a script that runs in several processes, as with `torchrun`.",
}
"""The keys that name a target's program, each with a description. A target has exactly one of these keys."""

TARGET = (
    Setting("name", TEXT, "The name of the target.", "the program"),
    *(Setting(key, TEXT, description) for key, description in PROGRAMS.items()),
    Setting(
        "args",
        STRINGS,
        "The command-line arguments of the program; not for `pytest` and `example`.",
        "none",
    ),
    Setting("ranks", WHOLE, "The number of processes of a `torchrun` target.", default=2),
    Setting("cwd", TEXT, "The folder in which the program runs.", "the project's folder"),
    Setting("env", STRING_TABLE, "Variables to add to the program's environment.", "none"),
    Setting(
        "timeout",
        number("seconds"),
        "The time limit of a run, in seconds.",
        "`timeout` of `[tool.fullgraph]`",
    ),
)
"""The keys of a ``[[tool.fullgraph.targets]]`` table, which can also have the :data:`SWITCHES`, for one
target."""

SWITCHES = (
    Setting(
        "dynamic",
        choice(
            ChoiceOption(True, "Sizes are dynamic from the first call.", "on"),
            ChoiceOption(False, "Sizes are static, except those that the program marks as dynamic.", "off"),
            ChoiceOption(
                "automatic", "A size becomes dynamic once it has changed, which is torch's default."
            ),
        ),
        "Whether sizes are dynamic.",
        "the program's own setting",
    ),
    Setting("recompile-limit", WHOLE, "How often a function may be compiled.", "the program's own setting"),
    Setting(
        "only",
        PATTERN,
        "A regular expression for the full names of the functions to compile (`forward`, "
        "`Block\\.forward`). Other functions run eagerly; matching functions that they call are compiled.",
        "all functions are compiled",
    ),
    Setting("cold-caches", FLAG, "Whether to ignore the kernels of earlier runs.", default=False),
    Setting(
        "cpp-stacks",
        FLAG,
        "Whether a condition on a size also names the C++ calls that added it. This is slow.",
        default=False,
    ),
    Setting(
        "warm-up",
        WHOLE,
        "For `fullgraph frozen`: how many calls of each compiled function may compile.",
        default=1,
    ),
    Setting(
        "dry-run",
        FLAG,
        "Whether tensors have only sizes and types and no data, so that a model of any size runs on a "
        "laptop. For `check`, `recompiles`, `frozen` and `kernels`. Checkpoints (`torch.load`, safetensors) "
        "are read for their sizes and types only. File changes are discarded. A number that is only logged "
        '(`f"{loss.item():.3f}"`) shows as `?`; where the program needs a value, the run ends and says so.',
        default=False,
    ),
    Setting(
        "device",
        one_of(DEVICES),
        "Makes the run a dry run, as if this machine had the given GPU. For `check`, and for `kernels`, "
        "which writes Triton kernels for that GPU and compiles them to PTX or AMDGCN. No kernel is launched; "
        "the report names results that only the GPU itself could show.",
        "none",
    ),
    Setting(
        "files",
        choice(*_FILES),
        f"{_FILES_DESCRIPTION} [Details](files.md). On the command line: `--keep-files` and "
        "`--discard-files`.",
        _FILES_UNSET,
    ),
)
"""Settings for runs of all targets or of one target. They override the settings that the program itself
makes."""
