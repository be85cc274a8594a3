/** What the editor shows, read from the page: which text lies under a squiggle, where a text is. */

import type { Page } from "playwright-core";

export interface Squiggle {
  readonly severity: "error" | "warning" | "info";
  readonly text: string;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** What shows the text of the active editor; a notebook lies over its empty one. */
export const EDITOR =
  ":is(.editor-group-container.active .editor-instance, .notebookOverlay):has(.view-line)";

/** The squiggles of the active editor, from top to bottom, with the text that they underline. */
export async function squiggles(page: Page): Promise<Squiggle[]> {
  return await page.evaluate((shown) => {
    /** The characters of a line of the editor with the boxes that they are drawn in. */
    function characters(line: Element): { text: string; box: DOMRect }[] {
      const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      const found = [];
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        const content = node.textContent ?? "";
        for (let index = 0; index < content.length; index++) {
          const range = document.createRange();
          range.setStart(node, index);
          range.setEnd(node, index + 1);
          found.push({ text: content.charAt(index), box: range.getBoundingClientRect() });
        }
      }
      return found;
    }

    const editor = document.querySelector(shown);
    const lines = [...(editor?.querySelectorAll(".view-line") ?? [])];
    return (["error", "warning", "info"] as const)
      .flatMap((severity) =>
        [...(editor?.querySelectorAll(`.squiggly-${severity}`) ?? [])].map((element) => {
          const area = element.getBoundingClientRect();
          const line = lines.find((candidate) => {
            const { top, bottom } = candidate.getBoundingClientRect();
            const middle = (area.top + area.bottom) / 2;
            return top <= middle && middle < bottom;
          });
          const text = (line === undefined ? [] : characters(line))
            .filter(({ box }) => {
              const middle = (box.left + box.right) / 2;
              return area.left <= middle && middle < area.right;
            })
            .map((character) => character.text)
            .join("");
          return { severity, text: text.replaceAll("\u00a0", " "), top: area.top };
        }),
      )
      .sort((left, right) => left.top - right.top)
      .map(({ severity, text }) => ({ severity, text }));
  }, EDITOR);
}

/** Where the active editor first shows a text: the middle of its first character. */
export async function place(page: Page, text: string): Promise<Point> {
  const found = await page.evaluate(
    ([shown, wanted]) => {
      const editor = document.querySelector(shown);
      const lines = [...(editor?.querySelectorAll<HTMLElement>(".view-line") ?? [])].sort(
        (left, right) => left.getBoundingClientRect().top - right.getBoundingClientRect().top,
      );
      for (const line of lines) {
        const nodes: Text[] = [];
        const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
          nodes.push(node as Text);
        }
        const start = nodes
          .map((node) => node.data)
          .join("")
          .replaceAll("\u00a0", " ")
          .indexOf(wanted);
        if (start >= 0) {
          const range = document.createRange();
          let offset = start;
          const node = nodes.find((candidate) => {
            const here = offset < candidate.length;
            offset -= here ? 0 : candidate.length;
            return here;
          });
          if (node === undefined) {
            continue;
          }
          range.setStart(node, offset);
          range.setEnd(node, offset + 1);
          const box = range.getBoundingClientRect();
          return { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
        }
      }
      return null;
    },
    [EDITOR, text] as const,
  );
  if (found === null) {
    throw new Error(`the editor does not show ${text}`);
  }
  return found;
}
