"""What came of graphs in the compiler's caches: planted differences of keys, and logs of torch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fullgraph_compiler.facts import CacheLookup, Fact, FrameStarted, RunFinished
from fullgraph_compiler.trace import TraceInterpreter, TraceRecord
from fullgraph_server.analyses.shown import ReportView, StyledLine
from fullgraph_server.analyses.times import ANALYSIS
from fullgraph_server.cli.fail_on import FAIL_ON
from fullgraph_server.cli.formats.checked import CheckedReport
from fullgraph_server.cli.formats.json import report_object
from fullgraph_server.compare.comparison import compare
from fullgraph_server.compare.comparison_texts import keys
from fullgraph_server.compare.ranks import RankReport, merged
from fullgraph_server.report.caches.uses import without_unproven
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Report
from fullgraph_server.text.caches import bypass_of
from fullgraph_server.workspace.workspace import Workspace
from traces import read

PROGRAM = """import torch

def forward(x):
    y = torch.relu(x)
    return y.sin()
"""
TENSOR = (
    "TensorMetadata(dtype=torch.float32, shape=torch.Size([4, 8]), stride=(8, 1), device=device(type='cpu'), "
    "layout=torch.strided, storage_offset=0)"
)
GRAPH = """GraphModule()

def forward(self, primals_1, primals_2):
    relu = torch.ops.aten.relu.default(primals_1);  primals_1 = None
    sin = torch.ops.aten.sin.default(relu);  relu = None
    return (sin,)
"""
LOWERED = """def forward(self, primals_1: "f32[4, 8]", primals_2: "f32[4, 8]"):
    # File: {path}:4 in forward, code: y = torch.relu(x)
    relu: "f32[4, 8]" = torch.ops.aten.relu.default(primals_1)

    # File: {path}:5 in forward, code: return y.sin()
    sin: "f32[4, 8]" = torch.ops.aten.sin.default(relu)
    cos: "f32[4, 8]" = torch.ops.aten.cos.default(relu)
"""
KEY = {
    "gm": GRAPH,
    "example_inputs[0]": TENSOR,
    "example_inputs[1]": TENSOR,
    "cache_key_tag": "",
    "fx_kwargs[is_backward]": "False",
    "fx_kwargs[cudagraphs]": "BoxedBool(value=False)",
    "fx_kwargs[get_decomp_fn]": "<function select_decomp_table at 0x7f134e67a5c0>",
    "deterministic_algorithms_settings": "(False, False, True)",
    "cpp_runtime_thread_count": "2",
    "torch_version": "\ufffdM\ufffd",
    "system_info[device]": "{'name': 'NVIDIA A100'}",
    "system_info[hash]": "44136fa3",
    "inductor_config[max_fusion_size]": "64",
    "inductor_config[post_grad_fusion_options]": "{}",
    "post_grad_custom_post_pass": "None",
}
"""What a key of torch 2.13 is made of, in part."""


class Log:
    """Records of lookups, and the report of them."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "model.py"
        self.path.write_text(PROGRAM)
        self.facts: list[Fact] = [FrameStarted("0/0", "forward", str(self.path), 3)]
        self._interpreter = TraceInterpreter()

    def lookup(self, state: str, compile_id: str = "0/0", cache: str = "fx_graph", **body: Any) -> None:
        self.feed(f"{cache}_cache_{state}", {"cache_status_detailed": "full_miss", **body}, compile_id)

    def key(self, state: str, key: str, changes: dict[str, str | None], compile_id: str = "0/0") -> None:
        """Look a key up that is torch's with some changes; the hash of a component is that of its text."""
        texts = {name: text for name, text in {**KEY, **changes}.items() if text is not None}
        components = [f"[h{abs(hash((name, text)))}] {name}: {text}" for name, text in texts.items()]
        self.lookup(state, compile_id, key=key, components=components)

    def feed(self, name: str, body: Any, compile_id: str = "0/0") -> None:
        if compile_id not in {fact.compile_id for fact in self.facts if isinstance(fact, FrameStarted)}:
            self.facts.append(FrameStarted(compile_id, "forward", str(self.path), 3))
        text = body if isinstance(body, str) else json.dumps(body)
        self.facts += self._interpreter.feed(TraceRecord(name, {"name": name}, compile_id, 0, text))

    def report(self) -> Report:
        facts = [*self.facts, *self._interpreter.finish(), RunFinished("finished", 1.0)]
        return fold("model.py", 1, "2.13", facts, Workspace(self.path.parent), depth="build")


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


