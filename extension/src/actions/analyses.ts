import {
  commands,
  l10n,
  type QuickPickItem,
  QuickPickItemKind,
  type Uri,
  window,
  workspace,
} from "vscode";
import { lastPython } from "../shared/lastPython";

export interface AnalysisPick extends QuickPickItem {
  /** The command that it stands for; a separator has none. */
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

/** The analyses by question, with the titles of their commands. Without a file, those that need none. */
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
    pick(
      "dryRun",
      l10n.t("Dry Run"),
      l10n.t("The same with tensors that have no data: for models of any size"),
    ),
    another,
    separator(l10n.t("speed")),
    pick(
      "measureSpeed",
      l10n.t("Why Is It Not Faster?"),
      l10n.t("Compiled calls beside uncompiled ones, what their time goes to, and why"),
    ),
    separator(l10n.t("generated code")),
    pick(
      "openKernels",
      l10n.t("Open Generated Kernels"),
      l10n.t("The Triton or C++ that TorchInductor writes, beside your lines"),
    ),
    pick(
      "previewKernels",
      l10n.t("Preview Kernels for…"),
      l10n.t("The Triton kernels for a GPU that this machine need not have"),
    ),
    pick(
      "openAssembly",
      l10n.t("Open Compiled Kernels (Assembly)"),
      l10n.t("What they are built to: PTX, SASS, LLVM IR or assembly"),
    ),
    pick(
      "openReport",
      l10n.t("Open Compile Report"),
      l10n.t("Compile time, graphs and kernels on a page that can be exported"),
    ),
    separator(l10n.t("recompilations and compile time")),
    pick(
      "profileRecompilations",
      l10n.t("Profile Recompilations"),
      l10n.t("Each recompilation, what changed before it, and what it cost"),
    ),
    pick(
      "findLateCompilations",
      l10n.t("Find Compilations After the Warm-up"),
      l10n.t("Calls that compile when everything should be compiled already"),
    ),
    pick(
      "measureCompileTimes",
      l10n.t("Why Is Compilation Slow?"),
      l10n.t("Cold and warm compiler caches compared, part by part of the compiler"),
    ),
    separator(l10n.t("failures and wrong results")),
    pick(
      "findStage",
      l10n.t("Which Stage Is at Fault?"),
      l10n.t("Eager, Dynamo, AOTAutograd, TorchInductor: the first that fails or differs"),
    ),
    pick(
      "minifyFailure",
      l10n.t("Minify This Failure"),
      l10n.t("A short program that fails in the same way"),
    ),
    pick(
      "tryRecipes",
      l10n.t("Try Workarounds for a Crash"),
      l10n.t("Turn off one part of the compiler at a time, also when memory runs out"),
    ),
    pick(
      "copyBugReport",
      l10n.t("Copy Bug Report"),
      l10n.t("The failure of the last run, in the form of PyTorch's issues"),
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
      l10n.t("Breakpoints in functions that are compiled otherwise"),
    ),
  ];
}

function pick(name: string, label: string, detail: string): AnalysisPick {
  return { label, detail, command: `fullgraph.${name}` };
}

function separator(label: string): AnalysisPick {
  return { label, kind: QuickPickItemKind.Separator };
}
