import { type Disposable, window } from "vscode";
import type { OutputParams } from "../protocol";
import type { Server } from "./server";

/** The channel for the output of programs. Each run begins with a line with the target's name and the time. */
export class ProgramOutput implements Disposable {
  private readonly channel = window.createOutputChannel("Fullgraph Programs");
  private readonly disposables: { dispose(): unknown }[];
  /** The run that has printed last: several can print at the same time. */
  private run = "";
  private last = "\n";

  constructor(server: Server) {
    this.disposables = [
      this.channel,
      server.onDidPrint((params) => {
        this.append(params);
      }),
      // A new server numbers its runs from the start.
      server.onDidChange(() => (this.run = "")),
    ];
  }

  show(): void {
    this.channel.show(true);
  }

  dispose(): void {
    this.disposables.forEach((disposable) => disposable.dispose());
  }

  private append({ target, label, generation, text }: OutputParams): void {
    const run = `${generation} ${target}`;
    if (run !== this.run) {
      this.run = run;
      const time = new Date().toLocaleTimeString();
      this.channel.append(`${this.last === "\n" ? "" : "\n"}── ${label} · ${time} ──\n`);
    }
    this.channel.append(text);
    this.last = text.at(-1) ?? this.last;
  }
}
