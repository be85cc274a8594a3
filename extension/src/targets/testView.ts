import {
  type Disposable,
  extensions,
  l10n,
  Location,
  Range,
  type TestController,
  type TestItem,
  TestMessage,
  type TestRun,
  TestRunProfileKind,
  TestRunRequest,
  tests,
  Uri,
  workspace,
} from "vscode";
import type { Node, TargetNode } from "./nodes";
import {
  type FindingItem,
  type OutputParams,
  REPORT,
  type ReportItem,
  RUN,
  type RunSummary,
  STOP,
  type TargetItem,
} from "../protocol";
import type { Server } from "../server/server";
import { isOn, type RunState, stateSummary } from "../shared/words";
import type { Targets } from "./targets";

const PYTHON_EXTENSION = "ms-python.python";

/**
 * The tests and example calls in VS Code's own Testing view, by file. They are listed once that view is opened.
 * From then on they also show the results of runs that were started by the keyboard shortcut, a lens or a save.
 */
export class TestView implements Disposable {
  private readonly controller: TestController = tests.createTestController(
    "fullgraph",
    "Fullgraph",
  );
  private readonly disposables: { dispose(): unknown }[];
  /** The items of the targets, by target id. */
  private items = new Map<string, TestItem>();
  private isOpened = false;
  /** The run of this view that each target belongs to. */
  private readonly own = new Map<string, TestRun>();
  /** The targets that were started elsewhere, and the run that shows them. */
  private readonly others = new Set<string>();
  private elsewhere: TestRun | undefined;

  constructor(
    private readonly server: Server,
    private readonly targets: Targets,
  ) {
    this.controller.resolveHandler = () => this.list();
    this.controller.refreshHandler = async () => {
      await targets.refresh();
      await this.list();
    };
    // Not the default profile: "Run All Tests" should run the tests of other extensions, if there are any.
    this.controller.createRunProfile(
      l10n.t("Analyze"),
      TestRunProfileKind.Run,
      (request) => this.run(request),
      false,
    );
    this.disposables = [
      this.controller,
      targets.onDidChangeTreeData((node) => {
        this.changed(node);
      }),
      server.onDidPrint((params) => {
        this.printed(params);
      }),
      server.onDidChange(() => {
        this.others.clear();
        this.endElsewhere();
      }),
    ];
  }

  dispose(): void {
    this.disposables.forEach((disposable) => disposable.dispose());
  }

  private async list(): Promise<void> {
    this.isOpened = true;
    const nodes = (await this.targets.listed()).filter(({ item }) => isTest(item));
    const before = this.items;
    this.items = new Map(nodes.map(({ item }) => [item.id, this.itemOf(item, before)]));
    const files = new Map<string, TestItem[]>();
    for (const { item } of nodes) {
      const test = this.items.get(item.id);
      files.set(item.uri, [...(files.get(item.uri) ?? []), ...(test ? [test] : [])]);
    }
    this.controller.items.replace(
      [...files].map(([uri, children]) => {
        const file = this.controller.items.get(uri) ?? this.fileItem(uri);
        file.children.replace(children);
        return file;
      }),
    );
    for (const node of nodes) {
      const test = this.items.get(node.item.id);
      if (test && node.item.state !== undefined && !before.has(test.id)) {
        this.started(test); // The target began to run before it was listed.
        this.show(node);
      }
    }
    [...this.others].filter((id) => !this.items.has(id)).forEach((id) => this.others.delete(id));
    this.endElsewhere();
  }

  private fileItem(uri: string): TestItem {
    const file = Uri.parse(uri);
    return this.controller.createTestItem(uri, workspace.asRelativePath(file), file);
  }

  /** The item of a target: the existing item, which may be in a run, or a new one. */
  private itemOf(target: TargetItem, before: ReadonlyMap<string, TestItem>): TestItem {
    const [, ...names] = target.label.split("::");
    const item =
      before.get(target.id) ??
      this.controller.createTestItem(
        target.id,
        names.length > 0 ? names.join("::") : target.label,
        Uri.parse(target.uri),
      );
    // An item with a range gets an icon in the gutter. A test already has the Python extension's icon: a click
    // on an icon of both extensions would run the test and also analyze it.
    const isShared =
      target.kind === "pytest" && extensions.getExtension(PYTHON_EXTENSION) !== undefined;
    item.range = isShared ? undefined : rangeOf(target.selectionRange);
    return item;
  }

  /** Handle a change of one target, or of the list of targets. */
  private changed(node: Node | undefined): void {
    if (!this.isOpened) {
      return;
    }
    if (node === undefined) {
      void this.list();
    } else if (node.kind === "target") {
      this.show(node);
    }
  }

