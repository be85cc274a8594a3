import type { Memento } from "vscode";

/** The storage of a workspace, for one test. */
export function keepingMemory(): Memento {
  const kept = new Map<string, unknown>();
  return {
    keys: () => [...kept.keys()],
    get: (key: string, without?: unknown) => kept.get(key) ?? without,
    update(key: string, value: unknown) {
      kept.set(key, value);
      return Promise.resolve();
    },
  } as Memento;
}
