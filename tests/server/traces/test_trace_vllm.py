"""What vLLM's records tell: the parts of a graph, and the sizes for which they are compiled.

The records are as vLLM's source writes them (vllm/compilation/backends.py, piecewise_backend.py).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from faked_run import fullgraph

CONFIG = {
    "model": "meta-llama/Llama-3.2-1B",
    "prefix": "backbone",
    "mode": "VLLM_COMPILE",
    "backend": "inductor",
    "custom_ops": "none",
    "splitting_ops": "vllm::unified_attention, vllm::mamba_mixer",
    "cudagraph_mode": "PIECEWISE",
    "compile_sizes": "8",
    "compile_ranges_split_points": "8192",
}
SPLIT = """class GraphModule(torch.nn.Module):
    def forward(self, x):
        submod_0 = self.submod_0(x);  x = None
        submod_1 = self.submod_1(submod_0);  submod_0 = None
        submod_2 = self.submod_2(submod_1);  submod_1 = None
        return submod_2

    class submod_0(torch.nn.Module):
        def forward(self, x):
            return self.l(x)
"""


def artifact(name: str, values: dict[str, Any]) -> str:
    """A record of vLLM with JSON."""
    return record({"artifact": {"name": name, "encoding": "json"}}, json.dumps(values))


def compiled(submodule: str, first: int, last: int) -> str:
    """The record that a part is compiled."""
    values = {
        "piecewise_index": 0,
        "submod_name": submodule,
        "total_piecewise_compiles": 2,
        "compile_range_start": first,
        "compile_range_end": last,
        "is_single_size": first == last,
        "is_cudagraph_capture_size": first == 8,
    }
    return artifact("vllm_piecewise_compile_start", values)


def record(event: dict[str, Any], payload: str) -> str:
    """A record as torch's handler writes it."""
    metadata = {**event, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "x"}
    text = payload.replace("\n", "\n\t")
    return f"V0203 10:00:00.000000 7 vllm/compilation/backends.py:9] {json.dumps(metadata)}\n\t{text}\n"


RECORDS = [
    artifact("vllm_compilation_config", CONFIG),
    record({"graph_dump": {"name": "vllm_piecewise_split_graph"}}, SPLIT),
    compiled("submod_0", 1, 8192),
    record({"graph_dump": {"name": "vllm_submod_0"}}, "class submod_0: ..."),
    compiled("submod_0", 8, 8),
    compiled("submod_2", 1, 8192),
    compiled("submod_2", 8, 8),
]
HEADING = (
    "vLLM: meta-llama/Llama-3.2-1B (backbone) in 3 parts, split at vllm::unified_attention, "
    "vllm::mamba_mixer; CUDA graphs: PIECEWISE"
)


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty project."""
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)


def test_parts_and_sizes_are_told() -> None:
    Path("job.log").write_text("".join(RECORDS))
    assert fullgraph("trace", "job.log").output.splitlines()[:3] == [
        HEADING,
        "  submod_0, submod_2  compiled for the sizes 1 to 8192, 8",
        "  submod_1            not compiled",
    ]
    (graph,) = json.loads(fullgraph("trace", "job.log", "--format", "json").output)["vllm"]
    assert graph["splitting"] == ["vllm::unified_attention", "vllm::mamba_mixer"]
    assert graph["parts"] == [
        {"name": "submod_0", "sizes": [[1, 8192], [8, 8]]},
        {"name": "submod_1", "sizes": []},
        {"name": "submod_2", "sizes": [[1, 8192], [8, 8]]},
    ]


def test_a_log_that_is_cut_off_tells_what_it_has() -> None:
    Path("job.log").write_text("".join(RECORDS[:3]))
    lines = fullgraph("trace", "job.log").output.splitlines()
    assert lines[1:3] == [
        "  submod_0            compiled for the sizes 1 to 8192",
        "  submod_1, submod_2  not compiled",
    ]


def test_a_damaged_record_is_counted() -> None:
    bent = artifact("vllm_piecewise_compile_start", {"submod_name": "submod_0"})
    Path("job.log").write_text("".join([*RECORDS[:3], bent, "V0203 10:00:00.000000 7 a.py:9] {}\n"]))
    output = fullgraph("trace", "job.log").output
    assert "1 record of the log cannot be read: it is damaged" in output
    assert HEADING in output
