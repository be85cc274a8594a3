import path from "node:path";
import {
  type CancellationToken,
  commands,
  type Disposable,
  EventEmitter,
  type ExtensionContext,
  l10n,
  workspace,
} from "vscode";
import { State } from "vscode-languageclient/node";
import { Client, type ClientContext } from "./client";
import { Crashes } from "./crashes";
import { candidates, findPython, probePython, type Python } from "./interpreter";
import {
  forget,
  reply,
  restartServer,
  selectInterpreter,
  showOutput,
  tell,
} from "../shared/messages";
import {
  OUTPUT,
  type OutputParams,
  STATUS,
  type StatusParams,
  TOOL,
  type ToolParams,
} from "../protocol";
import { type ServerState, unavailable } from "./state";

/** The language server: only this class starts, restarts and stops it. */
export class Server implements Disposable {
  private readonly changed = new EventEmitter<ServerState>();
  /** The server's state has changed. */
  readonly onDidChange = this.changed.event;
  private readonly targetChanged = new EventEmitter<StatusParams>();
  /** The state of a target has changed. */
  readonly onDidChangeTarget = this.targetChanged.event;
  private readonly printed = new EventEmitter<OutputParams>();
  /** A program has printed something. */
  readonly onDidPrint = this.printed.event;

  private current: ServerState = { kind: "starting" };
  private client: Client | undefined;
  private readonly crashes = new Crashes();
  private wanted = false;
  private working: Promise<void> | undefined;
  private disposed = false;

  constructor(
    private readonly extension: ExtensionContext,
    private readonly context: ClientContext,
  ) {}

  get state(): ServerState {
    return this.current;
  }

  /** Start or restart the server. Any number of calls while it is starting cause one more restart. */
  restart(): Promise<void> {
    this.wanted = true;
    this.working ??= this.work().finally(() => {
      this.working = undefined;
    });
    return this.working;
  }

  /** Start the server if it is down: a suitable Python may be available now. */
  async startIfDown(): Promise<void> {
    if (this.current.kind === "noPython" || this.current.kind === "failed") {
      await this.restart();
    }
  }

  /** Restart at the user's request, even after several crashes. */
  async restartByHand(): Promise<void> {
    if (this.current.kind === "restricted") {
      await this.available();
      return;
    }
    this.crashes.forget();
    forget();
    await this.restart();
  }

  /** Whether the server is ready, once it has started. If not, show the reason. */
  async available(): Promise<boolean> {
    await this.working;
    if (this.current.kind === "ready") {
      return true;
    }
    const [message, ...actions] = unavailable(this.current);
    reply(message, ...actions);
    return false;
  }

  /** Send a request. The answer is `undefined` if the server is down or fails. */
  async request<Answer>(method: string, params: object): Promise<Answer | undefined> {
    if (this.client?.isRunning() !== true) {
      return undefined;
    }
    try {
      return (await this.client.sendRequest<Answer | null>(method, params)) ?? undefined;
    } catch (error) {
      this.context.log.warn(`${method} failed:`, error);
      return undefined;
    }
  }

  /** Call a tool for agents. Throws an error with the reason, as a sentence, if there is no answer. */
  async tool(params: ToolParams, token: CancellationToken): Promise<unknown> {
    await this.working;
    if (this.client?.isRunning() !== true) {
      throw new Error(unavailable(this.current)[0]);
    }
    return this.client.sendRequest<unknown>(TOOL, params, token);
  }

  /** Run one of the server's commands, as a code lens does. Its errors are shown to the user. */
  async command(command: string, ...args: unknown[]): Promise<unknown> {
    return (await this.available()) ? commands.executeCommand(command, ...args) : undefined;
  }

  async dispose(): Promise<void> {
    this.disposed = true;
    await this.stop();
  }

  private async work(): Promise<void> {
    while (this.wanted && !this.disposed) {
      this.wanted = false;
      await this.stop();
      if (workspace.isTrusted) {
        await this.start();
      } else {
        this.become({ kind: "restricted" });
      }
    }
  }

  private async start(): Promise<void> {
    this.become({ kind: "starting" });
    const { log, python: extensions } = this.context;
    const folders = workspace.workspaceFolders ?? [];
    const programs = candidates(folders, () => extensions.interpreter(folders[0]?.uri));
    const python = await findPython(programs, probePython, log);
    if (this.disposed) {
      return;
    }
    if (python === undefined) {
      const message = l10n.t(
        "Fullgraph needs Python 3.10 or newer and found none: select an interpreter.",
      );
      this.become({ kind: "noPython", message });
      tell(message, selectInterpreter(), showOutput());
      return;
    }
    await this.startWith(python);
  }

  private async startWith(python: Python): Promise<void> {
    const cwd = this.extension.extensionPath;
    const args = ["-I", "-S", path.join(cwd, "server", "start.py")];
    this.context.log.info(`starting the server in ${cwd}: ${[python.path, ...args].join(" ")}`);
    const client = new Client({ command: python.path, args, options: { cwd } }, this.context);
    client.onNotification(STATUS, (params: StatusParams) => {
      this.targetChanged.fire(params);
    });
    client.onNotification(OUTPUT, (params: OutputParams) => {
      this.printed.fire(params);
    });
    client.onDidChangeState(({ oldState, newState }) => {
      if (oldState === State.Running && newState === State.Stopped && this.client === client) {
        void this.died();
      }
    });
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.context.log.error("the server did not start:", error);
      this.client = undefined;
      this.fail(
        l10n.t("Fullgraph's server did not start with {0}. The output says why.", python.path),
      );
      return;
    }
    if (this.disposed) {
      await quiet(client.stop());
      return;
    }
    forget();
    this.become({ kind: "ready", python });
  }

  /** Handle the end of a server that was ready: the client has cleared its findings. */
  private async died(): Promise<void> {
    this.client = undefined;
    if (this.disposed) {
      return;
    }
    if (this.crashes.mayRestart(Date.now())) {
      this.context.log.warn("the server died: it is started again");
      await this.restart();
    } else {
      this.fail(
        l10n.t("Fullgraph's server died several times within a few minutes. The output says why."),
      );
    }
  }

  private async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client?.state === State.Starting) {
      // A client that is starting cannot be stopped, but it fails without its process.
      client.serverProcess?.kill();
    } else if (client !== undefined) {
      await quiet(client.stop());
    }
  }

  private fail(message: string): void {
    if (!this.disposed) {
      this.become({ kind: "failed", message });
      tell(message, showOutput(), restartServer());
    }
  }

  private become(state: ServerState): void {
    this.current = state;
    this.changed.fire(state);
  }
}

/** The client logs what goes wrong. */
async function quiet(stopping: Promise<void>): Promise<void> {
  await stopping.catch(() => undefined);
}
