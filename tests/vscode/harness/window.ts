/** A window of VS Code, seen and used as a person does: by keys, clicks, and what the page shows. */

import type { Locator, Page } from "playwright-core";
import { EDITOR, place, squiggles, type Point, type Squiggle } from "./text.ts";

/** Milliseconds until something that is waited for does not come. */
export const PATIENCE = 30_000;

/** Keys for the tests: one closes and clears everything, one looks for targets again. */
export const KEYS = [
  { key: "ctrl+shift+alt+f8", command: "fullgraph.refreshTargets" },
  {
    key: "ctrl+shift+alt+f9",
    command: "runCommands",
    args: {
      commands: [
        "workbench.action.closeAllEditors",
        "workbench.action.clearEditorHistoryWithoutConfirm",
        "workbench.action.closePanel",
        "workbench.view.explorer",
        "workbench.debug.viewlet.action.removeAllBreakpoints",
        "fullgraph.stopAll",
        "fullgraph.clearAll",
        "notifications.clearAll",
      ],
    },
  },
];

export interface TreeRow {
  readonly level: number;
  readonly label: string;
  readonly description: string;
}

export class Window {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** Waits until the workbench is there. */
  async ready(): Promise<void> {
    await this.page.locator(".monaco-workbench .part.statusbar").waitFor();
  }

  /**
   * Waits for the folders of a workspace of several. VS Code starts without them now and then, and stays so
   * ("No Folder Opened" below the workspace's name): then the page is loaded again, as a person would do.
   */
  async hasFolders(): Promise<void> {
    const folder = this.page.locator(".explorer-folders-view .monaco-list-row").first();
    await this.patiently(async (timeout) => {
      try {
        await folder.waitFor({ timeout });
      } catch (error) {
        await this.page.reload();
        await this.ready();
        throw error;
      }
    });
  }

  /** Closes and clears everything: editors, dirty ones too, results, messages and breakpoints. */
  async clear(): Promise<void> {
    const unsaved = this.page.getByRole("button", { name: "Don't Save" });
    const left = this.page.locator(".tab, .notification-list-item, .quick-input-widget:visible");
    await this.page.mouse.move(0, 0);
    await this.patiently(async (timeout) => {
      await this.page.keyboard.press("Escape");
      await this.page.keyboard.press("Control+Shift+Alt+F9");
      await unsaved
        .or(this.page.locator(".editor-group-container.empty"))
        .first()
        .waitFor({ timeout });
      if (await unsaved.isVisible()) {
        await unsaved.click({ timeout });
      }
      await left.first().waitFor({ state: "detached", timeout });
    });
  }

  async refreshTargets(): Promise<void> {
    await this.page.keyboard.press("Control+Shift+Alt+F8");
  }

  /** Runs a command of the palette, named as the palette shows it. */
  async palette(command: string): Promise<void> {
    await this.patiently(async (timeout) => {
      // The palette shows what there was when it was opened: a command that is not there yet comes anew.
      await this.page.keyboard.press("Escape");
      await this.page.keyboard.press("F1");
      await this.quickInput.locator("input").first().fill(`>${command}`, { timeout });
      await this.takeQuickRow(command, timeout);
    });
  }

  /** The commands that the palette shows for a query. */
  async commands(query: string): Promise<string[]> {
    await this.page.keyboard.press("F1");
    await this.quickInput.locator("input").first().fill(`>${query}`);
    await this.quickRows.first().waitFor();
    const labels = await this.quickRows.locator(".label-name").allInnerTexts();
    await this.page.keyboard.press("Escape");
    return labels.map(plain);
  }

  /** Opens a file of the workspace by its name. */
  async openFile(name: string): Promise<void> {
    await this.patiently(async (timeout) => {
      await this.page.keyboard.press("Escape");
      await this.page.keyboard.press("Control+p");
      await this.quickInput.locator("input").first().fill(name, { timeout });
      await this.takeQuickRow(name, timeout);
      await this.shows(name, timeout);
    });
  }