PLANTED = [
    (
        {"inductor_config[max_fusion_size]": "32"},
        "`torch._inductor.config.max_fusion_size` is `32`, was `64`",
    ),
    (
        {"inductor_config[post_grad_fusion_options]": "{'a': <function f at 0x7f01>}"},
        "`torch._inductor.config.post_grad_fusion_options` is `{'a': <function f>}`, was `{}`",
    ),
    (
        {"example_inputs[1]": TENSOR.replace("[4, 8]", "[6, 8]")},
        "the shape of input `primals_2` is `[6, 8]`, was `[4, 8]`",
    ),
    (
        {"example_inputs[0]": TENSOR.replace("float32", "bfloat16")},
        "the dtype of input `primals_1` is `torch.bfloat16`, was `torch.float32`",
    ),
    (
        {"example_inputs[0]": TENSOR.replace("(8, 1)", "(1, 4)")},
        "the stride of input `primals_1` is `(1, 4)`, was `(8, 1)`",
    ),
    (
        {"example_inputs[0]": TENSOR.replace("'cpu'", "'cuda', index=1")},
        "the device of input `primals_1` is `cuda:1`, was `cpu`",
    ),
    (
        {"example_inputs[0]": TENSOR.replace("offset=0", "offset=4")},
        "`storage_offset` of input `primals_1` is `4`, was `0`",
    ),
    ({"example_inputs[1]": None}, "the number of inputs is 1, was 2"),
    ({"example_inputs[2]": "('s77',)"}, "1 number among its inputs is dynamic, none before"),
    ({"torch_version": "\ufffdX"}, "torch itself, its version or its source, differs"),
    (
        {"system_info[device]": "{'name': 'NVIDIA H100'}", "system_info[hash]": "55"},
        "the system (`device`) is `{'name': 'NVIDIA H100'}`, was `{'name': 'NVIDIA A100'}`",
    ),
    ({"cpp_runtime_thread_count": "1"}, "the number of threads (`torch.get_num_threads()`) is `1`, was `2`"),
    ({"cache_key_tag": "mine"}, "`torch.compiler.config.cache_key_tag` is `mine`, was empty"),
    (
        {"deterministic_algorithms_settings": "(True, False, True)"},
        (
            "the setting of `torch.use_deterministic_algorithms` is `(True, False, True)`, "
            "was `(False, False, True)`"
        ),
    ),
    (
        {"post_grad_custom_post_pass": "b'v2'"},
        "the custom pass `torch._inductor.config.post_grad_custom_post_pass` is `b'v2'`, was `None`",
    ),
    (
        {"fx_kwargs[cudagraphs]": "BoxedBool(value=True)"},
        "the option `cudagraphs` of the compilation is `BoxedBool(value=True)`, was `BoxedBool(value=False)`",
    ),
    (
        {"gm": GRAPH.replace("sin", "cos")},
        "the graph has `aten.cos.default(relu)` where it had `aten.sin.default(relu)` (model.py:5)",
    ),
    (
        {"gm": GRAPH.replace("    sin = torch.ops.aten.sin.default(relu);  relu = None\n", "")},
        "the graph ends where it went on with `aten.sin.default(relu)` before",
    ),
    ({"a_new_component": "1"}, "`a_new_component` is now part of the key"),
]


@pytest.mark.parametrize(("changes", "expected"), PLANTED, ids=[next(iter(item[0])) for item in PLANTED])
def test_the_component_that_differs_is_named(log: Log, changes: dict[str, str | None], expected: str) -> None:
    log.key("hit", "one", {})
    log.feed("aot_forward_graph", LOWERED.format(path=log.path), "0/1")
    log.key("miss", "other", changes, "0/1")
    report = log.report()
    use = report.caches.uses[-1]
    assert use.reason == f"Its key differs from that of compilation 0/0: {expected}."
    assert (use.nearest, len(use.differences)) == ("0/0", 1)
    finding = next(item for item in report.findings if item.kind == "cache-miss")
    assert (finding.span.row, finding.severity, finding.explanation) == (3, "information", use.reason)


