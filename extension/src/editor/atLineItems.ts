import { MarkdownString, ThemeIcon, TreeItem, TreeItemCollapsibleState, ViewColumn } from "vscode";
import { KERNEL_SCHEME, type LineEntry, type LineSection } from "../protocol";
import { openLocation, place, severityIcon } from "../shared/tree";
import { joined } from "../shared/words";

const { None, Expanded } = TreeItemCollapsibleState;

const ICONS: Record<LineSection["kind"], string> = {
  findings: "lightbulb",
  graphs: "type-hierarchy-sub",
  shapes: "symbol-array",
  guards: "shield",
  sizes: "symbol-ruler",
  kernels: "circuit-board",
  compilations: "history",
};

export interface SectionNode {
  kind: "section";
  section: LineSection;
}

export interface EntryNode {
  kind: "entry";
  id: string;
  entry: LineEntry;
}

/** A sentence below an entry. */
export interface NoteNode {
  kind: "note";
  id: string;
  note: string;
}

export type LineNode = SectionNode | EntryNode | NoteNode;

/** The nodes below a node. Their ids are the same for every line, so that collapsed nodes stay collapsed. */
export function childrenOf(node: LineNode): LineNode[] {
  switch (node.kind) {
    case "section":
      return node.section.entries.map((entry, index) => ({
        kind: "entry",
        id: `${node.section.kind}/${index}`,
        entry,
      }));
    case "entry":
      return node.entry.notes.map((note, index) => ({
        kind: "note",
        id: `${node.id}/${index}`,
        note,
      }));
    case "note":
      return [];
  }
}

/** The item of a node in the tree, with the place that a click on it opens. */
export function lineItem(node: LineNode): TreeItem {
  switch (node.kind) {
    case "section":
      return sectionItem(node.section);
    case "entry":
      return entryItem(node);
    case "note":
      return noteItem(node);
  }
}

function sectionItem({ kind, title, description }: LineSection): TreeItem {
  const item = new TreeItem(title, Expanded);
  item.id = kind;
  item.iconPath = new ThemeIcon(ICONS[kind]);
  item.description = description;
  return item;
}

function entryItem({ id, entry }: EntryNode): TreeItem {
  const { label, description, details, notes, severity, location, explanation } = entry;
  const item = new TreeItem(label, notes.length > 0 ? Expanded : None);
  item.id = id;
  item.description = description;
  item.tooltip = details
    ? new MarkdownString(details)
    : joined([label, description, location && place(location)], "\n");
  if (severity) {
    item.iconPath = severityIcon(severity);
  }
  if (location) {
    const generated = location.uri.startsWith(`${KERNEL_SCHEME}:`);
    item.command = openLocation(location, generated ? { viewColumn: ViewColumn.Two } : {});
  }
  if (explanation !== undefined) {
    item.contextValue = "finding";
  }
  return item;
}

function noteItem({ id, note }: NoteNode): TreeItem {
  const item = new TreeItem(note);
  item.id = id;
  item.tooltip = note;
  return item;
}
