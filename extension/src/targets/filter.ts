import { l10n, type Memento, type QuickPickItem, window } from "vscode";
import { reply } from "../shared/messages";
import type { FindingItem } from "../protocol";

/** The names of the kinds that are shown, such as `graph breaks`. */
const KEY = "shownFindings";

/** The kinds of findings that the view of targets shows: all kinds, or the kinds that the user chose. */
export class FindingFilter {
  constructor(private readonly memory: Memento) {}

  /** Whether a finding is shown; `undefined` if all are. */
  get shows(): ((finding: FindingItem) => boolean) | undefined {
    const names = this.names;
    return names.length === 0
      ? undefined
      : (finding) => isProblem(finding) || names.includes(finding.kindName);
  }

  /** The view's message about the filter; empty if all findings are shown. */
  get message(): string {
    const names = this.names;
    return names.length === 0 ? "" : l10n.t("Filter: only {0}", names.join(", "));
  }

  /** Let the user choose among the kinds of these findings. */
  async choose(findings: readonly FindingItem[]): Promise<void> {
    const before = this.names;
    const offered = findings.filter((finding) => !isProblem(finding));
    const names = [...new Set([...before, ...offered.map(({ kindName }) => kindName)])];
    if (names.length === 0) {
      reply(l10n.t("There are no findings to filter: analyze a file first."));
      return;
    }
    const picks = names.toSorted().map((label): QuickPickItem => {
      const count = offered.filter(({ kindName }) => kindName === label).length;
      return { label, description: count.toLocaleString("en-US"), picked: before.includes(label) };
    });
    const picked = await window.showQuickPick(picks, {
      title: l10n.t("Fullgraph: Filter Findings"),
      placeHolder: l10n.t("Select the kinds to show, or none to show all"),
      canPickMany: true,
    });
    if (picked !== undefined) {
      await this.memory.update(
        KEY,
        picked.map(({ label }) => label),
      );
    }
  }

  private get names(): readonly string[] {
    return this.memory.get<readonly string[]>(KEY, []);
  }
}

/** A finding that keeps a target from running is always shown: it may be the only finding. */
function isProblem({ kind }: FindingItem): boolean {
  return kind === "target-error";
}
