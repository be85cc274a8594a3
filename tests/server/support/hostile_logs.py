"""Logs that are hard to read: deep, long, and slow for regular expressions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from patterns import hostile, patterns

FILE = "/home/user/project/program.py"
_ID = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}


def record(name: str, body: Any = None, payload: str | None = None, **more: Any) -> str:
    """A record as torch writes it; ``name`` of an artifact begins with ``@``."""
    key, value = ("artifact", {"name": name[1:]}) if name.startswith("@") else (name, body or {})
    return raw(json.dumps({key: value, **_ID, **more}), payload)


def raw(header: str, payload: str | None = None) -> str:
    """A record with a header as it is."""
    lines = [] if payload is None else [f"\t{line}" for line in payload.split("\n")]
    return "\n".join([f"V1122 13:00:00.000000 1 torch/x.py:1] {header}", *lines, ""])


def strings(**names: Any) -> str:
    """What the numbers of files stand for: 0 is the program."""
    found = [FILE, *names.values()]
    return "".join(record("str", [name, number]) for number, name in enumerate(found))


def frame(row: Any = 12, name: Any = "toy", filename: Any = 0, loc: Any = "") -> dict[str, Any]:
    """One call of a stack."""
    return {"line": row, "name": name, "filename": filename, "loc": loc}


def started(compilation: int = 0, **changes: Any) -> str:
    """A frame begins to be compiled."""
    return record("dynamo_start", {"stack": [frame(**changes)]}, frame_compile_id=compilation)


def finished(compilation: int = 0, **changes: Any) -> str:
    """A compilation ends."""
    body = {"co_name": "toy", "graph_op_count": 1, "guard_count": 1, "entire_frame_compile_time_s": 0.1}
    return record("compilation_metrics", {**body, **changes}, frame_compile_id=compilation)


def everywhere(text: str) -> str:
    """A log that has a text at each place where a log has one."""
    line = text.replace("\n", " ")
    guard = f"| +- GuardManager: source=L['{line}'], accessed_by=x\n| | +- "
    leaves = (
        f"EQUALS_MATCH: L['a'] == {line}",
        f"TENSOR_MATCH: check_tensor(L['a'], Tensor, DispatchKeySet({line}), torch.float32, device={line}",
        f"LENGTH_CHECK: len({line}) == {line}",
        f"{line}: {line}",
        f"GLOBAL_STATE: ___check_global_state {{{line}",
        f"TYPE_MATCH: ___check_type_id({line}, 1), type=<class '{line}'>",
    )
    tree = "\n".join(f"{guard}{leaf}  # {line}  # program.py:13 in toy" for leaf in leaves)
    graph = (
        f"class GraphModule(torch.nn.Module):\n    def forward(self, {line}):\n"
        f"        # File: {FILE}:13 in toy, code: {line}\n"
        f'        x: "{line}" = torch.ops.aten.{line}({line})\n'
        f"        # File: {line}\n        {line}\n{text}"
    )
    code = (
        f"# AOT ID: ['0_inference']\nk = async_compile.triton('k', '''{text}''')\ndef call(args):\n"
        f"    # Topologically Sorted Source Nodes: [{line}]\n    # [Provenance debug handles] {line}\n"
        f"    k.run({line})\n"
    )
    broken = (
        f"{text}\n  Explanation: {text}\n  Hint: {text}\n For more details about this graph break {text}\n"
    )
    stack = f'User code traceback:\n  File "{FILE}", line 13, in toy\n    {text}\n  File "{line}\n{text}'
    reasons = [
        f"0/0: tensor 'a' {line}",
        f"0/0: tensor '{line}' size mismatch at index 0. expected {line}, actual {line}",
        f"0/0: {line}",
        f"0/0: GLOBAL_STATE changed: {line}",
        f"0/0: L['{line}'] == {line}  # {line}",
        f"0/0: a.size()[0] == {line}\nUser stack trace:\n{stack}",
        line,
    ]
    failed = finished(1, fail_type="BackendCompilerFailed", fail_reason=text, cudagraph_skip_reason=text)
    one = {"frame_compile_id": 1}
    size = {"user_stack": [frame(13)], "stack": [frame(13)]}
    return "".join(
        (
            strings(other=text),
            record("dynamo_start", {"stack": [frame(13, loc="x = a / (torch.abs(a) + 1)")]}, frame_id=1),
            started(loc=line),
            record(
                "describe_tensor", {"id": 0, "describer_id": 0, "dtype": text, "device": text, "size": [3]}
            ),
            record("describe_source", {"id": 0, "describer_id": 0, "source": text}),
            record("create_symbol", {"symbol": "s0", "val": "3", "source": text}),
            record("create_symbol", {"symbol": text, "val": text, "source": "L['a'].size()[0]"}),
            record("guard_added_fast", {"expr": text, **size}),
            record("guard_added_fast", {"expr": f"Eq(Mod(s0, {line}), 0)", **size}),
            record(
                "symbolic_shape_specialization",
                {"symbol": "s0", "value": text, "sources": [text], "reason": text, **size},
            ),
            record("@dynamo_graph_break_reason", payload=broken + stack),
            record("dynamo_output_graph", {"sizes": {text: [3], "wait_tensor": [3]}}, graph),
            record("dynamo_cpp_guards_str", payload=tree),
            record("aot_forward_graph", payload=graph),
            record("inductor_post_grad_graph", payload=graph),
            record("inductor_output_code", {"file_path": text}, code),
            record("inductor_output_code", {"file_path": "x"}, text),
            record("@inductor_provenance_tracking_kernel_stack_traces", payload=json.dumps({text: [stack]})),
            record("@perf_hint", payload=text),
            record("@cudagraph_skip", payload=f"{text}. Found from :\n{stack}"),
            record("@inductor_collective_schedule", payload=json.dumps([text])),
            record("chromium_event", payload=json.dumps({"ph": "B", "name": text, "ts": 1.0})),
            record("chromium_event", payload=json.dumps({"ph": "E", "name": text, "ts": 2.0})),
            finished(),
            record("@recompile_reasons", payload=json.dumps(reasons), **one),
            started(1),
            record("@dynamo_error", payload=stack, **one),
            failed,
            started(2, name=text, filename=1, loc=text),
            finished(2, co_name=text, fail_type="Unsupported", fail_reason=broken),
            record("@recompile_reasons", payload=text, frame_compile_id=3),
            record(text, text, text),
            started(3),
            finished(3),
        )
    )


def nested() -> Iterator[tuple[str, str]]:
    """Texts that nest deep, by name."""
    yield "brackets 200,000", "[" * 200_000
    for deep in (900, 20_000):
        yield f"closed brackets {deep}", "[" * deep + "]" * deep
        yield f"objects {deep}", '{"a":' * deep + "1" + "}" * deep
        yield f"parentheses {deep}", "(" * deep + ")" * deep
        yield f"calls {deep}", "f(" * deep + ")" * deep
        yield f"minus {deep}", "-" * deep + "1"
        yield f"not {deep}", "not " * deep + "1"
        yield f"sum {deep}", "1+" * deep + "1"
        yield f"attributes {deep}", "a" + ".a" * deep
        yield f"items {deep}", "L['a']" + "[0]" * deep
        yield f"choices {deep}", "1 if x else " * deep + "1"
        yield f"functions {deep}", "lambda: " * deep + "1"
        yield f"resumed {deep}", "torch_dynamo_resume_in_" * deep + "f" + "_at_1" * deep
        yield f"conditions {deep}", "Eq(" * deep + "s0" + ", 1)" * deep


def nested_headers() -> Iterator[tuple[str, str]]:
    """Headers that nest deep, at each of their places."""
    for deep in (300, 900, 200_000):
        value = "[" * deep + "]" * deep
        yield f"all {deep}", raw(value)
        for name in (
            "frame_id",
            "frame_compile_id",
            "attempt",
            "compiled_autograd_id",
            "rank",
            "has_payload",
        ):
            yield f"{name} {deep}", raw(f'{{"dynamo_start": {{"stack": []}}, "{name}": {value}}}')
        for body in (
            f'"str": [{value}, 0]',
            f'"str": ["x", {value}]',
            f'"artifact": {{"name": {value}}}',
            f'"dynamo_start": {{"stack": {value}}}',
            f'"dynamo_start": {{"stack": [{{"line": {value}, "name": "f", "filename": 0}}]}}',
            f'"dynamo_start": {{"stack": [{{"line": 1, "name": {value}, "filename": 0}}]}}',
            f'"dynamo_start": {{"stack": [{{"line": 1, "name": "f", "filename": {value}}}]}}',
            f'"dynamo_output_graph": {{"sizes": {{"x": {value}}}}}',
            f'"dynamo_output_graph": {{"sizes": {value}}}',
            f'"compilation_metrics": {{"co_name": {value}, "fail_type": {value}, "fail_reason": {value}}}',
            f'"symbolic_shape_specialization": {{"symbol": "s0", "sources": [{value}], "reason": {value}}}',
            f'"guard_added_fast": {{"expr": {value}}}',
            f'"create_symbol": {{"symbol": {value}, "val": {value}, "source": {value}}}',
            f'"optimize_ddp_split_child": {{"name": {value}}}',
            f'"inductor_output_code": {{"file_path": {value}}}',
        ):
            yield f"{body[:50]} {deep}", raw(f'{{{body}, "frame_id": 0, "frame_compile_id": 0}}')


def long() -> Iterator[tuple[str, str]]:
    """Texts that are very long."""
    for name, text in {
        "digits": "9",
        "letters": "x",
        "blanks": " ",
        "lines": "\n",
        "odd lines": "\x0b",
        "slashes": "/",
        "folders": "a/",
        "quotes": "'",
        "surrogates": "\udc80",
        "wide": "\U0001f600",
        "nothing": "\0",
        "escapes": "\x1b[31m",
    }.items():
        yield name, text * (5_000 if name == "digits" else 50_000)


def hard() -> Iterator[tuple[str, str]]:
    """Texts that are hard for one of the patterns."""
    seen = set()
    for place in patterns():
        for start, again in hostile(place.pattern)[::40]:
            if (start, again) not in seen:
                seen.add((start, again))
                yield str(place), start + again * (10_000 // len(again)) + "\0"
