import { Worker } from "node:worker_threads";
import { l10n } from "vscode";
import type { PerformanceItem } from "../protocol";
import type { Drawing } from "./page/messages";

const PATIENCE = 30_000;

/** The drawings of a report's pictures, each made on its first request. */
export class Drawings {
  private readonly workers = new Set<Worker>();
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

  /** All drawings, one after the other: each one takes a whole processor and much memory. */
  async all(): Promise<Drawing[]> {
    const drawings: Drawing[] = [];
    for (const picture of this.report.pictures.keys()) {
      drawings.push(await this.get(picture));
    }
    return drawings;
  }

  /** Stop unfinished drawings. */
  dispose(): void {
    this.workers.forEach((worker) => void worker.terminate());
  }

  private draw(picture: number): Promise<Drawing> {
    return new Promise((resolve) => {
      const worker = new Worker(this.program, { workerData: this.report.pictures[picture] });
      this.workers.add(worker);
      const finish = (drawing: Drawing) => {
        clearTimeout(timer);
        this.workers.delete(worker);
        void worker.terminate();
        resolve(drawing);
      };
      const timer = setTimeout(() => {
        finish({ problem: l10n.t("This graph is too large to draw.") });
      }, PATIENCE);
      worker.once("message", finish);
      worker.once("error", ({ message }) => {
        finish({ problem: l10n.t("This graph could not be drawn: {0}", message) });
      });
    });
  }
}