  /** Waits for a file that is about to be shown. */
  async shows(name: string, timeout = PATIENCE): Promise<void> {
    const tab = this.page.locator(
      `.editor-group-container.active .tab.active[data-resource-name="${name}"]`,
    );
    await tab.waitFor({ timeout });
    await this.editor.locator(".view-line").first().waitFor({ timeout });
  }

  /** Takes a row of the pick that is open, or about to open. */
  async choose(label: string): Promise<void> {
    await this.takeQuickRow(label, PATIENCE);
  }

  /** Gives the dialog for files that is open, or about to open, a path: of a folder with a slash at its end. */
  async enterPath(path: string, button: string): Promise<void> {
    // It shows the folder that it begins with, and only then takes what is typed.
    await this.quickRow("..").waitFor();
    const input = this.quickInput.locator("input").first();
    await this.patiently(async (timeout) => {
      await input.fill(path, { timeout });
      await this.quickInput.getByRole("button", { name: button }).click({ timeout });
      await input.waitFor({ state: "hidden", timeout });
    });
  }

  /** Takes a row by keys: a list that draws its rows anew, as when more commands come, loses a click. */
  private async takeQuickRow(label: string, timeout: number): Promise<void> {
    const row = this.quickRow(label).first();
    await row.waitFor({ timeout });
    await this.quickInput.locator("input:focus").waitFor({ timeout });
    for (let left = await this.quickRows.count(); left > 0 && !(await isFocused(row)); left -= 1) {
      await this.page.keyboard.press("ArrowDown");
    }
    await this.page.keyboard.press("Enter");
  }

  get quickInput(): Locator {
    return this.page.locator(".quick-input-widget:visible");
  }

  get quickRows(): Locator {
    return this.quickInput.locator(".quick-input-list .monaco-list-row");
  }

  quickRow(label: string): Locator {
    return this.quickRows.filter({
      has: this.page.locator(".label-name").getByText(label, { exact: true }),
    });
  }

  get editor(): Locator {
    return this.page.locator(EDITOR);
  }

  async squiggles(): Promise<Squiggle[]> {
    return await squiggles(this.page);
  }

  /** The code lenses, from top to bottom, as one text each. */
  async lenses(): Promise<string[]> {
    const lenses = await this.editor
      .locator(".codelens-decoration")
      .evaluateAll((elements) =>
        (elements as HTMLElement[])
          .map((element) => ({ top: element.getBoundingClientRect().top, text: element.innerText }))
          .sort((left, right) => left.top - right.top),
      );
    return lenses.map(({ text }) => plain(text));
  }

  async clickLens(text: string): Promise<void> {
    await this.editor.locator(".codelens-decoration a", { hasText: text }).first().click();
  }

  /** What the hover over a text of the editor says. */
  async hover(text: string): Promise<string> {
    const content = this.page.locator(".monaco-hover:visible").first();
    await this.patiently(async (timeout) => {
      // Away first: a hover that is open stays. Again if none comes: a change of the editor hides it.
      await this.page.mouse.move(0, 0);
      await this.at(text, async ({ x, y }) => {
        await this.page.mouse.move(x, y, { steps: 3 });
      });
      await content.waitFor({ timeout });
    });
    return plain(await content.innerText());
  }

  /** Puts the cursor into a text of the editor. */
  async clickText(text: string): Promise<void> {
    // A hover that is open may cover it, and goes once the mouse is elsewhere.
    await this.page.mouse.move(0, 0);
    await this.page.locator(".monaco-hover:visible").first().waitFor({ state: "hidden" });
    await this.patiently(() =>
      this.at(text, async ({ x, y }) => {
        await this.page.mouse.click(x, y);
      }),
    );
  }

  /** Does something, again if need be, until something is shown: what is redrawn can lose a click. */
  async until(shown: Locator, act: () => Promise<void>): Promise<void> {
    await this.patiently(async (timeout) => {
      await act();
      await shown.first().waitFor({ timeout });
    });
  }

  /** Tries something that is given some time until it works, or there is no patience left. */
  private async patiently(attempt: (timeout: number) => Promise<void>): Promise<void> {
    for (const deadline = Date.now() + PATIENCE; ;) {
      try {
        await attempt(PATIENCE / 10);
        return;
      } catch (error) {
        if (Date.now() > deadline) {
          throw error;
        }
      }
    }
  }

