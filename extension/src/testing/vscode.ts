/** The part of VS Code's API that the unit tests need. Tests set its answers. */

type Listener<T> = (event: T) => unknown;

export class EventEmitter<T> {
  private readonly listeners = new Set<Listener<T>>();

  readonly event = (listener: Listener<T>) => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };

  fire(event: T): void {
    this.listeners.forEach((listener) => listener(event));
  }

  dispose(): void {
    this.listeners.clear();
  }
}

export class Uri {
  private constructor(
    readonly scheme: string,
    readonly path: string,
  ) {}

  static parse(text: string): Uri {
    const [scheme = "", path = ""] = text.split("://");
    return new Uri(scheme, decodeURIComponent(path));
  }

  static file(path: string): Uri {
    return new Uri("file", path);
  }

  static joinPath(uri: Uri, ...parts: string[]): Uri {
    return new Uri(uri.scheme, [uri.path, ...parts].join("/"));
  }

  get fsPath(): string {
    return this.path;
  }

  toString(): string {
    return `${this.scheme}://${encodeURI(this.path)}`;
  }
}

export interface Folder {
  uri: Uri;
  name: string;
  index: number;
}

export function folder(path: string): Folder {
  return { uri: Uri.file(path), name: path.split("/").at(-1) ?? "", index: 0 };
}

export const l10n = {
  t: (message: string, ...values: unknown[]) =>
    message.replace(/\{(\d+)\}/g, (_, index: string) => String(values[Number(index)])),
};

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class ThemeIcon {
  static readonly Folder = new ThemeIcon("folder");
  static readonly File = new ThemeIcon("file");

  constructor(
    readonly id: string,
    readonly color?: ThemeColor,
  ) {}
}

export enum TreeItemCollapsibleState {
  None,
  Collapsed,
  Expanded,
}

export class TreeItem {
  constructor(
    readonly label: string,
    readonly collapsibleState = TreeItemCollapsibleState.None,
  ) {}
}

export class Range {
  readonly numbers: number[];

  constructor(...numbers: number[]) {
    this.numbers = numbers;
  }
}

export enum LanguageStatusSeverity {
  Information,
  Warning,
  Error,
}

export enum QuickPickItemKind {
  Separator = -1,
  Default = 0,
}

export enum ConfigurationTarget {
  Global = 1,
  Workspace,
  WorkspaceFolder,
}

/** The settings of the section `fullgraph`. */
export const settings = new Map<string, unknown>();

export const workspace = {
  isTrusted: true,
  workspaceFolders: undefined as Folder[] | undefined,
  getConfiguration: () => ({
    get: (key: string) => settings.get(key),
    inspect: (key: string) => ({ workspaceValue: settings.get(key) }),
    update(key: string, value: unknown) {
      settings.set(key, value);
      return Promise.resolve();
    },
  }),
  openTextDocument: (uri: Uri) => Promise.resolve(uri),
  /** The documents whose text VS Code has. */
  textDocuments: [] as { uri: Uri }[],
  /** The files that are on disk. */
  files: new Set<string>(),
  fs: {
    stat: ({ path }: Uri) =>
      workspace.files.has(path) ? Promise.resolve() : Promise.reject(new Error("not found")),
  },
  getWorkspaceFolder: (uri: Uri) =>
    workspace.workspaceFolders?.find((item) => uri.path.startsWith(item.uri.path)),
  /** An edit of a document. */
  textChanged: new EventEmitter<unknown>(),
  onDidChangeTextDocument: (listener: Listener<unknown>) => workspace.textChanged.event(listener),
  onDidChangeWorkspaceFolders: new EventEmitter<undefined>().event,
  /** Every watcher there is sees these. */
  fileChanged: new EventEmitter<Uri>(),
  createFileSystemWatcher: () => ({
    onDidCreate: workspace.fileChanged.event,
    onDidChange: workspace.fileChanged.event,
    onDidDelete: workspace.fileChanged.event,
    dispose: () => undefined,
  }),
  asRelativePath(uri: Uri, withFolder: boolean) {
    const around = workspace.getWorkspaceFolder(uri);
    const inside = around ? uri.path.slice(around.uri.path.length + 1) : uri.path;
    return around && withFolder ? `${around.name}/${inside}` : inside;
  },
};

interface Extension {
  isActive: boolean;
  exports: unknown;
  activate: () => Promise<unknown>;
}

const installed = new Map<string, Extension>();
const extensionsChanged = new EventEmitter<undefined>();

export const extensions = {
  installed,
  /** The manifests of everything that is installed. */
  all: [] as { packageJSON: unknown }[],
  changed: extensionsChanged,
  onDidChange: extensionsChanged.event,
  getExtension: (id: string) => installed.get(id),
};

