import type { Uri as RealUri } from "vscode";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PythonExtensions } from "./python";
import { keepingLog } from "../testing/log";
import { EventEmitter, extensions, folder, Uri, workspace } from "../testing/vscode";

const FOLDER = folder("/project");
const FILE = Uri.file("/project/toy.py") as unknown as RealUri;

/** The older Python extension, whose answer a test decides. */
class OldApi {
  readonly changed = new EventEmitter<undefined>();
  answer: () => Promise<string> = () => Promise.resolve("/old/python");
  asked = 0;

  readonly environments = {
    known: [{ executable: { uri: Uri.file("/old/python") } }, { executable: {} }],
    onDidChangeActiveEnvironmentPath: this.changed.event,
    getActiveEnvironmentPath: (scope: { path: string }) => ({ path: scope.path }),
    resolveEnvironment: async () => {
      this.asked += 1;
      return { executable: { uri: Uri.file(await this.answer()) } };
    },
  };
}

/** The newer one. */
function environmentsApi(python: string) {
  const { event } = new EventEmitter<undefined>();
  const environment = { execInfo: { run: { executable: python } } };
  return {
    getEnvironment: () => Promise.resolve(environment),
    getEnvironments: () => Promise.resolve([environment]),
    onDidChangeEnvironment: event,
  };
}

function install(id: string, api: unknown): void {
  extensions.installed.set(id, {
    isActive: false,
    exports: undefined,
    activate: () => Promise.resolve(api),
  });
}

beforeEach(() => {
  vi.useFakeTimers();
  workspace.workspaceFolders = [FOLDER];
});

afterEach(() => {
  vi.useRealTimers();
  workspace.workspaceFolders = undefined;
  extensions.installed.clear();
});

function setUp(): {
  python: PythonExtensions;
  events: { count: number };
  log: { lines: string[] };
} {
  const log = keepingLog();
  const python = new PythonExtensions(log);
  const events = { count: 0 };
  python.onDidChange(() => (events.count += 1));
  return { python, events, log };
}

test("without extensions there is no answer", async () => {
  expect(await setUp().python.interpreter(FILE)).toBeUndefined();
});

test("the newer extension is asked first", async () => {
  install("ms-python.vscode-python-envs", environmentsApi("/new/python"));
  install("ms-python.python", new OldApi());
  expect(await setUp().python.interpreter(FILE)).toBe("/new/python");
});

test("where the newer one is turned off, the older is asked", async () => {
  install("ms-python.vscode-python-envs", null);
  install("ms-python.python", new OldApi());
  expect(await setUp().python.interpreter(FILE)).toBe("/old/python");
});

test("a notebook is asked for by itself, and may have a Python that is not its folder's", async () => {
  const kernels = new Map([["/project/own.ipynb", "/kernel/python"]]);
  const python = (executable: string) => ({ execInfo: { run: { executable } } });
  install("ms-python.vscode-python-envs", {
    ...environmentsApi("/new/python"),
    getEnvironment: ({ path }: { path: string }) =>
      Promise.resolve(python(kernels.get(path) ?? "/new/python")),
  });
  const set = setUp();
  const notebook = (name: string) => Uri.file(`/project/${name}`) as unknown as RealUri;
  expect(await set.python.interpreter(notebook("own.ipynb"))).toBe("/kernel/python");
  expect(await set.python.isOfFolder("/kernel/python", notebook("own.ipynb"))).toBe(false);
  expect(await set.python.interpreter(notebook("other.ipynb"))).toBe("/new/python");
  expect(await set.python.isOfFolder("/new/python", notebook("other.ipynb"))).toBe(true);
});

test("what the extensions have found is known", async () => {
  expect(await setUp().python.known()).toEqual([]);
  install("ms-python.python", new OldApi());
  expect(await setUp().python.known()).toEqual(["/old/python"]);
  install("ms-python.vscode-python-envs", environmentsApi("/new/python"));
  expect(await setUp().python.known()).toEqual(["/new/python"]);
});

test("a list that never comes is not waited for", async () => {
  const api = { ...environmentsApi("/new"), getEnvironments: () => new Promise(() => undefined) };
  install("ms-python.vscode-python-envs", api);
  const known = setUp().python.known();
  await vi.advanceTimersByTimeAsync(2000);
  expect(await known).toEqual([]);
});

test("nothing in particular is not asked about", async () => {
  const api = new OldApi();
  install("ms-python.python", api);
  expect(await setUp().python.interpreter(undefined)).toBeUndefined();
  expect(api.asked).toBe(0);
});

test("an answer that never comes is not waited for, the second time not at all", async () => {
  const api = new OldApi();
  api.answer = () => new Promise(() => undefined);
  install("ms-python.python", api);
  const { python, events, log } = setUp();

  const first = python.interpreter(FILE);
  await vi.advanceTimersByTimeAsync(2000);
  expect(await first).toBeUndefined();
  expect(await python.interpreter(FILE)).toBeUndefined();
  expect(log.lines).toHaveLength(1);
  expect(events.count).toBe(0);
});

test("an answer that comes too late is a change", async () => {
  const api = new OldApi();
  api.answer = () => new Promise((resolve) => setTimeout(resolve, 3000, "/late/python"));
  install("ms-python.python", api);
  const { python, events } = setUp();

  const first = python.interpreter(FILE);
  await vi.advanceTimersByTimeAsync(2000);
  expect(await first).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1000);
  expect(events.count).toBe(1);
  expect(await python.interpreter(FILE)).toBe("/late/python");
});

test("only an answer that differs is a change", async () => {
  const api = new OldApi();
  install("ms-python.python", api);
  const { python, events } = setUp();
  await python.interpreter(FILE);

  for (let times = 0; times < 5; times++) {
    api.changed.fire(undefined);
  }
  await vi.advanceTimersByTimeAsync(0);
  expect(events.count).toBe(0);

  api.answer = () => Promise.resolve("/other/python");
  api.changed.fire(undefined);
  await vi.advanceTimersByTimeAsync(0);
  expect(events.count).toBe(1);
  expect(await python.interpreter(FILE)).toBe("/other/python");
});

test("of two questions the newer one's answer stays", async () => {
  const api = new OldApi();
  install("ms-python.python", api);
  const { python } = setUp();
  await python.interpreter(FILE);

  api.answer = () => new Promise((resolve) => setTimeout(resolve, 500, "/slow/python"));
  api.changed.fire(undefined);
  await vi.advanceTimersByTimeAsync(0);
  api.answer = () => Promise.resolve("/quick/python");
  api.changed.fire(undefined);
  await vi.advanceTimersByTimeAsync(500);
  expect(await python.interpreter(FILE)).toBe("/quick/python");
});

test("an extension that fails is one without an answer", async () => {
  const api = new OldApi();
  api.answer = () => Promise.reject(new Error("broken"));
  install("ms-python.python", api);
  const { python, log } = setUp();
  expect(await python.interpreter(FILE)).toBeUndefined();
  expect(log.lines[0]).toContain("broken");
});

test("an extension that is installed later is asked", async () => {
  const { python, events } = setUp();
  expect(await python.interpreter(FILE)).toBeUndefined();
  install("ms-python.python", new OldApi());
  extensions.changed.fire(undefined);
  await vi.advanceTimersByTimeAsync(0);
  expect(events.count).toBe(1);
  expect(await python.interpreter(FILE)).toBe("/old/python");
});
