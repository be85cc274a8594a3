/** A lowered graph: operations, grouped by the kernel that computes them. */

import type { OperationItem, PerformanceItem, PictureItem } from "../../protocol";
import { asTable, element, onActivate } from "./dom";
import { addressOf, documentLink, sourceLink, tell, vscode } from "./host";
import type { Drawing } from "./messages";

/** The pictures of a report, shown one at a time. A drawing arrives later, on request. */
export class Pictures {
  private readonly drawing = element("div", { class: "picture scroll", tabindex: "0" });
  private readonly table = element("div", {});
  private readonly choice = element("select", {});

  constructor(
    section: HTMLElement,
    private readonly report: PerformanceItem,
    chosen: string,
    private readonly ask: (picture: number) => void,
  ) {
    const names = report.pictures.map(({ name }) => name);
    this.choice.append(...names.map((name) => element("option", {}, name)));
    this.choice.selectedIndex = Math.max(names.indexOf(chosen), 0);
    this.choice.addEventListener("change", () => {
      this.show();
    });
    section.append(
      element("label", { class: "choice" }, "Graph ", this.choice),
      this.drawing,
      this.table,
    );
    this.show();
  }

  /** The name of the shown picture. */
  get chosen(): string {
    return this.choice.value;
  }

  /** Show the drawing of a picture, if that is still selected. */
  drawn(index: number, { svg, problem = "" }: Drawing): void {
    const picture = this.report.pictures[index];
    if (picture === undefined || index !== this.choice.selectedIndex) {
      return;
    }
    if (svg === undefined) {
      this.drawing.replaceChildren(element("p", { class: "nothing" }, problem));
      return;
    }
    const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    drawn.setAttribute("role", "group");
    drawn.setAttribute("aria-label", `Graph ${picture.name}`);
    // Graphviz titles everything with its id, which browsers show as a tooltip.
    drawn.querySelectorAll("title").forEach((title) => {
      title.textContent = "";
    });
    picture.operations.forEach(({ name, operator, location }, number) => {
      const group = drawn.querySelector(`#operation-${number}`);
      if (group && location) {
        link(group, `${name}: ${operator}`, () => {
          if (vscode) {
            tell({ kind: "source", location });
          } else {
            const address = addressOf(location);
            if (address !== undefined) {
              window.location.href = address;
            }
          }
        });
      }
    });
    picture.kernels.forEach((name, number) => {
      const group = drawn.querySelector(`#kernel-${number}`);
      const uri = picture.documents[number];
      if (group && uri && vscode) {
        link(group, name, () => {
          tell({ kind: "document", uri });
        });
      }
    });
    this.drawing.replaceChildren(drawn);
  }

  private show(): void {
    const index = this.choice.selectedIndex;
    const picture = this.report.pictures[index];
    if (picture) {
      this.drawing.replaceChildren(element("p", { class: "nothing" }, "Drawing…"));
      this.table.replaceChildren(this.tableOf(picture));
      this.ask(index);
    }
  }

  private tableOf(picture: PictureItem): HTMLElement {
    const cells = ({ name, operator, inputs, kernel, location }: OperationItem) => {
      const launched = kernel === undefined ? undefined : picture.kernels[kernel];
      const uri = kernel === undefined ? undefined : picture.documents[kernel];
      return [
        name,
        operator,
        inputs.join(", "),
        uri ? documentLink(uri, launched ?? "") : (launched ?? ""),
        location ? sourceLink(location) : "",
      ];
    };
    const head = ["Name", "Operator", "Inputs", "Kernel", "Line"];
    return asTable("operations", head, picture.operations.map(cells));
  }
}

function link(group: Element, label: string, act: () => void): void {
  group.querySelector("title")?.append(label);
  group.classList.add("active");
  group.setAttribute("role", "link");
  group.setAttribute("tabindex", "0");
  group.setAttribute("aria-label", label);
  onActivate(group, act);
}