interface Pick {
  label: string;
  description?: string;
}

/** The picks that were offered, by their labels, and what the user will take, type and choose. */
export const dialogs = {
  offered: [] as string[][],
  /** The last picks that were offered, with their descriptions. */
  described: {} as Record<string, string | undefined>,
  taken: [] as string[],
  typed: undefined as string | undefined,
  suggested: undefined as string | undefined,
  chosen: undefined as Uri | undefined,
};

/** The messages that were shown, and what the user will answer. */
export const shown: string[] = [];
export const answers: (string | undefined)[] = [];

function show(message: string): Promise<string | undefined> {
  shown.push(message);
  return Promise.resolve(answers.shift());
}

export enum ViewColumn {
  Beside = -2,
  Active = -1,
  Two = 2,
}

interface Editor {
  document: { languageId: string; uri: Uri; isClosed?: boolean; isUntitled?: boolean };
  selection?: { active: { line: number; character: number } };
}

export class MarkdownString {
  constructor(readonly value: string) {}
}

/** A view of a tree, which tests show and hide. */
export class TreeView {
  visible = true;
  message = "";
  readonly shown = new EventEmitter<{ visible: boolean }>();
  readonly onDidChangeVisibility = this.shown.event;

  /** Whether the items to reveal were listed again. */
  isNew = false;
  readonly reveal = () =>
    this.isNew ? Promise.reject(new Error("Data tree node not found")) : Promise.resolve();
  readonly dispose = () => undefined;
}

/** A panel whose page records what it is sent, and sends what tests choose. */
export class WebviewPanel {
  title = "";
  active = true;
  revealed = 0;
  readonly posted: unknown[] = [];
  readonly said = new EventEmitter<unknown>();
  private readonly disposed = new EventEmitter<undefined>();
  readonly onDidDispose = this.disposed.event;
  readonly webview = {
    html: "",
    cspSource: "vscode-resource:",
    asWebviewUri: (uri: Uri) => uri,
    onDidReceiveMessage: this.said.event,
    postMessage: (message: unknown) => this.posted.push(message),
  };

  reveal(): void {
    this.revealed += 1;
  }

  dispose(): void {
    this.disposed.fire(undefined);
  }
}

/** What is on the clipboard. */
export const clipboard = {
  text: "",
  writeText(text: string) {
    clipboard.text = text;
    return Promise.resolve();
  },
};

export const env = { clipboard };

/** What was debugged, and in which folder. */
export const debugged: unknown[][] = [];

export const debug = {
  startDebugging(...session: unknown[]) {
    debugged.push(session);
    return Promise.resolve(true);
  },
};

export const window = {
  activeTextEditor: undefined as Editor | undefined,
  /** The documents that were shown, and how. */
  documents: [] as unknown[][],
  showTextDocument(...document: unknown[]) {
    window.documents.push(document);
    return Promise.resolve();
  },
  /** The panels that were opened. */
  panels: [] as WebviewPanel[],
  createWebviewPanel() {
    const panel = new WebviewPanel();
    window.panels.push(panel);
    return panel;
  },
  /** The views that were made. */
  trees: [] as TreeView[],
  createTreeView() {
    const tree = new TreeView();
    window.trees.push(tree);
    return tree;
  },
  selectionChanged: new EventEmitter<undefined>(),
  onDidChangeTextEditorSelection: (listener: Listener<undefined>) =>
    window.selectionChanged.event(listener),
  /** Another editor gets the focus. */
  editorChanged: new EventEmitter<Editor | undefined>(),
  onDidChangeActiveTextEditor: (listener: Listener<Editor | undefined>) =>
    window.editorChanged.event(listener),
  async showQuickPick(picks: Promise<Pick[]>, { canPickMany = false } = {}) {
    const offered = await picks;
    dialogs.offered.push(offered.map(({ label }) => label));
    dialogs.described = Object.fromEntries(
      offered.map(({ label, description }) => [label, description]),
    );
    const taken = dialogs.taken.shift();
    const chosen = offered.filter(({ label }) => label === taken);
    return canPickMany && taken !== undefined ? chosen : chosen[0];
  },
  showInputBox({ value }: { value: string }) {
    dialogs.suggested = value;
    return Promise.resolve(dialogs.typed);
  },
  showOpenDialog: () => Promise.resolve(dialogs.chosen && [dialogs.chosen]),
  /** What each output channel shows. */
  channels: new Map<string, string>(),
  createOutputChannel(name: string) {
    window.channels.set(name, "");
    const append = (text: string) =>
      window.channels.set(name, `${window.channels.get(name) ?? ""}${text}`);
    return { append, dispose: () => undefined };
  },
  /** What the status bar says. */
  statusBar: "",
  setStatusBarMessage(message: string) {
    window.statusBar = message;
  },
  showInformationMessage: show,
  showWarningMessage: show,
  showErrorMessage: show,
};

