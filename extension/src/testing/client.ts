import { EventEmitter } from "./vscode";

export const State = { Stopped: 1, Running: 2, Starting: 3 };

/** Every client that was made. */
export const clients: Client[] = [];

/** How clients start, which tests change. */
export const behaviour = { start: () => Promise.resolve() };

/** A language client without a server. */
export class Client {
  state = State.Stopped;
  stopped = 0;
  killed = 0;
  readonly serverProcess = { kill: () => (this.killed += 1) };
  private readonly changed = new EventEmitter<{ oldState: number; newState: number }>();
  readonly onDidChangeState = this.changed.event;
  readonly onNotification = () => undefined;

  constructor() {
    clients.push(this);
  }

  async start(): Promise<void> {
    this.become(State.Starting);
    await behaviour.start();
    this.become(State.Running);
  }

  stop(): Promise<void> {
    this.stopped += 1;
    this.become(State.Stopped);
    return Promise.resolve();
  }

  /** The client's reaction to the end of its server. */
  die(): void {
    this.become(State.Stopped);
  }

  isRunning(): boolean {
    return this.state === State.Running;
  }

  private become(newState: number): void {
    const oldState = this.state;
    this.state = newState;
    this.changed.fire({ oldState, newState });
  }
}