  /** Does something where the editor shows a text; again if the text has moved meanwhile. */
  private async at(text: string, act: (point: Point) => Promise<void>): Promise<void> {
    for (let before; ;) {
      before = await place(this.page, text);
      await act(before);
      const after = await place(this.page, text);
      if (after.x === before.x && after.y === before.y) {
        return;
      }
    }
  }

  /** Takes the line that shows a text out of the editor. */
  async deleteLine(text: string): Promise<void> {
    await this.clickText(text);
    await this.page.keyboard.press("Control+Shift+k");
  }

  /** Types at the end of the line that shows a text. */
  async typeBehind(text: string, typed: string): Promise<void> {
    await this.clickText(text);
    await this.page.keyboard.press("End");
    await this.page.keyboard.type(typed);
  }

  async save(): Promise<void> {
    await this.page.keyboard.press("Control+s");
  }

  /** The line of the cursor. */
  async line(): Promise<number> {
    const status = await this.page.locator("[id='status.editor.selection']").innerText();
    return Number(/Ln (\d+)/.exec(status)?.[1]);
  }

  /** The name of the file in the active editor. */
  async activeFile(): Promise<string | null> {
    const tab = this.page.locator(".editor-group-container.active .tab.active");
    return await tab.first().getAttribute("data-resource-name");
  }

  /** Takes one of the quick fixes where the cursor is. */
  async quickFix(title: string): Promise<void> {
    await this.patiently(async (timeout) => {
      await this.page.keyboard.press("Control+.");
      await this.page
        .locator(".action-widget .monaco-list-row", { hasText: title })
        .first()
        .click({ timeout });
    });
  }

  /** The rendered Markdown of a preview. */
  get preview(): Locator {
    return this.page
      .frameLocator("iframe.webview.ready")
      .frameLocator("#active-frame")
      .locator("body");
  }

  /** The rows of the Problems panel, opened. */
  async problems(): Promise<string[]> {
    const panel = this.page.locator(".markers-panel");
    if (!(await panel.isVisible())) {
      await this.palette("View: Focus Problems (Errors, Warnings, Infos)");
      await panel.waitFor();
    }
    return (await panel.locator(".monaco-list-row").allInnerTexts()).map(plain);
  }

  /** Opens a view container of the activity bar. */
  async openView(title: string): Promise<void> {
    const item = this.page.locator(`.activitybar .action-item:has([aria-label^="${title}"])`);
    await this.patiently(async (timeout) => {
      if ((await item.getAttribute("aria-expanded", { timeout })) !== "true") {
        await item.click({ timeout });
      }
      const view = this.page.locator(".part.sidebar .composite.title", { hasText: title });
      await view.waitFor({ timeout });
    });
  }

  /** Gives the side bar more room, for long texts, or less: pixels. */
  async widenSideBar(by: number): Promise<void> {
    const box = async () => {
      const found = await this.page.locator(".part.sidebar").boundingBox();
      if (found === null) {
        throw new Error("no side bar is shown");
      }
      return found;
    };
    let wanted: number | undefined;
    await this.patiently(async () => {
      const { x, y, width, height } = await box();
      wanted ??= width + by;
      const [edge, middle] = [x + width, y + height / 2];
      await this.page.mouse.move(edge, middle);
      await this.page.mouse.down();
      await this.page.mouse.move(x + wanted, middle, { steps: 3 });
      await this.page.mouse.up();
      const now = (await box()).width;
      if (Math.abs(now - wanted) > 2) {
        throw new Error(`the side bar is ${now} pixels wide, not ${wanted}`);
      }
    });
  }

