import { expect, test } from "vitest";
import manifest from "../../package.json";
import texts from "../../package.nls.json";
import { registerCommands } from "./commands";
import * as protocol from "./protocol";
import { commands, shown } from "./testing/vscode";

const { commands: contributed, menus, keybindings, submenus } = manifest.contributes;
const MOST_IN_A_MENU = 7;

interface Entry {
  command?: string;
  submenu?: string;
  when?: string;
  group?: string;
}

/** The entries of all menus, those of the palette apart. */
const entries: Entry[] = Object.entries(menus).flatMap(([menu, own]) =>
  menu === "commandPalette" ? [] : (own as Entry[]),
);

/** The entries of the targets view that an item's menu shows, as VS Code's `when` says. */
function menuOf(viewItem: string, menu: Entry[] = menus["view/item/context"]): string[] {
  return menu
    .filter(({ when = "", group = "" }) => {
      const [, view, test = ""] = /^view == ([\w.]+) && viewItem (.*)$/.exec(when) ?? [];
      const [, pattern] = /^=~ \/(.*)\/$/.exec(test) ?? [];
      const holds =
        pattern === undefined ? test === `== ${viewItem}` : new RegExp(pattern).test(viewItem);
      return view === "fullgraph.targets" && holds && !group.startsWith("inline");
    })
    .map(({ command, submenu }) => command ?? submenu ?? "");
}

test("what the manifest offers is registered, and nothing else but what the server and lists call", () => {
  const nothing = {} as never;
  registerCommands(nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing);
  const { OPEN_ARTIFACT, OPEN_REPRO, SHOW_SOURCE, SHOW_TARGET } = protocol;
  const internal = [
    ...[OPEN_ARTIFACT, OPEN_REPRO, SHOW_SOURCE, SHOW_TARGET],
    "fullgraph.showResultsOfAll",
  ];
  expect([...commands.registered.keys()].toSorted()).toEqual(
    [...contributed.map(({ command }) => command), ...internal].toSorted(),
  );
});

test("a menu of an item that was listed anew says so", async () => {
  shown.length = 0;
  const handler = commands.registered.get("fullgraph.addToProject") as () => Promise<unknown>;
  await handler();
  expect(shown).toEqual(["The view has changed in the meantime: please choose again."]);
});

test("menus, keys and titles speak of what there is", () => {
  const ids = new Set(contributed.map(({ command }) => command));
  const named = [...entries, ...menus.commandPalette, ...keybindings] as Entry[];
  expect(named.filter(({ command }) => command !== undefined && !ids.has(command))).toEqual([]);
  const opened = new Set(entries.map(({ submenu }) => submenu));
  expect(submenus.filter(({ id }) => !opened.has(id) || !(id in menus))).toEqual([]);
  const keys = JSON.stringify(manifest).matchAll(/"%([\w.]+)%"/g);
  expect([...keys].map(([, key = ""]) => key).filter((key) => !(key in texts))).toEqual([]);
});

test("the palette has the commands that need no item of a view and are not among the analyses", () => {
  const hidden = new Map(menus.commandPalette.map(({ command, when }) => [command, when]));
  const shown = contributed
    .map(({ command }) => command)
    .filter((id) => hidden.get(id) !== "false");
  expect(shown.map((id) => id.replace("fullgraph.", ""))).toEqual([
    ...["analyzeFile", "analyze", "stopAll", "showResultsOf", "toggleRunOnSave"],
    ...["openTrace", "compareTraces", "openKernels", "openReport", "exportReport", "debugRepro"],
    ...["clearAll", "toggleGraphMarks", "pinLine", "unpinLine"],
    ...["selectInterpreter", "showOutput", "showProgramOutput", "restartServer"],
    ...["copyEnvironment", "openWalkthrough"],
  ]);
});

test.each(["toggleGraphMarks", "analyze", "openKernels", "openReport", "analyzeFile"])(
  "%s is in the palette wherever the focus is",
  (id) => {
    const limited = menus.commandPalette.map(({ command }) => command);
    expect(limited).not.toContain(`fullgraph.${id}`);
  },
);

test.each([
  "target.idle.new.byHand",
  "target.idle.new.onSave_found",
  "target.idle.ran.onSave_found",
  "target.idle.ranOut.onSave_found",
  "target.idle.ran.onSave",
  "target.idle.ran.ranks.onSave",
  "target.busy.ran.onSave",
  "trace.idle",
  "trace.busy",
  "layer.kernels",
  "finding",
  "finding.minifiable",
  "guard.origin",
  "artifact.changed",
  "rank",
])("the menu of %s has seven entries at most", (viewItem) => {
  const all = menuOf(viewItem);
  expect(all.length).toBeGreaterThan(0);
  expect(all.length).toBeLessThanOrEqual(MOST_IN_A_MENU);
  for (const { id } of submenus.filter((submenu) => all.includes(submenu.id))) {
    const inside = menuOf(viewItem, menus[id as keyof typeof menus]);
    expect(inside.length).toBeGreaterThan(1);
    expect(inside.length).toBeLessThanOrEqual(MOST_IN_A_MENU);
  }
});

test("the key is one that AltGr does not type on Windows", () => {
  expect(keybindings).toMatchObject([
    { key: "ctrl+alt+g", mac: "cmd+alt+g", win: "shift+alt+g", command: "fullgraph.analyzeFile" },
  ]);
});