def test_what_prints_alike_is_no_difference_with_values(log: Log) -> None:
    log.lookup("hit", key="one", components=["[h1] post_grad_custom_post_pass: <Pass object at 0x7f01>"])
    log.lookup("miss", key="other", components=["[h2] post_grad_custom_post_pass: <Pass object at 0x7f02>"])
    (difference,) = log.report().caches.uses[-1].differences
    assert difference.words == "the custom pass `torch._inductor.config.post_grad_custom_post_pass` differs"


def test_a_text_with_another_address_is_the_same_value(log: Log) -> None:
    for state, key, address in (("hit", "one", "0x7f01"), ("miss", "other", "0x7f02")):
        components = [
            f"[h1] fx_kwargs[get_decomp_fn]: <function f at {address}>",
            f"[h{key}] default_dtype: {key}",
        ]
        log.lookup(state, key=key, components=components)
    assert [item.name for item in log.report().caches.uses[-1].differences] == ["`torch.get_default_dtype()`"]


def test_names_of_values_are_no_difference_where_inputs_are_others(log: Log) -> None:
    log.key("hit", "one", {})
    graph = GRAPH.replace("primals_1", "primals_9")
    log.key("miss", "other", {"gm": graph, "example_inputs[2]": "('s77',)"}, "0/1")
    assert [item.name for item in log.report().caches.uses[-1].differences] == ["dynamic numbers"]


def test_the_nearest_key_is_the_one_with_the_fewest_differences(log: Log) -> None:
    log.key("hit", "one", {"cpp_runtime_thread_count": "1", "cache_key_tag": "a"})
    log.key("miss", "two", {"cache_key_tag": "b"}, "0/1")
    log.key("miss", "three", {"cpp_runtime_thread_count": "8", "cache_key_tag": "c"}, "0/2")
    log.key("miss", "four", {}, "0/3")
    assert [use.nearest for use in log.report().caches.uses] == ["", "0/0", "0/1", "0/1"]


def test_a_backward_is_compared_with_a_backward(log: Log) -> None:
    log.key("hit", "one", {})
    log.key("miss", "two", {"fx_kwargs[is_backward]": "True", "cache_key_tag": "b"}, "0/1")
    use = log.report().caches.uses[-1]
    assert (use.nearest, use.label) == ("", "forward (0/1, backward)")


def test_an_entry_for_other_sizes_says_which(log: Log) -> None:
    log.lookup("miss", cache_status_detailed="guard_miss", cache_status_guard_expr="L['s0'] < 9", key="one")
    use = log.report().caches.uses[0]
    expected = "An entry with this key exists, but does not fit these sizes: it is valid where `L['s0'] < 9`."
    assert use.reason == expected


def test_an_entry_that_was_not_stored_is_told(log: Log) -> None:
    log.key("miss", "one", {})
    log.key("miss", "one", {}, "0/1")
    expected = "Its key equals that of compilation 0/0, whose entry was not stored or no longer exists."
    assert log.report().caches.uses[-1].reason == expected


# -- findings ----------------------------------------------------------------------------------


def kinds(report: Report) -> list[str]:
    return [finding.code for finding in report.findings]


def test_no_finding_about_caches_fails_a_build(log: Log) -> None:
    assert not any(map(FAIL_ON["recompile"], missing(log).findings))


def test_a_first_start_has_no_findings(log: Log) -> None:
    log.key("miss", "one", {})
    log.key("miss", "two", {"cache_key_tag": "b"}, "0/1")
    assert kinds(log.report()) == []


def test_a_graph_that_this_run_has_stored_is_no_warm_cache(log: Log) -> None:
    log.key("miss", "one", {})
    log.key("hit", "one", {}, "0/1")
    log.key("miss", "two", {"cache_key_tag": "b"}, "0/2")
    assert kinds(log.report()) == []


def test_a_start_after_another_one_has_findings_without_any_hit(log: Log) -> None:
    log.key("miss", "one", {})
    cold = log.facts[:]
    log.facts.clear()
    log.key("miss", "two", {"cache_key_tag": "b"})
    warm = [replace(fact, warm=True) if isinstance(fact, CacheLookup) else fact for fact in log.facts]
    log.facts = [*cold, *warm]
    report = log.report()
    assert kinds(report) == ["cache-miss"]
    assert [(count.hits, count.misses) for count in report.caches.counts] == [(0, 1)]
    (use,) = report.caches.uses
    difference = "`torch.compiler.config.cache_key_tag` is `b`, was empty"
    assert use.reason == f"Its key differs from that of the previous start: {difference}."


