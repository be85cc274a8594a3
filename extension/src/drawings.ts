import { Worker } from "node:worker_threads";
import { l10n } from "vscode";
import type { PerformanceItem } from "./protocol";
import type { Drawing } from "./report/messages";

const PATIENCE = 30_000;

/** The drawings of a report's pictures, each made when somebody first wants it. */
export class Drawings {
  private readonly made = new Map<number, Promise<Drawing>>();

  /** `program` is the packed `drawingWorker.ts`. */
  constructor(
    private readonly report: PerformanceItem,
    private readonly program: string,
  ) {}

  get(picture: number): Promise<Drawing> {
    const made = this.made.get(picture) ?? this.draw(picture);
    this.made.set(picture, made);
    return made;
  }

  all(): Promise<Drawing[]> {
    return Promise.all(this.report.pictures.map((_, picture) => this.get(picture)));
  }

  private draw(picture: number): Promise<Drawing> {
    return new Promise((resolve) => {
      const worker = new Worker(this.program, { workerData: this.report.pictures[picture] });
      const finish = (drawing: Drawing) => {
        clearTimeout(timer);
        void worker.terminate();
        resolve(drawing);
      };
      const timer = setTimeout(() => {
        finish({ problem: l10n.t("This graph is too large to be drawn.") });
      }, PATIENCE);
      worker.once("message", finish);
      worker.once("error", ({ message }) => {
        finish({ problem: l10n.t("This graph could not be drawn: {0}", message) });
      });
    });
  }
}
