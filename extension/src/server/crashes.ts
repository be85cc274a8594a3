const MOST = 3;
const WITHIN = 3 * 60 * 1000;

/** Remembers when the server died, so that one that dies again and again is left alone. */
export class Crashes {
  private times: number[] = [];

  /** Note one more. Whether the server may be started again. */
  mayRestart(now: number): boolean {
    this.times = [...this.times.filter((time) => now - time < WITHIN), now];
    return this.times.length <= MOST;
  }

  /** The user has asked for a new start. */
  forget(): void {
    this.times = [];
  }
}
