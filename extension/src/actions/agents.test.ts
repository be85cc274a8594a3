import { beforeEach, expect, test } from "vitest";
import { type Definitions, registerForAgents, type Tool } from "./agents";
import type { ToolParams } from "../protocol";
import type { Server } from "../server/server";
import { folder, lm, workspace } from "../testing/vscode";

const TOOLS = [
  { name: "fullgraph_check_target", displayName: "Check" },
  { name: "fullgraph_explain_finding", displayName: "Explain" },
];

let called: ToolParams[];
let interpreter: string | undefined;

const server = {
  onDidChange: () => ({ dispose: () => undefined }),
  request: () => Promise.resolve(interpreter === undefined ? undefined : { path: interpreter }),
  tool: (params: ToolParams) => {
    called.push(params);
    return Promise.resolve({ status: "finished" });
  },
} as unknown as Server;

beforeEach(() => {
  called = [];
  interpreter = "/project/.venv/bin/python";
  lm.tools.clear();
  lm.providers.clear();
  workspace.workspaceFolders = [folder("/project")];
});

function registered(hasTools = true): { tool: (name: string) => Tool; definitions: Definitions } {
  registerForAgents(server, TOOLS, () => Promise.resolve(hasTools));
  return {
    tool: (name) => lm.tools.get(`fullgraph_${name}`) as Tool,
    definitions: lm.providers.get("fullgraph") as Definitions,
  };
}

test("a tool asks before code runs, and the server answers it", async () => {
  const { tool } = registered();
  const input = { target: "model.py" };
  expect(tool("check_target").prepareInvocation({ input })).toEqual({
    invocationMessage: "Check: model.py",
    confirmationMessages: {
      title: "Check",
      message: "This runs the code of model.py on this machine.",
    },
  });
  expect(tool("explain_finding").prepareInvocation({ input })).toEqual({
    invocationMessage: "Explain: model.py",
  });
  const result = await tool("check_target").invoke({ input }, undefined as never);
  expect(called).toEqual([{ name: "check_target", arguments: input }]);
  expect(result).toEqual({ parts: [{ text: '{"status":"finished"}' }] });
});

test("a server is offered for a folder whose interpreter has it", async () => {
  const { definitions } = registered();
  expect(await definitions.provideMcpServerDefinitions()).toMatchObject([
    { label: "Fullgraph (project)", command: interpreter, cwd: { path: "/project" } },
  ]);
});

test("no server is offered without the extra, nor without an interpreter", async () => {
  expect(await registered(false).definitions.provideMcpServerDefinitions()).toEqual([]);
  interpreter = undefined;
  expect(await registered().definitions.provideMcpServerDefinitions()).toEqual([]);
});

test("an older VS Code has neither", () => {
  const newer = { ...lm };
  Object.assign(lm, { registerTool: undefined, registerMcpServerDefinitionProvider: undefined });
  expect(registerForAgents(server, TOOLS)).toEqual([]);
  Object.assign(lm, newer);
});
