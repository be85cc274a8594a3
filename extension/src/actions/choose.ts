import {
  l10n,
  type Memento,
  type QuickPickItem,
  QuickPickItemKind,
  SnippetString,
  type TextEditor,
  Uri,
  window,
  workspace,
} from "vscode";
import { SUGGESTED_TARGETS, type SuggestedTargets, type TargetItem } from "../protocol";
import type { Server } from "../server/server";
import { stateSummary } from "../shared/words";

/** The user's choice for a file: a target to run, or nothing to run. */
type Choice = string | undefined;

interface ChoicePick extends QuickPickItem {
  take?: () => Choice | Promise<Choice>;
}

/** The prefix of the id of a target from launch.json, which also has the target's arguments. */
const LAUNCH = "launch:";
/** The last arguments of each script, by path. */
const KEY = "scriptArguments";
const DEFINITION = /^(?:async\s+def|def|class)\s+(\w+)/;

/** The target to run for a file. If there are several candidates, the user chooses. */
export async function targetOfFile(server: Server, memory: Memento, uri: Uri): Promise<Choice> {
  const textDocument = { uri: uri.toString() };
  const suggested = await server.request<SuggestedTargets>(SUGGESTED_TARGETS, { textDocument });
  const [first] = suggested?.targets ?? [];
  if (suggested === undefined || suggested.sure) {
    return first?.id ?? uri.toString();
  }
  const name = workspace.asRelativePath(uri);
  const picked = await window.showQuickPick<ChoicePick>(
    choicePicks(suggested.targets, uri, memory),
    {
      title: l10n.t("Fullgraph: Analyze {0}", name),
      placeHolder: suggested.targets.some((target) => target.configured || isOf(uri, target))
        ? l10n.t("The project has several targets for this file")
        : l10n.t("It has no main guard, test or example call: choose what runs its code"),
    },
  );
  return await picked?.take?.();
}

/** Programs that can be run for a file, the file itself, and a way to call its code. */
export function choicePicks(
  targets: readonly TargetItem[],
  uri: Uri,
  memory: Memento,
): ChoicePick[] {
  const name = workspace.asRelativePath(uri);
  const programs = targets.flatMap((target): ChoicePick[] => [
    {
      label: target.label,
      description: target.state === undefined ? "" : stateSummary(target.state),
      take: () => target.id,
    },
    ...(target.kind === "script" && !target.configured && !target.id.startsWith(LAUNCH)
      ? [withArguments(target.label, target.id, memory)]
      : []),
  ]);
  const path = uri.fsPath;
  const asScript = l10n.t("$(play) Run {0} as a script", name);
  return [
    ...programs,
    { label: name, kind: QuickPickItemKind.Separator },
    ...(targets.some(({ id }) => id === path)
      ? []
      : [{ label: asScript, take: () => path }, withArguments(asScript, path, memory)]),
    { label: l10n.t("$(edit) Add an example call"), take: () => addExampleCall(uri) },
  ];
}

function isOf(uri: Uri, target: TargetItem): boolean {
  return Uri.parse(target.uri).fsPath === uri.fsPath;
}

function withArguments(label: string, path: string, memory: Memento): ChoicePick {
  return {
    label: l10n.t("{0} with arguments…", label),
    description: argumentsOf(memory, path),
    take: () => askArguments(memory, path),
  };
}

/** The target of a script with arguments that the user types. The next prompt offers them again. */
export async function askArguments(memory: Memento, path: string): Promise<Choice> {
  const typed = await window.showInputBox({
    title: l10n.t("Fullgraph: Arguments of {0}", workspace.asRelativePath(path)),
    placeHolder: "--device cpu --steps 2",
    value: argumentsOf(memory, path),
    ignoreFocusOut: true,
  });
  if (typed === undefined) {
    return undefined;
  }
  const kept = memory.get<Record<string, string>>(KEY, {});
  await memory.update(KEY, { ...kept, [path]: typed.trim() });
  return typed.trim() === "" ? path : `${path} -- ${typed.trim()}`;
}

function argumentsOf(memory: Memento, path: string): string {
  return memory.get<Record<string, string>>(KEY, {})[path] ?? "";
}

/** Insert an example call above the definition at the cursor, with placeholders for its arguments. */
async function addExampleCall(uri: Uri): Promise<undefined> {
  const editor = await window.showTextDocument(uri);
  const definition = definitionAt(editor);
  if (definition) {
    const snippet = new SnippetString(`# fullgraph: ${definition.name}(`)
      .appendPlaceholder(definition.isClass ? "64" : "f32[8, 16]")
      .appendText(definition.isClass ? ")(" : ")\n");
    if (definition.isClass) {
      snippet.appendPlaceholder("f32[8, 64]").appendText(")\n");
    }
    await editor.insertSnippet(snippet, definition.start);
  }
  return undefined;
}

/** The last top-level definition at or above the cursor, else the first one below it. */
function definitionAt({ document, selection }: TextEditor) {
  const rows = Array.from({ length: document.lineCount }, (_, row) => row);
  const found = rows.filter((row) => DEFINITION.test(document.lineAt(row).text));
  const row =
    found.findLast((each) => each <= selection.active.line) ??
    found.find((each) => each > selection.active.line);
  if (row === undefined) {
    return undefined;
  }
  const decorated = rows.slice(0, row).toReversed();
  const above = decorated.findIndex((each) => !document.lineAt(each).text.startsWith("@"));
  const { text } = document.lineAt(row);
  return {
    name: DEFINITION.exec(text)?.[1] ?? "",
    isClass: text.startsWith("class"),
    start: document.lineAt(above === -1 ? row : row - above).range.start,
  };
}
