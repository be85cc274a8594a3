import { execFile } from "node:child_process";
import * as vscode from "vscode";
import { type CancellationToken, type Disposable, l10n, workspace } from "vscode";
import { INTERPRETER, type InterpreterItem, type InterpreterParams } from "../protocol";
import type { Server } from "../server/server";

const PREFIX = "fullgraph_";
/** The tool that runs nothing. */
const EXPLAIN = `${PREFIX}explain_finding`;
const START = "from fullgraph_server.cli import main; main()";
const PATIENCE = 10_000;

/** The arguments of a tool, as package.json describes them. */
interface Input {
  [name: string]: unknown;
  target?: string;
  before?: string;
}

/** The APIs that are newer than VS Code 1.94: tools came with 1.95, definitions of servers with 1.101. */
interface Newer {
  lm: {
    registerTool?(name: string, tool: Tool): Disposable;
    registerMcpServerDefinitionProvider?(id: string, provider: Definitions): Disposable;
  };
  LanguageModelToolResult: new (parts: object[]) => object;
  LanguageModelTextPart: new (text: string) => object;
  McpStdioServerDefinition: new (label: string, command: string, args: string[]) => Definition;
}

export interface Tool {
  prepareInvocation(options: { input: Input }): {
    invocationMessage: string;
    confirmationMessages?: { title: string; message: string };
  };
  invoke(options: { input: Input }, token: CancellationToken): Promise<object>;
}

export interface Definitions {
  onDidChangeMcpServerDefinitions(listener: () => void): Disposable;
  provideMcpServerDefinitions(): Promise<Definition[]>;
}

interface Definition {
  cwd?: vscode.Uri;
}

/** A tool of the manifest. */
interface Contribution {
  name: string;
  displayName: string;
}

const newer = vscode as unknown as Newer;

/** Offer the tools to VS Code's language models, and as an MCP server, if this VS Code supports that. */
export function registerForAgents(
  server: Server,
  contributions: readonly Contribution[],
  hasTools = canServe,
): Disposable[] {
  const { lm } = newer;
  const definitions = lm.registerMcpServerDefinitionProvider?.("fullgraph", {
    onDidChangeMcpServerDefinitions: (listener) =>
      server.onDidChange(() => {
        listener();
      }),
    provideMcpServerDefinitions: () => serverDefinitions(server, hasTools),
  });
  const tools = contributions.map((one) => lm.registerTool?.(one.name, tool(server, one)));
  return [...tools, definitions].filter((item) => item !== undefined);
}

function tool(server: Server, { name, displayName }: Contribution): Tool {
  return {
    prepareInvocation({ input }) {
      const target = input.target ?? input.before ?? "";
      const confirmationMessages = {
        title: displayName,
        message: l10n.t("This runs the code of {0} on this machine.", target),
      };
      return {
        invocationMessage: `${displayName}: ${target}`,
        ...(name === EXPLAIN ? {} : { confirmationMessages }),
      };
    },
    async invoke({ input }, token) {
      const answer = await server.tool(
        { name: name.slice(PREFIX.length), arguments: input },
        token,
      );
      return new newer.LanguageModelToolResult([
        new newer.LanguageModelTextPart(JSON.stringify(answer)),
      ]);
    },
  };
}

/** A server for each folder whose interpreter has `fullgraph[mcp]`. */
async function serverDefinitions(
  server: Server,
  hasTools: (python: string) => Promise<boolean>,
): Promise<Definition[]> {
  const found = (workspace.workspaceFolders ?? []).map(async ({ name, uri }) => {
    const params: InterpreterParams = { uri: uri.toString() };
    const python = (await server.request<InterpreterItem>(INTERPRETER, params))?.path;
    if (python === undefined || !(await hasTools(python))) {
      return undefined;
    }
    const args = ["-I", "-c", START, "mcp", "--python", python];
    const definition = new newer.McpStdioServerDefinition(`Fullgraph (${name})`, python, args);
    definition.cwd = uri;
    return definition;
  });
  return (await Promise.all(found)).filter((item) => item !== undefined);
}

function canServe(python: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(
      python,
      ["-I", "-c", "import fullgraph_server.cli.mcp"],
      { timeout: PATIENCE, killSignal: "SIGKILL", windowsHide: true },
      (error) => {
        resolve(!error);
      },
    );
  });
}
