import type { PythonEnvironmentApi } from "@vscode/python-environments";
import type { PythonExtension } from "@vscode/python-extension";
import {
  type Disposable,
  EventEmitter,
  extensions,
  type LogOutputChannel,
  type Uri,
  workspace,
} from "vscode";
import { isNotebook } from "../shared/uris";

const ENVIRONMENTS_ID = "ms-python.vscode-python-envs";
const PYTHON_ID = "ms-python.python";
const PATIENCE = 2000;

/** One of the two extensions that select a Python for a folder. */
interface Source {
  interpreter(folder: Uri): Promise<string | undefined>;
  /** The interpreters that the extension has found on this machine. */
  known(): Promise<(string | undefined)[]>;
  onDidChange(listener: () => void): Disposable;
}

/** A folder and its interpreter. */
interface FolderAnswer {
  readonly folder: Uri;
  first: Promise<void>;
  answer: string | undefined;
  /** The number of requests: only the answer to the newest one counts. */
  asked: number;
  /** Whether the first answer has arrived or timed out. */
  settled: boolean;
}

/**
 * The interpreters that the Python extensions select. Both extensions are optional. Both can answer late or
 * never, or report a change without one: so there is a time-out, and only a different answer is an event.
 */
export class PythonExtensions implements Disposable {
  private readonly changed = new EventEmitter<void>();
  readonly onDidChange = this.changed.event;

  private readonly disposables: { dispose(): unknown }[] = [this.changed];
  private readonly folders = new Map<string, FolderAnswer>();
  private source: Promise<Source | undefined> | undefined;

  constructor(
    private readonly log: LogOutputChannel,
    private readonly patience = PATIENCE,
  ) {
    this.disposables.push(
      extensions.onDidChange(() => {
        this.source = undefined;
        this.askAgain();
      }),
    );
  }

  /** The interpreter that is selected for a file or folder. */
  async interpreter(scope: Uri | undefined): Promise<string | undefined> {
    if (scope === undefined) {
      // Without a folder, they search the whole machine first.
      return undefined;
    }
    // A notebook may have its own kernel.
    const folder = isNotebook(scope) ? scope : (workspace.getWorkspaceFolder(scope)?.uri ?? scope);
    const current = this.folders.get(folder.toString()) ?? this.add(folder);
    await current.first;
    return current.answer;
  }

  /** Whether this is the interpreter of a notebook's folder, which may differ from its kernel's. */
  async isOfFolder(interpreter: string, notebook: Uri): Promise<boolean> {
    const folder = workspace.getWorkspaceFolder(notebook)?.uri;
    return folder !== undefined && interpreter === (await this.interpreter(folder));
  }

  /** The interpreters that the extensions have found on this machine. */
  async known(): Promise<string[]> {
    let known: (string | undefined)[] = [];
    const asking = this.asked((source) => source.known());
    await this.withinPatience(asking.then((answer) => void (known = answer ?? [])));
    return known.filter((path) => path !== undefined);
  }

  dispose(): void {
    this.disposables.forEach((disposable) => disposable.dispose());
  }

  private add(folder: Uri): FolderAnswer {
    const added: FolderAnswer = {
      folder,
      first: Promise.resolve(),
      answer: undefined,
      asked: 0,
      settled: false,
    };
    this.folders.set(folder.toString(), added);
    added.first = this.withinPatience(this.ask(added)).finally(() => {
      added.settled = true;
    });
    return added;
  }

  private async ask(current: FolderAnswer): Promise<void> {
    const turn = ++current.asked;
    const answer = await this.asked((source) => source.interpreter(current.folder));
    if (turn !== current.asked || answer === current.answer) {
      return;
    }
    current.answer = answer;
    if (current.settled) {
      this.changed.fire();
    }
  }

  private async asked<T>(question: (source: Source) => Promise<T>): Promise<T | undefined> {
    try {
      this.source ??= this.findSource();
      const source = await this.source;
      return source && (await question(source));
    } catch (error) {
      this.log.warn("the Python extension failed to answer about interpreters:", error);
      return undefined;
    }
  }

  private async withinPatience(question: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const givingUp = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.log.warn("the Python extension does not answer: going on without it until it does");
        resolve();
      }, this.patience);
    });
    await Promise.race([question, givingUp]);
    clearTimeout(timer);
  }

  private askAgain(): void {
    for (const current of this.folders.values()) {
      void this.ask(current);
    }
  }

  private async findSource(): Promise<Source | undefined> {
    // The newer extension exports nothing if the setting python.useEnvironmentsExtension turns it off.
    const environments = await exportsOf<PythonEnvironmentApi>(ENVIRONMENTS_ID);
    const python = environments ? undefined : await exportsOf<PythonExtension>(PYTHON_ID);
    const source = environments ? environmentsSource(environments) : python && pythonSource(python);
    if (source) {
      this.disposables.push(
        source.onDidChange(() => {
          this.askAgain();
        }),
      );
    }
    return source;
  }
}

/** The Python extension's command to select an interpreter. */
export function interpreterPicker(): string | undefined {
  return extensions.getExtension(PYTHON_ID) ? "python.setInterpreter" : undefined;
}

async function exportsOf<T>(id: string): Promise<T | undefined> {
  const extension = extensions.getExtension<T | null>(id);
  if (!extension) {
    return undefined;
  }
  return (extension.isActive ? extension.exports : await extension.activate()) ?? undefined;
}

function environmentsSource(api: PythonEnvironmentApi): Source {
  return {
    async interpreter(folder) {
      const environment = await api.getEnvironment(folder);
      return environment?.execInfo.run.executable;
    },
    async known() {
      const environments = await api.getEnvironments("all");
      return environments.map(({ execInfo }) => execInfo.run.executable);
    },
    onDidChange: (listener) => api.onDidChangeEnvironment(listener),
  };
}

function pythonSource(api: PythonExtension): Source {
  return {
    async interpreter(folder) {
      const path = api.environments.getActiveEnvironmentPath(folder);
      const environment = await api.environments.resolveEnvironment(path);
      return environment?.executable.uri?.fsPath;
    },
    known: () =>
      Promise.resolve(api.environments.known.map(({ executable }) => executable.uri?.fsPath)),
    onDidChange: (listener) => api.environments.onDidChangeActiveEnvironmentPath(listener),
  };
}
