/** The drawings of a page without an extension, each made on its first request. */

import type { PictureItem } from "../../protocol";
import type { Drawing } from "./messages";

const PATIENCE = 30_000;

export class Drawings {
  private readonly made = new Map<number, Promise<Drawing>>();
  private readonly program: string;

  /** `program` is the packed `drawer.ts`. */
  constructor(
    private readonly pictures: readonly PictureItem[],
    program: string,
  ) {
    this.program = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
  }

  get(index: number): Promise<Drawing> {
    const made = this.made.get(index) ?? this.draw(this.pictures[index]);
    this.made.set(index, made);
    return made;
  }

  private draw(picture: PictureItem | undefined): Promise<Drawing> {
    return new Promise((resolve) => {
      const worker = new Worker(this.program);
      const finish = (drawing: Drawing) => {
        clearTimeout(timer);
        worker.terminate();
        resolve(drawing);
      };
      const timer = setTimeout(() => {
        finish({ problem: "This graph is too large to draw." });
      }, PATIENCE);
      worker.addEventListener("message", ({ data }: MessageEvent<Drawing>) => {
        finish(data);
      });
      worker.addEventListener("error", ({ message }) => {
        finish({ problem: `This graph could not be drawn: ${message}` });
      });
      worker.postMessage(picture);
    });
  }
}