@pytest.mark.parametrize("warm", [True, False])
def test_a_setting_is_to_be_the_same_in_two_starts_not_within_one(log: Log, warm: bool) -> None:
    log.key("hit", "one", {})
    cold = log.facts[:]
    log.key("miss", "two", {"inductor_config[max_fusion_size]": "32"}, "0/1")
    later = [replace(fact, warm=warm) if isinstance(fact, CacheLookup) else fact for fact in log.facts]
    log.facts = [*cold, *later[len(cold) :]]
    (finding,) = log.report().findings
    assert bool(finding.hints) == warm


def test_a_reason_of_some_compilations_names_them(log: Log) -> None:
    log.facts.append(FrameStarted("1/0", "other", str(log.path), 4))
    log.key("hit", "one", {}, "1/0")
    log.key("miss", "two", {})
    log.key("miss", "three", {"cache_key_tag": "b"}, "0/1")
    (finding,) = log.report().findings
    assert finding.explanation.startswith("Compilation 0/1: Its key differs from that of compilation 0/0: ")


def test_methods_of_the_same_name_are_not_compared(log: Log) -> None:
    log.key("hit", "one", {})
    log.facts.append(FrameStarted("1/0", "forward", str(log.path), 4))
    log.key("miss", "two", {"cache_key_tag": "b"}, "1/0")
    assert log.report().caches.uses[-1].nearest == ""


def test_what_both_caches_leave_out_is_one_finding(log: Log) -> None:
    log.lookup(
        "bypass",
        cache="aotautograd",
        cache_bypass_reason=(
            "Unsupported call_function target cond. \n Function module: torch.ops.higher_order, \n"
            "Function name: cond"
        ),
    )
    log.lookup("bypass", cache_bypass_reason="Can't cache HigherOrderOperator: cond")
    report = log.report()
    assert [(item.kind, item.message) for item in report.findings] == [
        (
            "cache-bypass",
            "the graph of `forward` cannot be cached: the caches do not support the operator `cond`",
        )
    ]


def test_what_a_setting_does_to_many_functions_is_told_once(log: Log) -> None:
    for number, name in enumerate(("forward", "other", "third")):
        log.facts.append(FrameStarted(f"{number}/0", name, str(log.path), 3))
        log.lookup("bypass", f"{number}/0", cache_bypass_reason="Unsupported joint custom pass")
    (finding,) = log.report().findings
    assert "`forward` and of 2 other functions" in finding.message
    assert "uuid()" in finding.hints[0]


def test_what_only_autograd_traces_anew_says_so(log: Log) -> None:
    log.lookup(
        "bypass",
        cache="aotautograd",
        cache_bypass_reason="SAC context_fn does not have a cache_hash attribute.",
    )
    log.key("hit", "one", {})
    (finding,) = log.report().findings
    assert "AOTAutograd cache" in finding.message
    assert finding.explanation == (
        "AOTAutograd traces it anew at each start of the program. "
        "The code that TorchInductor generates for it can come from the FX graph cache."
    )


REASONS = [
    ("Can't cache HigherOrderOperator: flex_attention", "the operator `flex_attention`", False),
    (
        "Unsupported call_function target <function f>. \n Function module: mine.ops, \nFunction name: f",
        "a graph that calls `mine.ops.f`",
        False,
    ),
    ("Unsupported post grad custom pass", "uuid()", True),
    ("Unsupported _pre_fusion_custom_pass", "`_pre_fusion_custom_pass`", True),
    ("Cannot cache a graph with freezing enabled", "freezing", True),
    ("Skipping graph with frozen constants", "freezing", True),
    ("mkldnn tensors unpickleable", "oneDNN", False),
    ("FX graph cache is not enabled", "is off", True),
    (
        "activation_memory_budget_solver is a raw callable without uuid() method, bypassing cache.",
        "solver",
        True,
    ),
    ("Cannot produce stable cache key for unpicklable type Handle", "`Handle`", False),
    ("Failed to pickle cache key", "cannot be pickled", False),
    ("AOTAutogradCache requires triton 3.2.0", "older than 3.2", True),
    ("Uncacheable nested region config 'custom_pass': callable value", "`custom_pass`", False),
]


