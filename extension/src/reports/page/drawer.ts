/** The program of a thread that draws graphs for a page without an extension: a large one takes seconds. */

import { draw } from "../drawing";
import type { PictureItem } from "../../protocol";

addEventListener("message", ({ data }: MessageEvent<PictureItem>) => {
  void draw(data).then(postMessage);
});
