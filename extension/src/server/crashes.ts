const MOST = 3;
const WITHIN = 3 * 60 * 1000;

/** The times of the server's crashes, to stop restarting a server that crashes again and again. */
export class Crashes {
  private times: number[] = [];

  /** Record a crash; return whether the server may be started again. */
  mayRestart(now: number): boolean {
    this.times = [...this.times.filter((time) => now - time < WITHIN), now];
    return this.times.length <= MOST;
  }

  /** Reset the count, since the user has asked for a restart. */
  forget(): void {
    this.times = [];
  }
}
