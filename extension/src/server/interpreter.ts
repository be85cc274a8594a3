import { execFile } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import type { LogOutputChannel, WorkspaceFolder } from "vscode";
import { interpreterSetting } from "./settings";

/** A Python that can run the server. */
export interface Python {
  path: string;
  version: string;
}

/** A program that may be a suitable Python, and where its path comes from. */
export interface Candidate {
  path: string;
  origin: string;
}

/** The result of running a program as Python: its version, or why it cannot be used. */
export type Probed = { version: string } | { problem: string };

const ENVIRONMENTS = [".venv", "venv", ".conda"];
const PROGRAM = process.platform === "win32" ? "Scripts/python.exe" : "bin/python";
const CONDA_PROGRAM = process.platform === "win32" ? "python.exe" : PROGRAM;
const OLDEST = [3, 10] as const;
const PATIENCE = 5000;

/** The first candidate that can run the server. The log has the reasons against the earlier candidates. */
export async function findPython(
  candidates: AsyncIterable<Candidate>,
  probe: (program: string) => Promise<Probed>,
  log: LogOutputChannel,
): Promise<Python | undefined> {
  for await (const { path: program, origin } of candidates) {
    const probed = await probe(program);
    if ("version" in probed) {
      log.info(`the server's Python is ${program} (${origin}), version ${probed.version}`);
      return { path: program, version: probed.version };
    }
    log.warn(`${program} (${origin}) cannot run the server: ${probed.problem}`);
  }
  return undefined;
}

/** Candidates for the server's Python, the most likely first. Lazy, since most are never needed. */
export async function* candidates(
  folders: readonly WorkspaceFolder[],
  active: () => Promise<string | undefined>,
): AsyncGenerator<Candidate> {
  const first = folders[0]?.uri;
  const setting = interpreterSetting(first);
  if (setting !== undefined) {
    yield { path: namedPython(setting, first?.fsPath), origin: "setting fullgraph.interpreter" };
  }
  const selected = await active();
  if (selected !== undefined) {
    yield { path: namedPython(selected, first?.fsPath), origin: "the Python extension" };
  }
  for (const folder of folders) {
    for (const program of environmentsIn(folder.uri.fsPath)) {
      yield { path: program, origin: `folder ${folder.name}` };
    }
  }
  for (const program of process.platform === "win32" ? ["python", "py"] : ["python3", "python"]) {
    yield { path: program, origin: "PATH" };
  }
}

/** The interpreters of the environments that lie in a folder. */
export function environmentsIn(folder: string): string[] {
  return ENVIRONMENTS.map((name) => pythonIn(path.join(folder, name))).filter(
    (program) => program !== undefined,
  );
}

/** The program that a setting names: a path, the folder of an environment, or a name on PATH. */
export function namedPython(name: string, folder: string | undefined): string {
  const home = /^~(?=$|[\\/])/;
  const expanded = name.replace(home, homedir());
  const absolute = folder === undefined ? expanded : path.resolve(folder, expanded);
  if (isFolder(absolute)) {
    return pythonIn(absolute) ?? absolute;
  }
  return /[\\/]/.test(expanded) ? absolute : expanded;
}

/** Run a program as an isolated Python, with a time limit, to get its version. */
export function probePython(program: string): Promise<Probed> {
  const script = "import sys; print('Python %d.%d.%d' % sys.version_info[:3])";
  return new Promise((resolve) => {
    execFile(
      program,
      ["-I", "-S", "-c", script],
      { timeout: PATIENCE, killSignal: "SIGKILL", windowsHide: true },
      (error, stdout) => {
        resolve(error ? { problem: error.message.trim() } : judged(stdout));
      },
    );
  });
}

/** Judge a program's output: the version of a Python that is new enough, or a problem. */
export function judged(output: string): Probed {
  const match = /^Python ((\d+)\.(\d+)\.\d+)\s*$/.exec(output);
  if (!match?.[1]) {
    return { problem: "it is not Python" };
  }
  const [major, minor] = [Number(match[2]), Number(match[3])];
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    return { problem: `it is Python ${match[1]}, and ${OLDEST.join(".")} is needed` };
  }
  return { version: match[1] };
}

function pythonIn(environment: string): string | undefined {
  return [PROGRAM, CONDA_PROGRAM]
    .map((name) => path.join(environment, name))
    .find((program) => existsSync(program));
}

function isFolder(name: string): boolean {
  return statSync(name, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
