// The program of a thread that makes one drawing: a large graph takes seconds and would block other extensions.

import { parentPort, workerData } from "node:worker_threads";
import { draw } from "./drawing";
import type { PictureItem } from "../protocol";

void draw(workerData as PictureItem).then((drawing) => parentPort?.postMessage(drawing));