@pytest.mark.parametrize(("reason", "words", "of_setting"), REASONS)
def test_a_reason_is_explained(reason: str, words: str, of_setting: bool) -> None:
    bypass = bypass_of(reason)
    assert words in bypass.words
    assert bypass.of_setting == of_setting
    assert not bypass.words.startswith("torch says")


def test_a_reason_that_is_not_known_is_torchs() -> None:
    assert bypass_of("A new reason\nmore").words == "torch says: A new reason"


# -- where it is shown -------------------------------------------------------------------------


def missing(log: Log) -> Report:
    """The report of a function that was found, then missed with another tag."""
    log.key("hit", "one", {})
    log.key("miss", "two", {"cache_key_tag": "b"}, "0/1")
    return log.report()


def test_a_table_and_the_reasons_are_lines_of_text(log: Log) -> None:
    workspace = Workspace(log.path.parent)
    shown = ReportView(missing(log), workspace, "model.py", None, lambda name, row: f"{name}:{row}", "")
    assert ANALYSIS.lines is not None
    items = [item for item in ANALYSIS.lines(shown) if isinstance(item, StyledLine)]
    lines = ["".join(text for text, _ in item.parts) for item in items]
    assert lines[:2] == ["in the caches   found  missed  left out", "FX graph cache      1       1         0"]
    assert lines[3].partition("model.py:3 ")[2] == (
        "forward (0/1): Not in the FX graph cache. Its key differs from that of compilation 0/0: "
        "`torch.compiler.config.cache_key_tag` is `b`, was empty."
    )


def test_json_has_each_look(log: Log) -> None:
    report = missing(log)
    checked = CheckedReport(SimpleNamespace(id="model.py"), report, Workspace(log.path.parent))  # type: ignore[arg-type]
    caches = report_object(checked)["caches"]
    assert caches["counts"] == {"fx-graph": {"hits": 1, "misses": 1, "bypasses": 0}}
    hit, miss = caches["graphs"]
    assert (hit["state"], miss["state"], miss["nearest"], miss["row"]) == ("hit", "miss", "0/0", 3)
    assert miss["differences"] == [
        {
            "name": "`torch.compiler.config.cache_key_tag`",
            "before": "",
            "after": "b",
            "filename": None,
            "row": None,
        }
    ]


def test_a_profile_of_sizes_is_noted(log: Log) -> None:
    log.feed("get_local_code_state", "/p/model.py:3:forward:\n  L['x']: tensor size=[?, 8]")
    (note,) = log.report().caches.notes
    assert note.endswith("a local profile (PGO) of 1 function was read.")


def test_two_traces_tell_how_keys_differ(tmp_path: Path) -> None:
    reports = []
    for name, tag in (("before", "a"), ("after", "b")):
        (tmp_path / name).mkdir()
        log = Log(tmp_path / name)
        log.key("miss", name, {"cache_key_tag": tag})
        reports.append(log.report())
    comparison = compare(*reports, tmp_path / "before", tmp_path / "after")
    assert comparison.keys == (("`torch.compiler.config.cache_key_tag` is `b`, was `a`", ("forward (0/0)",)),)
    assert comparison.differs
    assert keys(comparison) == ["forward (0/0): `torch.compiler.config.cache_key_tag` is `b`, was `a`"]
    assert ("FX graph cache misses", 1, 1) in [(a.name, a.before, a.after) for a in comparison.counts]
    same = compare(reports[0], reports[0], tmp_path / "before", tmp_path / "before")
    assert not same.keys


def ranks(tmp_path: Path, states: Sequence[str]) -> list[RankReport]:
    """Ranks that look for the same key, with what came of it."""
    reports = []
    for rank, state in enumerate(states):
        log = Log(tmp_path)
        log.key(state, "one", {})
        reports.append(RankReport(rank, log.report()))
    return reports


def test_a_rank_that_misses_is_told_from_those_that_do_not(tmp_path: Path) -> None:
    (finding,) = merged(ranks(tmp_path, ["hit", "hit", "miss"])).findings
    assert finding.message == "`forward` has 1 cache miss on rank 2, and has 1 cache hit on the 2 others"
    assert (finding.kind, finding.ranks) == ("rank-difference", (2,))
    assert not merged(ranks(tmp_path, ["miss", "miss"])).findings


