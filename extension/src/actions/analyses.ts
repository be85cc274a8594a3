import {
  commands,
  l10n,
  type QuickPickItem,
  QuickPickItemKind,
  type Uri,
  window,
  workspace,
} from "vscode";
import { ANALYSES } from "../protocol";
import { lastPython } from "../shared/lastPython";

export interface AnalysisPick extends QuickPickItem {
  /** The command that the item runs; a separator has none. */
  command?: string;
}

/** Let the user choose among everything that can be asked about the last Python file. */
export async function chooseAnalysis(): Promise<void> {
  const uri = lastPython()?.document.uri;
  const title =
    uri === undefined
      ? l10n.t("Fullgraph: Analyze")
      : l10n.t("Fullgraph: Analyze {0}", workspace.asRelativePath(uri));
  const picked = await window.showQuickPick<AnalysisPick>(analysisPicks(uri), {
    title,
    placeHolder: l10n.t("What do you want to know?"),
    matchOnDetail: true,
  });
  if (picked?.command !== undefined) {
    await commands.executeCommand(picked.command);
  }
}

/** The analyses by question, with the titles of their commands; without a file, only those that need none. */
export function analysisPicks(uri: Uri | undefined): AnalysisPick[] {
  const another = pick(
    "selectTarget",
    l10n.t("Analyze Another Target…"),
    l10n.t("A script, test, example call or target of pyproject.toml, by name"),
  );
  if (uri === undefined) {
    return [another];
  }
  return [
    separator(l10n.t("graph breaks, guards, recompilations")),
    pick(
      "analyzeFile",
      l10n.t("Analyze This File"),
      l10n.t("Run it, and show what torch.compile did on its lines"),
    ),
    pick(
      "runWithArguments",
      l10n.t("Analyze with Arguments…"),
      l10n.t("The same, as a script with arguments that you type"),
    ),
    pick("analyzeTest", l10n.t("Analyze Test at Cursor"), l10n.t("The same, for one test")),
    ...analysesOf("graph breaks, guards, recompilations"),
    another,
    separator(l10n.t("speed")),
    ...analysesOf("speed"),
    separator(l10n.t("generated code")),
    ...analysesOf("generated code"),
    pick(
      "openReport",
      l10n.t("Open Compile Report"),
      l10n.t("Compile time, graphs and kernels on a page that can be exported"),
    ),
    separator(l10n.t("recompilations and compile time")),
    ...analysesOf("recompilations and compile time"),
    separator(l10n.t("failures and wrong results")),
    ...analysesOf("failures and wrong results"),
    pick(
      "copyBugReport",
      l10n.t("Copy Bug Report"),
      l10n.t("The failure of the last run, in the format of a PyTorch issue"),
    ),
    separator(l10n.t("debugger")),
    pick(
      "debugTarget",
      l10n.t("Debug This Target"),
      l10n.t("Breakpoints outside of compiled functions, and in generated code"),
    ),
    pick(
      "debugUncompiled",
      l10n.t("Debug This Target Uncompiled"),
      l10n.t("Breakpoints also in functions that are normally compiled"),
    ),
  ];
}

/** The analyses of the server's registry with a heading. */
function analysesOf(heading: string): AnalysisPick[] {
  return ANALYSES.filter(({ group }) => group === heading).map(({ client, title, question }) => ({
    label: title,
    detail: question,
    command: client,
  }));
}

function pick(name: string, label: string, detail: string): AnalysisPick {
  return { label, detail, command: `fullgraph.${name}` };
}

function separator(label: string): AnalysisPick {
  return { label, kind: QuickPickItemKind.Separator };
}
