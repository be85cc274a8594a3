import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import {
  type CancellationToken,
  type Hover,
  type LogOutputChannel,
  MarkdownString,
  Uri,
} from "vscode";
import {
  CloseAction,
  ErrorAction,
  ExecuteCommandRequest,
  type Executable,
  LanguageClient,
  type LanguageClientOptions,
  LSPErrorCodes,
  type MessageSignature,
  type Middleware,
  ResponseError,
  RevealOutputChannelOn,
  type StaticFeature,
} from "vscode-languageclient/node";
import { previewLinks, showPage } from "../shared/explanation";
import { minified } from "../shared/repros";
import { forget, reply, showOutput } from "../shared/messages";
import type { Milestones } from "../shared/milestones";
import {
  ANALYSES,
  KERNEL_SCHEME,
  MINIFY,
  type MinifySummary,
  OPEN_ARTIFACT,
  OPEN_REPRO,
  RAISE_LIMIT,
  READ_TRACE,
  RUN,
  type RunSummary,
  SHOW_EXPLANATION,
  SHOW_SOURCE,
  SHOW_TARGET,
} from "../protocol";
import type { PythonExtensions } from "./python";
import { withInterpreter } from "./settings";
import { NOTEBOOK_TYPE, PAGES } from "../shared/uris";

/** The commands that run a target. */
const RUNS = new Set([RUN, RAISE_LIMIT, READ_TRACE, ...ANALYSES.map(({ command }) => command)]);

/** The objects that the client's parts share. */
export interface ClientContext {
  log: LogOutputChannel;
  python: PythonExtensions;
  milestones: Milestones;
}

/** The language client, without its own messages for failures: this extension shows them. */
export class Client extends LanguageClient {
  constructor(server: Executable, context: ClientContext) {
    super("fullgraph", "Fullgraph", server, clientOptions(context));
    this.registerFeature(capabilities);
  }

  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  override handleFailedRequest<T>(
    type: MessageSignature,
    token: CancellationToken | undefined,
    error: unknown,
    defaultValue: T,
    _showNotification?: boolean,
    throwOnCancel?: boolean,
  ): T {
    if (type.method === ExecuteCommandRequest.method && isRefusal(error)) {
      // The server's message is shown here. A thrown error would be shown again.
      reply(error.message, showOutput());
      return defaultValue;
    }
    return super.handleFailedRequest(type, token, error, defaultValue, false, throwOnCancel);
  }
}

function isRefusal(error: unknown): error is ResponseError {
  return error instanceof ResponseError && error.code === LSPErrorCodes.RequestFailed;
}

/** The client's capabilities beyond LSP. */
const capabilities: StaticFeature = {
  fillClientCapabilities(all) {
    all.experimental = {
      fullgraphStatus: true,
      fullgraphOutput: true,
      commands: {
        commands: [SHOW_EXPLANATION, SHOW_TARGET, SHOW_SOURCE, OPEN_ARTIFACT, OPEN_REPRO],
      },
    };
  },
  initialize: () => undefined,
  getState: () => ({ kind: "static" }),
  clear: () => undefined,
};

function clientOptions(context: ClientContext): LanguageClientOptions {
  return {
    documentSelector: [
      { language: "python", scheme: "file" },
      { language: "python", scheme: "untitled" },
      { language: "python", notebook: NOTEBOOK_TYPE },
      { scheme: KERNEL_SCHEME },
    ],
    outputChannel: context.log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    stdioOptions: {
      stdout: () => undefined,
      stderr: (input) => {
        logLines(input, context.log);
      },
    },
    markdown: { isTrusted: { enabledCommands: [SHOW_EXPLANATION] } },
    middleware: middleware(context),
    // `Server` decides whether to restart, with a new client.
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => ({
        action: CloseAction.DoNotRestart,
        message: "the connection to the server was closed",
        handled: true,
      }),
    },
    initializationFailedHandler: () => false,
  };
}

function middleware({ python, milestones }: ClientContext): Middleware {
  return {
    workspace: {
      async configuration(params, token, next) {
        const answers = await next(params, token);
        if (!Array.isArray(answers)) {
          return answers;
        }
        return Promise.all(
          params.items.map(async ({ section, scopeUri }, index) => {
            const scope = scopeUri === undefined ? undefined : Uri.parse(scopeUri);
            const answer: unknown = answers[index];
            return section === "fullgraph"
              ? withInterpreter(answer, scope, await python.interpreter(scope))
              : answer;
          }),
        );
      },
    },
    async executeCommand(command, args, next) {
      if (command === MINIFY) {
        const summary = (await next(command, args)) as MinifySummary | undefined;
        await minified(summary);
        return summary;
      }
      if (!RUNS.has(command)) {
        return next(command, args) as unknown;
      }
      forget();
      const summary = await milestones.duringRun(
        async () => (await next(command, args)) as RunSummary | undefined,
      );
      if (summary?.document !== undefined) {
        await showPage(summary.document);
      }
      return summary;
    },
    async provideTextDocumentContent(uri, token, next) {
      const text = await next(uri, token);
      return text && PAGES.includes(uri.scheme) ? previewLinks(text) : text;
    },
    async provideHover(document, position, token, next) {
      const hover = await next(document, position, token);
      if (hover && mentionsGuards(hover)) {
        milestones.reached("sawGuards");
      }
      return hover;
    },
  };
}

function mentionsGuards(hover: Hover): boolean {
  return hover.contents.some(
    (content) => content instanceof MarkdownString && /\bguards?\b/.test(content.value),
  );
}

/** Copy the server's log from its standard error. Continuation lines, such as tracebacks, keep the level. */
function logLines(input: Readable, log: LogOutputChannel): void {
  let level = "";
  createInterface({ input }).on("line", (line) => {
    const [, begins, message = line] = /^[-\d]+ [:,\d]+ ([A-Z]+) (.*)$/.exec(line) ?? [];
    if (begins !== undefined || !/^(\s|Traceback|$)/.test(line)) {
      level = begins ?? "";
    }
    if (level === "ERROR") {
      log.error(message);
    } else if (level === "WARNING") {
      log.warn(message);
    } else {
      log.info(message);
    }
  });
}
