import { type Memento, Uri, workspace } from "vscode";

const KEY = "recentTraces";
const MOST = 10;

/** The paths of traces that were opened in this workspace, the last one first. */
export class RecentTraces {
  constructor(private readonly memory: Memento) {}

  /** The traces that still exist. */
  async all(): Promise<string[]> {
    const paths = this.stored();
    const existing = await Promise.all(paths.map(exists));
    return paths.filter((_, index) => existing[index]);
  }

  async add(path: string): Promise<void> {
    const others = this.stored().filter((other) => other !== path);
    await this.memory.update(KEY, [path, ...others].slice(0, MOST));
  }

  private stored(): string[] {
    return this.memory.get<string[]>(KEY, []);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await workspace.fs.stat(Uri.file(path));
    return true;
  } catch {
    return false;
  }
}