export class Location {
  constructor(
    readonly uri: Uri,
    readonly range: Range,
  ) {}
}

export class TestMessage {
  location: Location | undefined;

  constructor(readonly message: string) {}
}

export enum TestRunProfileKind {
  Run = 1,
}

export class TestRunRequest {
  constructor(
    readonly include?: readonly TestItem[],
    readonly exclude?: readonly TestItem[],
  ) {}
}

export class TestItem {
  readonly children = new TestItems();
  range: Range | undefined;

  constructor(
    readonly id: string,
    readonly label: string,
    readonly uri: Uri,
  ) {}
}

class TestItems {
  private items = new Map<string, TestItem>();

  get size(): number {
    return this.items.size;
  }

  get(id: string): TestItem | undefined {
    return this.items.get(id);
  }

  replace(items: readonly TestItem[]): void {
    this.items = new Map(items.map((item) => [item.id, item]));
  }

  [Symbol.iterator](): IterableIterator<[string, TestItem]> {
    return this.items.entries();
  }
}

/** A run of tests, which records the calls of its methods: `failed test_one: a message at 2`. */
export class TestRun {
  readonly told: string[] = [];
  output = "";
  readonly cancelled = new EventEmitter<undefined>();
  readonly token = { onCancellationRequested: this.cancelled.event };

  readonly enqueued = (test: TestItem) => {
    this.tell("enqueued", test);
  };
  readonly started = (test: TestItem) => {
    this.tell("started", test);
  };
  readonly skipped = (test: TestItem) => {
    this.tell("skipped", test);
  };
  readonly passed = (test: TestItem) => {
    this.tell("passed", test);
  };
  readonly failed = (test: TestItem, messages: TestMessage[]) => {
    this.tell("failed", test, messages);
  };
  readonly errored = (test: TestItem, messages: TestMessage[]) => {
    this.tell("errored", test, messages);
  };

  end(): void {
    this.told.push("end");
  }

  appendOutput(output: string): void {
    this.output += output;
  }

  private tell(state: string, { label }: TestItem, messages: TestMessage[] = []): void {
    const texts = messages.map(
      ({ message, location }) => `${message} at ${location?.range.numbers[0] ?? "no line"}`,
    );
    this.told.push([`${state} ${label}`, ...texts].join(": "));
  }
}

export class TestController {
  readonly items = new TestItems();
  readonly runs: TestRun[] = [];
  readonly invalidated: string[] = [];
  resolveHandler: () => Promise<void> = () => Promise.resolve();
  /** What the run profile does. */
  analyze: (request: TestRunRequest) => Promise<void> = () => Promise.resolve();

  readonly createTestItem = (id: string, label: string, uri: Uri) => new TestItem(id, label, uri);

  createRunProfile(_label: string, _kind: TestRunProfileKind, run: TestController["analyze"]) {
    this.analyze = run;
  }

  createTestRun(): TestRun {
    const run = new TestRun();
    this.runs.push(run);
    return run;
  }

  invalidateTestResults({ label }: TestItem): void {
    this.invalidated.push(label);
  }

  dispose(): void {
    this.items.replace([]);
  }
}

export const tests = {
  /** The controllers that were made. */
  controllers: [] as TestController[],
  createTestController() {
    const controller = new TestController();
    tests.controllers.push(controller);
    return controller;
  },
};

/** The commands that were executed. */
export const executed: unknown[][] = [];

export const commands = {
  /** What was registered, by id. */
  registered: new Map<string, unknown>(),
  registerCommand(id: string, handler: unknown) {
    commands.registered.set(id, handler);
    return { dispose: () => commands.registered.delete(id) };
  },
  executeCommand(...command: unknown[]) {
    executed.push(command);
    return Promise.resolve();
  },
};

/** The tools and servers that are offered to language models, by name. */
export const lm = {
  tools: new Map<string, unknown>(),
  providers: new Map<string, unknown>(),
  registerTool(name: string, tool: unknown) {
    lm.tools.set(name, tool);
    return { dispose: () => undefined };
  },
  registerMcpServerDefinitionProvider(id: string, provider: unknown) {
    lm.providers.set(id, provider);
    return { dispose: () => undefined };
  },
};

export class LanguageModelTextPart {
  constructor(readonly text: string) {}
}

export class LanguageModelToolResult {
  constructor(readonly parts: object[]) {}
}

export class McpStdioServerDefinition {
  constructor(
    readonly label: string,
    readonly command: string,
    readonly args: string[],
  ) {}
}
