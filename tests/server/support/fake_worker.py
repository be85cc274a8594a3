"""A stand-in for a worker, which plays a requested scenario in the real protocol.

The scenario is the first argument of the script in the run request, and its own arguments follow; torch is
never imported. As a fork server it is the real one, except for its imports and its forks.
"""

import faulthandler
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def receive():
    length = 0
    while line := sys.stdin.buffer.readline():
        if not line.strip():
            break
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def send(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()


def facts(generation, *items):
    send(method="facts", params={"generation": generation, "facts": items})


def seen(message):
    return {"type": "TargetProblem", "severity": "warning", "message": message, "hints": [], "stack": []}


def finished(status="finished"):
    return {"type": "RunFinished", "status": status, "seconds": 0.5, "exit_code": 0}


def tried(recipe, failure):
    return {"type": "RecipeTried", "recipe": recipe, "failure": failure, "seconds": 1.5, "memory": 1 << 30}


def node_progress(nodes, nodes_at_first=300):
    numbers = {"nodes": nodes, "nodes_at_first": nodes_at_first, "queries": 41, "seconds": 8.0}
    return {"type": "MinifyProgress", **numbers}


def minify(request):
    """Writes what it was asked for into the repro."""
    (scenario, *details), generation = request["program"]["args"], request["generation"]
    output = Path(request["output"])
    text = f"# failure {request['failure']}, graph {request['compile_id']!r}, process {os.getpid()}\n"
    if scenario == "nothing-fails":
        facts(generation, seen("Nothing fails."), finished())
    elif scenario == "crash-at-once":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif scenario == "shrink":
        output.write_text(text)
        numbers = {**node_progress(1, 14), "type": "ReproWritten", "filename": str(output)}
        written = {**numbers, "cached": 3, "reproduces": True, "stack": []}
        facts(generation, node_progress(12), written, finished())
    elif scenario == "fails-in-capture":
        output.write_text(text)
        numbers = {**node_progress(0, 0), "type": "ReproWritten", "filename": str(output)}
        stack = [{"type": "StackFrame", "filename": details[0], "row": 2, "function": "f"}]
        facts(generation, {**numbers, "cached": 0, "reproduces": True, "stack": stack}, finished())
    elif scenario == "shrink-for-ever":
        output.write_text(text)
        facts(generation, node_progress(12))
        for gate in details:
            with open(gate) as pipe:
                pipe.read()
        while True:
            time.sleep(60)


def preview(generation, stack):
    """Report a kernel that was built for an absent GPU, and a failure."""
    source = "@triton.jit\ndef triton_poi_0(x):\n    tmp1 = tl.maximum(tmp0, 0)"
    node = {"type": "KernelNode", "name": "relu", "operator": "aten.relu", "frame": stack[0]}
    kernel = {"type": "Kernel", "name": "triton_poi_0", "language": "triton", "source": source}
    code = {"compile_id": "0/0", "phase": "inference", "filename": "/tmp/c.py", "text": "code"}
    failure = {"compile_id": "0/1", "phase": "backend", "error": "RuntimeError", "message": "boom"}
    facts(
        generation,
        {"type": "CompileFailure", **failure, "stack": stack},
        {"type": "CodeGenerated", **code, "kernels": [{**kernel, "nodes": [node], "stacks": [stack]}]},
        {
            "type": "KernelCompiled",
            "filename": "/tmp/c.py",
            "name": "triton_poi_0",
            "texts": [["ttir", "module {}"], ["ptx", ".version 8.7"]],
            "config": "XBLOCK: 256",
            "others": ["XBLOCK: 512"],
            "registers": 12,
            "shared": 2048,
        },
    )


def play(params, request):
    program, generation = params["program"], params["generation"]
    scenario, *details = program["args"]
    if scenario == "finish":
        facts(generation, seen("one"), seen("two"), finished())
        facts(generation, seen("after the end"))
    elif scenario == "finish-early":
        facts(generation, seen("one"), finished(), seen("after the end"))
    elif scenario == "environment":
        facts(generation, seen(os.getcwd()), seen(os.environ["COLOUR"]), finished())
    elif scenario == "output":
        os.write(2, "caf\u00e9\n".encode())
        os.write(2, b"\xff\xfe\x00binary\n")
        facts(generation, finished())
    elif scenario == "print":
        os.write(2, b"x" * int(details[0]))
        facts(generation, finished())
    elif scenario == "large":
        facts(generation, *[seen("x" * 1000)] * 5000)
        facts(generation, finished())
    elif scenario == "other-generation":
        facts(generation - 1, seen("old"))
        facts(generation, finished())
    elif scenario == "garbage":
        facts(generation, {"type": "NoSuchFact"})
        sys.stdout.buffer.write(b"printed in between\n")
        facts(generation, seen("one"), finished())
    elif scenario == "exit":
        facts(generation, seen("before"))
        os._exit(int(details[0]) if details else 3)
    elif scenario == "segfault":
        facts(generation, seen("before"))
        os.kill(os.getpid(), signal.SIGSEGV)
    elif scenario == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif scenario == "hang":
        facts(generation, seen("before"))
        while True:
            time.sleep(60)
    elif scenario == "fork-and-finish":
        # The child keeps every pipe open, and would outlive the run.
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        facts(generation, seen(str(child.pid)), finished())
    elif scenario == "fork-and-die":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        facts(generation, seen(str(child.pid)))
        os.kill(os.getpid(), signal.SIGKILL)
    elif scenario == "linger":
        facts(generation, finished())
        send(id=request, result={})
        while True:
            time.sleep(60)
    elif scenario == "cut-off":
        sys.stdout.buffer.write(b"Content-Length: 1000\r\n\r\n{")
        sys.stdout.buffer.flush()
        os._exit(0)
    elif scenario == "refuse":
        send(id=request, error={"code": -32000, "message": "cannot run this"})
        sys.exit(0)
    elif scenario == "source":
        with open(program["filename"], encoding="utf-8") as file:
            facts(generation, seen(file.read().strip()), finished())
    elif scenario == "gates":
        for number, gate in enumerate(details):
            with open(gate) as pipe:  # until someone opens its other end
                pipe.read()
            facts(generation, seen(f"{generation}: after gate {number}"))
        facts(generation, finished())
    elif scenario == "depth":
        facts(generation, {"type": "ModulesLoaded", "filenames": [program["filename"]], "libraries": []})
        switches = params["switches"]
        how = [params["depth"], *filter(None, [switches["device"], switches["dry_run"] and "dry"])]
        facts(generation, seen(" ".join(how)))
        if params["cache"]:
            facts(generation, seen(f"with {params['patience']:g} s and {params['cache']}"))
        if params["depth"] == "kernels":
            code = {"compile_id": "0/0", "phase": "forward", "filename": "", "text": "", "kernels": []}
            facts(generation, {"type": "CodeGenerated", **code})
        for gate in details:
            with open(gate) as pipe:
                pipe.read()
        facts(generation, finished())
    elif scenario == "too-large":
        dry, device = params["switches"]["dry_run"], params["switches"]["device"]
        if not (dry or device):
            facts(generation, seen("It is too large."), finished("memory"))
            return
        facts(generation, {"type": "RanDry", "device": device, "unknown": ["Nobody knows."]})
        if params["depth"] == "kernels":
            stack = [{"type": "StackFrame", "filename": details[0], "row": 2, "function": "f"}]
            preview(generation, stack)
        facts(generation, finished())
    elif scenario == "fork-and-hang":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        facts(generation, seen(str(child.pid)))
        child.wait()
    elif scenario == "out-of-memory":
        about = {"error": "OutOfMemoryError", "message": "no more"}
        facts(generation, {"type": "ProgramRaised", **about, "stack": [], "text": "Traceback"})
        if params["depth"] == "recipes":
            failure = {"type": "Failure", "kind": "error", **about}
            facts(generation, tried("unmodified", failure), tried("dynamic shapes off", None))
            facts(generation, seen("It gets through."), tried("uncompiled", None))
            facts(generation, finished())
        facts(generation, finished("raised"))
    elif scenario in ("fails", "fails-in-capture"):
        stack = [{"type": "StackFrame", "filename": details[0], "row": 2, "function": "f"}]
        phase = "backend" if scenario == "fails" else "capture"
        about = {"compile_id": "0/0", "phase": phase, "error": "RuntimeError", "message": "boom"}
        frame = {"compile_id": "0/0", "function": "f", "filename": details[0], "row": 1}
        facts(
            generation,
            {"type": "FrameStarted", **frame},
            {"type": "CompileFailure", **about, "stack": stack},
            finished(),
        )
    elif scenario == "parent":
        facts(generation, seen(str(os.getppid())), finished())
    elif scenario == "daemon":
        # It leaves its session and its parent, as a daemon does.
        read, write = os.pipe()
        if os.fork() == 0:
            os.setsid()
            daemon = os.fork()
            if daemon:
                os.write(write, str(daemon).encode())
                os._exit(0)
            while True:
                time.sleep(60)
        os.wait()
        facts(generation, seen(os.read(read, 20).decode()), finished())
    elif scenario == "hog":
        hoard = []
        while True:
            hoard.append(bytearray(10_000_000))
    elif scenario == "ranks":
        # Each of the other words is the scenario of one rank.
        variables = dict(params["variables"])
        os.write(2, f"one\nfrom {variables['RANK']}".encode())
        about = [variables[name] for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_PORT")]
        facts(generation, seen(" ".join([*about, os.environ["OMP_NUM_THREADS"], str(os.getppid())])))
        play({**params, "program": {"args": [details[int(variables["RANK"])]]}}, request)
    elif scenario == "raised":
        about = {"error": "ValueError", "message": "boom", "stack": [], "text": "Traceback"}
        facts(generation, {"type": "ProgramRaised", **about}, {**finished("raised"), "exit_code": 1})
    elif scenario == "forget":
        pass


def serve(folder):
    faulthandler.enable(open(os.path.join(folder, "crash.log"), "w"))  # noqa: SIM115
    hello = receive()
    if os.environ.get("FAKE_START") == "no-torch":
        send(id=hello["id"], error={"code": -32000, "message": NO_TORCH})
        sys.exit(0)
    protocol = 99 if os.environ.get("FAKE_START") == "other-protocol" else hello["params"]["protocol"]
    about = {"protocol": protocol, "torch": "2.13.0", "python": "3.11.7", "pid": os.getpid()}
    send(id=hello["id"], result=about)
    request = receive()
    if request["method"] == "minify":
        minify(request["params"])
    else:
        play(request["params"], request["id"])
    send(id=request["id"], result={})


def serve_forks():
    sys.path.insert(0, str(Path(__file__).parents[3] / "compiler"))
    from fullgraph_compiler.worker import fork_server, session

    def serve_fork(folder, *, own_lifeline, stdin):  # noqa: ARG001
        serve(folder)
        os._exit(0)

    def warm(libraries, ahead, folder):  # noqa: ARG001
        missing = os.environ.get("FAKE_START") == "no-torch"
        return {"problem": NO_TORCH if missing else "", "unsafe": os.environ.get("FAKE_UNSAFE", "")}

    session.serve, fork_server._warm, fork_server.warm_up = serve_fork, warm, lambda: None
    if packages := os.environ.get("FAKE_PACKAGES"):
        fork_server._packages_stamp = lambda: os.stat(packages).st_mtime_ns
    fork_server.serve()


NO_TORCH = "this Python has no torch: install it"

if os.environ.get("FAKE_START") == "die":
    sys.exit("this is too old")
if sys.argv[1:] == ["--fork-server"]:
    serve_forks()
else:
    serve(os.environ["FULLGRAPH_RUN_FOLDER"])