  /** Show the state of a target, and the result of its run if the run was started elsewhere. */
  private show({ item: { id, state, stale }, report }: TargetNode): void {
    const test = this.items.get(id);
    if (test === undefined || state === "queued") {
      return;
    }
    if (isOn(state)) {
      this.started(test);
      return;
    }
    if (this.others.delete(id) && this.elsewhere !== undefined) {
      tell(this.elsewhere, test, state, report);
      this.endElsewhere();
    }
    if (state === undefined || stale) {
      this.controller.invalidateTestResults(test);
    }
  }

  private started(test: TestItem): void {
    const own = this.own.get(test.id);
    if (own === undefined) {
      this.others.add(test.id);
      // The run does not bring the view to the front.
      const request = new TestRunRequest([test], undefined, undefined, false, true);
      this.elsewhere ??= this.begin(request, this.others, false);
    }
    (own ?? this.elsewhere)?.started(test);
  }

  /** End the run for targets that were started elsewhere, once none of them is running. */
  private endElsewhere(): void {
    if (this.others.size === 0) {
      this.elsewhere?.end();
      this.elsewhere = undefined;
    }
  }

  /** Begin a run, which stops its targets when it is cancelled. */
  private begin(request: TestRunRequest, targets: Iterable<string>, persist = true): TestRun {
    const run = this.controller.createTestRun(request, undefined, persist);
    run.token.onCancellationRequested(() => {
      for (const target of targets) {
        void this.server.command(STOP, target);
      }
    });
    return run;
  }

  /** Run what the user has chosen in the view. */
  private async run(request: TestRunRequest): Promise<void> {
    if (!(await this.server.available())) {
      return;
    }
    const chosen = this.chosen(request);
    const left = new Set(chosen.map(({ id }) => id));
    const run = this.begin(request, left);
    for (const test of chosen) {
      run.enqueued(test);
      this.own.set(test.id, run);
    }
    await Promise.allSettled(
      chosen.map(async (test) => {
        await this.analyze(run, test);
        left.delete(test.id);
      }),
    );
    run.end();
  }

  private chosen({ include, exclude }: TestRunRequest): TestItem[] {
    const all = include ?? [...this.controller.items].map(([, item]) => item);
    const chosen = new Set(all.flatMap(leaves));
    exclude?.flatMap(leaves).forEach((test) => chosen.delete(test));
    return [...chosen];
  }

  private async analyze(run: TestRun, test: TestItem): Promise<void> {
    const target = test.id;
    try {
      const summary = (await this.server.command(RUN, target)) as RunSummary | undefined;
      const report = summary && (await this.server.request<ReportItem>(REPORT, { target }));
      tell(run, test, summary?.status as RunState | undefined, report);
    } finally {
      if (this.own.get(target) === run) {
        this.own.delete(target);
      }
    }
  }

  private printed({ target, text }: OutputParams): void {
    const run = this.own.get(target) ?? (this.others.has(target) ? this.elsewhere : undefined);
    run?.appendOutput(text.replaceAll(/\r?\n/g, "\r\n"), undefined, this.items.get(target));
  }
}

/** Whether a target belongs in a list of tests: a script does not. */
function isTest({ kind }: TargetItem): boolean {
  return kind === "pytest" || kind === "example";
}

function leaves(item: TestItem): TestItem[] {
  return item.children.size === 0
    ? [item]
    : [...item.children].flatMap(([, child]) => leaves(child));
}

/**
 * Report the outcome of a target's run: errored if the program did not finish, failed if there are findings,
 * skipped if the run was stopped or nothing was compiled.
 */
function tell(
  run: TestRun,
  test: TestItem,
  state: RunState | undefined,
  report: ReportItem | undefined,
): void {
  if (state === undefined || state === "cancelled" || report === undefined) {
    run.skipped(test);
    return;
  }
  const milliseconds = report.seconds * 1000;
  const findings = report.findings.filter(isProblem);
  const messages = findings.map(messageOf);
  if (stateSummary(state) !== "" || findings.some(({ kind }) => kind === "target-error")) {
    run.errored(test, messages, milliseconds);
  } else if (messages.length > 0) {
    run.failed(test, messages, milliseconds);
  } else if (report.frames.some(({ graphs }) => graphs.length > 0)) {
    run.passed(test, milliseconds);
  } else {
    run.skipped(test);
  }
}

/** Whether a finding needs a fix. A test that compiles nothing does not. */
function isProblem({ kind, severity }: FindingItem): boolean {
  return severity !== "information" && kind !== "nothing-compiled";
}

function messageOf({ message, location }: FindingItem): TestMessage {
  const told = new TestMessage(message);
  const range = rangeOf(location?.range);
  if (location && range) {
    told.location = new Location(Uri.parse(location.uri), range);
  }
  return told;
}

function rangeOf(range: TargetItem["range"]): Range | undefined {
  return (
    range && new Range(range.start.line, range.start.character, range.end.line, range.end.character)
  );
}
