import { beforeEach, expect, test } from "vitest";
import manifest from "../../../package.json";
import texts from "../../../package.nls.json";
import { type AnalysisPick, analysisPicks, chooseAnalysis } from "./analyses";
import { dialogs, executed, Uri, window } from "../testing/vscode";

const TOY = Uri.file("/project/toy.py");

beforeEach(() => {
  executed.length = dialogs.offered.length = dialogs.taken.length = 0;
});

function offered(picks: readonly AnalysisPick[]) {
  return picks.filter(({ command }) => command !== undefined);
}

test("without a file there are the targets that have a name", async () => {
  window.activeTextEditor = undefined;
  await chooseAnalysis();
  expect(dialogs.offered).toEqual([["Analyze Another Target…"]]);
  expect(executed).toEqual([]);
});

test("what is chosen is done", async () => {
  window.activeTextEditor = { document: { languageId: "python", uri: TOY } };
  dialogs.taken.push("Profile Recompilations");
  await chooseAnalysis();
  expect(executed).toEqual([["fullgraph.profileRecompilations"]]);
});

test("each analysis has the name of its command, and says in a line what it tells", () => {
  const titles = texts as Record<string, string>;
  for (const { command = "", label, detail = "" } of offered(analysisPicks(TOY as never))) {
    const contributed = manifest.contributes.commands.find((each) => each.command === command);
    expect(titles[contributed?.title.replaceAll("%", "") ?? ""]).toBe(label);
    expect(detail).toMatch(/^[A-Z].{10,78}[^.]$/);
  }
});

test("commands that the palette has not, and that need no item of a view, can be chosen here", () => {
  const chosen = new Set(offered(analysisPicks(TOY as never)).map(({ command }) => command));
  const hidden = manifest.contributes.menus.commandPalette
    .filter(({ when }) => when === "false")
    .map(({ command }) => command);
  const ofItems =
    /\.(analyzeTarget|stopTarget|clearTarget|showResultsOnly|runOnSaveO\w+|readTraceAgain|closeTrace|showRank|compareTrace|mapTracePath|raiseTargetLimit|addToProject|compareWithPrevious|goToOrigin|fixFinding|filterFindings|refreshTargets|showExplanation)$/;
  expect(hidden.filter((command) => !ofItems.test(command) && !chosen.has(command))).toEqual([]);
});