def test_what_another_rank_has_just_stored_proves_no_warm_cache(log: Log) -> None:
    report = missing(log)
    assert kinds(without_unproven(report, frozenset())) == ["cache-miss"]
    assert kinds(without_unproven(report, frozenset({"one"}))) == []


# -- logs of torch -----------------------------------------------------------------------------

LOGS = Path(__file__).parent / "caches"
NET, BACKWARD, SCALED = "Net.forward (0/0)", "Net.forward (0/0, backward)", "scaled (1/0)"
SIN, COS = "`aten.sin.default(relu)`", "`aten.cos.default(relu)`"
BOTH = "the graph of `Net.forward` and of 1 other function"
CHANGED = {
    "code": (
        [
            (NET, f"the graph has {COS} where it had {SIN} (program.py:23)"),
            (BACKWARD, f"the graph has {SIN} where it had {COS} (program.py:23)"),
        ],
        "`Net.forward` was compiled anew: its graph was not in the FX graph cache, which had 1 other graph",
    ),
    "config": (
        [(f"{NET}, {BACKWARD}", "`torch._inductor.config.max_fusion_size` is `32`, was `64`")],
        "`Net.forward` was compiled anew",
    ),
    "shape": ([(NET, "the shape of input `primals_3` is `[6, 8]`, was `[4, 8]`")], "`Net.forward` was"),
    "dtype": (
        [(NET, "the dtype of input `primals_1` is `torch.bfloat16`, was `torch.float32`")],
        "`Net.forward` was compiled anew",
    ),
    "stride": (
        [(f"{NET}, {BACKWARD}", "the stride of input `primals_3` is `(1, 4)`, was `(8, 1)`")],
        "`Net.forward` was compiled anew",
    ),
    "threads": (
        [
            (
                f"{NET}, {BACKWARD}, {SCALED}",
                "the number of threads (`torch.get_num_threads()`) is `1`, was `2`",
            )
        ],
        "",
    ),
    "tag": (
        [(f"{NET}, {BACKWARD}, {SCALED}", "`torch.compiler.config.cache_key_tag` is `mine`, was empty")],
        "",
    ),
    "gradients": (
        [(NET, "the option `is_inference` of the compilation is `True`, was `False`")],
        "`scaled` was traced anew: its graph was not in the AOTAutograd cache, while the FX graph cache had",
    ),
    "recompiled": (
        [("Net.forward (0/1)", "1 number among its inputs is dynamic, none before")],
        "`Net.forward` was compiled anew: its graph was not in the FX graph cache, which had 3 other graphs",
    ),
    "freezing": ([], f"{BOTH} is left out of the AOTAutograd cache: freezing is on"),
    "pass": ([], f"{BOTH} cannot be cached: a custom pass"),
    "off": ([], f"{BOTH} is left out of the AOTAutograd cache: the FX graph cache, which"),
    "operator": ([], "the graph of `chosen` cannot be cached: the caches do not support the operator `cond`"),
    "cold": ([], ""),
    "warm": ([], ""),
}
"""How keys differ from those of the first start, and the beginning of a finding; empty if there is none."""


@pytest.mark.parametrize("torch", ["2.13", "2.15"])
@pytest.mark.parametrize("change", CHANGED)
def test_what_was_changed_is_told_of_a_log(change: str, torch: str) -> None:
    differences, message = CHANGED[change]
    before, after = (read(LOGS / f"torch-{torch}-{name}.log.gz", LOGS, "code") for name in ("cold", change))
    told = keys(compare(before, after, LOGS, LOGS))
    for graphs, words in differences:
        assert any(line.startswith(f"{graphs}: {words}") for line in told)
    if change in ("cold", "warm", "operator"):
        assert not told
    found = [finding for finding in after.findings if finding.kind.startswith("cache-")]
    assert any(finding.message.startswith(message) for finding in found) == bool(found)
    assert bool(found) == bool(message)
    in_brief = read(LOGS / f"torch-{torch}-{change}.log.gz", LOGS, "findings")
    assert [item.message for item in in_brief.findings] == [item.message for item in after.findings]