  /** The rows of the tree in the side bar. */
  async tree(): Promise<TreeRow[]> {
    const rows = await this.treeRows.evaluateAll((elements) =>
      elements
        .map((element) => ({
          top: element.getBoundingClientRect().top,
          level: Number(element.getAttribute("aria-level")),
          label: element.querySelector(".label-name")?.textContent ?? "",
          description: element.querySelector(".label-description")?.textContent ?? "",
        }))
        .sort((left, right) => left.top - right.top),
    );
    return rows.map(({ level, label, description }) => ({
      level,
      label: plain(label),
      description: plain(description),
    }));
  }

  get treeRows(): Locator {
    return this.page
      .locator(
        ".part.sidebar .pane-body.tree-explorer-viewlet-tree-view, .part.sidebar .customview-tree",
      )
      .first()
      .locator(".monaco-list-row");
  }

  treeRow(label: string): Locator {
    return this.treeRows.filter({
      has: this.page.locator(".label-name").getByText(label, { exact: true }),
    });
  }

  /** Opens a row of the tree, if it is closed. */
  async expand(label: string): Promise<void> {
    const row = this.treeRow(label).first();
    const expanded = row.and(this.page.locator("[aria-expanded='true']"));
    await row.and(this.page.locator("[aria-expanded]")).waitFor();
    await this.patiently(async (timeout) => {
      if ((await expanded.count()) === 0) {
        await row.locator(".monaco-tl-twistie").click({ timeout });
      }
      await expanded.waitFor({ timeout });
    });
  }

  /** Presses one of the inline buttons of a row of the tree. */
  async treeAction(label: string, action: string): Promise<void> {
    const row = this.treeRow(label).first();
    await this.patiently(async (timeout) => {
      await row.hover({ timeout });
      await row.locator(`.actions [aria-label^="${action}"]`).click({ timeout });
    });
  }

  /** Opens the context menu of a row of the tree, until it shows an action. */
  async openMenu(label: string, action: string): Promise<void> {
    await this.until(this.menuAction(action), () => this.treeRow(label).click({ button: "right" }));
  }

  /**
   * Takes an action of a row's context menu, again until it shows a file: VS Code ignores the mouse for the
   * first 100 ms of a menu, and passes no item if the tree is listed anew while the menu is open.
   */
  async takeMenuAction(label: string, action: string, file: string): Promise<void> {
    const item = this.menuAction(action);
    await this.patiently(async (timeout) => {
      if (!(await item.isVisible())) {
        await this.treeRow(label).click({ button: "right", timeout });
      }
      await item.click({ timeout });
      await this.shows(file, timeout);
    });
  }

  private menuAction(action: string): Locator {
    return this.page.locator(".context-view .action-label", { hasText: action });
  }

  /** A target, the only one of its label, with its description. */
  async target(label: string): Promise<TreeRow | undefined> {
    return (await this.tree()).find((row) => row.label === label);
  }

  /** What the side bar says where it has no tree. */
  async welcome(): Promise<string> {
    const views = await this.page.locator(".part.sidebar .welcome-view:visible").allInnerTexts();
    return plain(views.join("\n"));
  }

  /** What the language status says of the active editor. */
  async status(): Promise<string> {
    const item = this.page.locator("[id='status.languageStatus']");
    if ((await item.count()) === 0) {
      return "";
    }
    await this.page.mouse.move(0, 0); // where the mouse is there already, no hover comes
    await item.hover();
    const content = this.page.locator(".monaco-hover:visible .hover-language-status");
    await content.first().waitFor();
    return plain((await content.allInnerTexts()).join("\n"));
  }

  get notifications(): Locator {
    return this.page.locator(".notifications-toasts .notification-list-item");
  }

  /** The messages that are shown. */
  async messages(): Promise<string[]> {
    const texts = await this.notifications
      .locator(".notification-list-item-message")
      .allInnerTexts();
    return texts.map(plain);
  }

  async answer(button: string): Promise<void> {
    await this.notifications.getByRole("button", { name: button }).first().click();
  }
}

/** A text of the page with plain spaces, and none at its ends. */
function plain(text: string): string {
  return text
    .replaceAll("\u00a0", " ")
    .replace(/[ \t]+/g, " ")
    .trim();
}

async function isFocused(row: Locator): Promise<boolean> {
  return (await row.getAttribute("class"))?.includes("focused") === true;
}
