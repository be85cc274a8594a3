/** Creation of elements. Texts become text nodes, so that no data is ever parsed as HTML. */

type Child = Node | string;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    made.setAttribute(attribute, value);
  }
  made.append(...children);
  return made;
}

/** A sentence of the server, with code between backticks. */
export function sentence(text: string): HTMLElement {
  const parts = text.split("`");
  return element(
    "span",
    {},
    ...parts.map((part, index) => (index % 2 === 1 ? element("code", {}, part) : part)),
  );
}

/** A collapsed table with the data of a chart. */
export function asTable(
  id: string,
  head: readonly string[],
  rows: readonly (readonly Child[])[],
): HTMLElement {
  const body = rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, cell))));
  return element(
    "details",
    { id },
    element("summary", {}, "As a table"),
    element("div", { class: "scroll" }, table(head, body)),
  );
}

export function table(
  head: readonly string[],
  rows: readonly HTMLTableRowElement[],
): HTMLTableElement {
  const titles = head.map((title) => element("th", { scope: "col" }, title));
  return element(
    "table",
    {},
    element("thead", {}, element("tr", {}, ...titles)),
    element("tbody", {}, ...rows),
  );
}

/** Handle a click, Enter and Space on an element that is not a button. */
export function onActivate(target: Element, act: () => void): void {
  target.addEventListener("click", act);
  target.addEventListener("keydown", (event) => {
    const { key } = event as KeyboardEvent;
    if (key === "Enter" || key === " ") {
      event.preventDefault();
      act();
    }
  });
}
