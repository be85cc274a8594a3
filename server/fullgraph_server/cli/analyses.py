"""Commands of analyses: each runs a target and writes the analysis's report."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import click

from ..analyses.analysis import Analysis, CommandLineAnalysis
from ..analyses.registry import analyses
from ..runs.effective_settings import SettingOverrides
from ..workspace.targets import Target
from .formats.analysed import formats_of
from .options import RANKS, TIMEOUT, format_option, of_one_target
from .output import EscapingCommand
from .switches import with_switches


def commands() -> Iterator[click.Command]:
    """Yield a command for each analysis whose ``CommandLineAnalysis`` has a help text."""
    for analysis in analyses().values():
        words = analysis.on_command_line
        if words is not None and words.help:
            yield _command(analysis, words)


def _command(analysis: Analysis, words: CommandLineAnalysis) -> click.Command:
    formats = formats_of(analysis)

    def run(target: Target, overrides: SettingOverrides, output: str, **own: Any) -> int:
        from .check import check_targets

        given = {name: value for name, value in own.items() if value is not None}
        overrides = replace(overrides, switches={**overrides.switches, **given})
        return check_targets([target], overrides, formats[output], analysis=analysis)

    run.__doc__ = words.help
    function = with_switches(run)
    for option in reversed(words.options):
        number = click.IntRange(min=1)
        function = click.option(
            option.name, option.switch, type=number, help=option.help, metavar=option.metavar
        )(function)
    function = format_option(formats)(function)
    function = RANKS(function) if words.ranks else function
    options = (
        of_one_target if analysis.effort == "compiler" else functools.partial(of_one_target, timeout=TIMEOUT)
    )
    return click.command(words.name, cls=EscapingCommand, no_args_is_help=True)(options(function))
