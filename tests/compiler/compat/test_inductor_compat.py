"""What a process does ahead of its children must leave it fit to have some."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("children are forked, on Linux only", allow_module_level=True)

import torch
from fullgraph_compiler.compat import inductor_compat
from fullgraph_compiler.processes.children import run_child


def _warm(folder: Path) -> None:
    inductor_compat.prepare(str(folder))
    inductor_compat.warm_up_patterns()
    inductor_compat.warm_up_cpp()


def test_a_warm_process_has_one_thread_and_no_pool(tmp_path: Path) -> None:
    def work() -> tuple[int, int]:
        import torch._inductor.config

        _warm(tmp_path)
        return threading.active_count(), torch._inductor.config.compile_threads

    assert run_child(work).answer == (1, 1)


@pytest.mark.parametrize("before", [True, False])
def test_graphs_can_be_cached_again_if_they_were(before: bool) -> None:
    def work() -> tuple[bool, bool, bool, bool]:
        import torch._functorch.config
        import torch._inductor.config

        def settings() -> tuple[bool, bool]:
            caches = torch._inductor.config.fx_graph_cache, torch._functorch.config.enable_autograd_cache
            return caches[0], caches[1]

        inductor_compat._set_in_all_threads(torch._inductor.config, "fx_graph_cache", value=before)
        inductor_compat._set_in_all_threads(torch._functorch.config, "enable_autograd_cache", value=before)
        inductor_compat.compile_each_graph_anew()
        inductor_compat.compile_each_graph_anew()
        without = settings()
        inductor_compat.use_graph_caches()
        return *without, *settings()

    assert run_child(work).answer == (False, False, before, before)


@pytest.mark.parametrize(("name", "keeps"), [("cache", True), ("my cache", False), ("it's", False)])
def test_kernels_stay_out_of_a_folder_in_which_nothing_can_be_compiled(
    tmp_path: Path, name: str, keeps: bool
) -> None:
    def work() -> tuple[str, str, str]:
        from torch._inductor import codecache

        os.environ["TORCHINDUCTOR_CACHE_DIR"] = "/of the run"
        codecache._HEADER_DIR = "/of the run/precompiled_headers"
        codecache._HEADER_LOCK_DIR = "/of the run/precompiled_headers/locks"
        inductor_compat.keep_kernels_in(str(tmp_path / name))
        inductor_compat.keep_headers_in(str(tmp_path / name))
        return os.environ["TORCHINDUCTOR_CACHE_DIR"], codecache._HEADER_DIR, codecache._HEADER_LOCK_DIR

    kept = str(tmp_path / name / "inductor") if keeps else "/of the run"
    headers = f"{kept}/precompiled_headers"
    assert run_child(work).answer == (kept, headers, f"{headers}/locks")


def test_a_program_may_still_change_decompositions(tmp_path: Path) -> None:
    def work() -> bool:
        from torch._inductor import decomposition

        _warm(tmp_path)
        decomposition.decompositions[torch.ops.aten.relu.default] = torch.sin
        return decomposition.select_decomp_table()[torch.ops.aten.relu.default] is torch.sin

    assert run_child(work).answer is True
