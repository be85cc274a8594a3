/** The page of a report: the last run of a target, in sections. */

import type { PerformanceItem, TraceItem } from "../../protocol";
import { cacheTable } from "./caches";
import { element } from "./dom";
import { Drawings } from "./drawings";
import { findingList } from "./findings";
import { flameChart } from "./flame";
import { type Look, setTexts, tell, vscode } from "./host";
import { kernelTable } from "./kernels";
import { EXPORTED, type Exported, type ToPage } from "./messages";
import { Pictures } from "./picture";
import "./report.css";
import { speedOfCalls } from "./speed";
import { summary } from "./summary";
import { timeline } from "./timeline";
import { documents, functions, ranks, toldFindings } from "./trace";

type Draw = (picture: number) => void;

const page = element("main", {});
const running = element("p", { class: "running", role: "status" });
document.body.append(running, page);

let pictures: Pictures | undefined;

const exported = document.getElementById(EXPORTED)?.textContent;
if (exported === undefined) {
  showSentReports();
} else {
  const { report, drawings, drawer, trace } = JSON.parse(exported) as Exported;
  const made = drawer === undefined ? undefined : new Drawings(report.pictures, drawer);
  setTexts(trace?.texts ?? {});
  show(
    report,
    undefined,
    (picture) => {
      // Not at once: the constructor of the pictures already requests the first drawing.
      void (made?.get(picture) ?? Promise.resolve(drawings?.[picture] ?? {})).then((drawing) =>
        pictures?.drawn(picture, drawing),
      );
    },
    trace,
  );
}

/** In VS Code, the extension sends a report, and again after each run. */
function showSentReports(): void {
  let generation = 0;
  window.addEventListener("message", ({ data }: MessageEvent<ToPage>) => {
    switch (data.kind) {
      case "report": {
        const { report } = data;
        generation = report.generation;
        tellRunning(data.running);
        show(report, vscode?.getState(), (picture) => {
          tell({ kind: "draw", generation: report.generation, picture });
        });
        break;
      }
      case "running":
        tellRunning(data.running);
        break;
      case "drawing":
        if (data.generation === generation) {
          pictures?.drawn(data.picture, data.drawing);
        }
        break;
    }
  });
  for (const event of ["scrollend", "change", "toggle"]) {
    document.addEventListener(event, keepLook, { capture: true });
  }
  tell({ kind: "ready" });
}

function tellRunning(on: boolean): void {
  running.textContent = on ? "The target is running. This report is from the previous run." : "";
}

function show(
  report: PerformanceItem,
  look: Look | undefined,
  draw: Draw,
  trace?: TraceItem,
): void {
  const { compilations, findings, kernels, phases } = report;
  pictures = undefined;
  const header = element("header", {}, element("h1", {}, report.label));
  if (vscode) {
    header.append(exportButton());
  }
  page.replaceChildren(header);
  summary(page, report, trace);
  if (trace) {
    section("Findings", trace.findings, "None.", (part) => {
      toldFindings(part, trace);
    });
    if (trace.report.ranks.length > 0) {
      section("Ranks", trace.report.ranks, "", (part) => {
        ranks(part, trace);
      });
    }
    section("Functions", trace.report.frames, "Nothing was compiled.", (part) => {
      functions(part, trace);
    });
  }
  if (report.speed) {
    section("Speed of a call", [report.speed], "", speedOfCalls);
  }
  section("Compile time", phases, "The steps of the compiler were not timed.", flameChart);
  section("Compilations", compilations, "Nothing was compiled.", timeline);
  const without =
    report.times.length > 0
      ? "This run measured times only. Open the report again to see what was compiled."
      : "TorchInductor wrote no code.";
  section("Graphs", report.pictures, without, (part) => {
    pictures = new Pictures(part, report, look?.picture ?? "", draw);
  });
  section("Kernels", kernels, without, kernelTable);
  if (report.caches) {
    section("Caches", report.caches.counts, "", cacheTable);
  }
  if (trace) {
    section("All texts of the trace", trace.report.artifacts, "No texts.", (part) => {
      documents(part, trace);
    });
  } else {
    section("Findings about speed", findings, "None.", findingList);
  }

  for (const id of look?.unfolded ?? []) {
    document.getElementById(id)?.setAttribute("open", "");
  }
  window.scrollTo({ top: look?.scroll ?? 0, behavior: "instant" });

  function section(
    title: string,
    parts: readonly unknown[],
    nothing: string,
    fill: (section: HTMLElement, report: PerformanceItem) => void,
  ): void {
    const made = element("section", { "aria-label": title }, element("h2", {}, title));
    page.append(made);
    if (parts.length > 0) {
      fill(made, report);
    } else {
      made.append(element("p", { class: "nothing" }, nothing));
    }
  }
}

function exportButton(): HTMLElement {
  const button = element("button", { type: "button", class: "export" }, "Export as HTML");
  button.addEventListener("click", () => {
    tell({ kind: "export" });
  });
  return button;
}

function keepLook(): void {
  const unfolded = [...document.querySelectorAll("details[open]")].map(({ id }) => id);
  vscode?.setState({ scroll: window.scrollY, picture: pictures?.chosen ?? "", unfolded });
}
