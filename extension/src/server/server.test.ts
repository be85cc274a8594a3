import type { ExtensionContext } from "vscode";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ClientContext } from "./client";
import { forget } from "../shared/messages";
import { Server } from "./server";
import { behaviour, type Client, clients } from "../testing/client";
import { keepingLog } from "../testing/log";
import { shown, workspace } from "../testing/vscode";

vi.mock("vscode-languageclient/node", () => import("../testing/client"));
vi.mock("./client", () => import("../testing/client"));
vi.mock("./interpreter", () => ({
  candidates: () => [],
  probePython: () => undefined,
  findPython: () => Promise.resolve(found),
}));

let found: { path: string; version: string } | undefined;
let server: Server;
let states: string[];

beforeEach(() => {
  forget();
  clients.length = shown.length = 0;
  found = { path: "python", version: "3.12.1" };
  behaviour.start = () => Promise.resolve();
  const context = { log: keepingLog() } as unknown as ClientContext;
  server = new Server({ extensionPath: "/extension" } as ExtensionContext, context);
  states = [];
  server.onDidChange(({ kind }) => states.push(kind));
});

afterEach(() => {
  workspace.isTrusted = true;
});

/** The newest client, which there must be. */
function client(): Client {
  const newest = clients.at(-1);
  if (!newest) {
    throw new Error("no client was made");
  }
  return newest;
}

test("starts", async () => {
  await server.restart();
  expect(states).toEqual(["starting", "ready"]);
  expect(await server.available()).toBe(true);
});

test("in Restricted Mode, nothing is started, and commands say so", async () => {
  workspace.isTrusted = false;
  await server.restart();
  expect(clients).toEqual([]);
  expect(await server.available()).toBe(false);
  expect(shown).toHaveLength(1);
  expect(shown[0]).toContain("Restricted Mode");
});

test("restarts that are asked for during one are one more", async () => {
  await Promise.all([1, 2, 3, 4, 5].map(() => server.restart()));
  expect(clients.map(({ stopped }) => stopped)).toEqual([1, 0]);
  expect(states).toEqual(["starting", "ready", "starting", "ready"]);
});

test("a command waits for a server that is starting", async () => {
  const restarted = server.restart();
  expect(server.state.kind).toBe("starting");
  expect(await server.available()).toBe(true);
  await restarted;
});

test("a server that dies is started again, but not for ever", async () => {
  await server.restart();
  for (let times = 1; times <= 3; times++) {
    client().die();
    await vi.waitFor(() => {
      expect(clients).toHaveLength(times + 1);
    });
    expect(await server.available()).toBe(true);
  }
  expect(shown).toEqual([]);
  client().die();
  expect(server.state.kind).toBe("failed");
  expect(clients).toHaveLength(4);
  expect(shown).toHaveLength(1);
});

test("a server that dies at its start is not started again, and that is told once", async () => {
  behaviour.start = () => Promise.reject(new Error("dead"));
  await server.restart();
  expect(server.state.kind).toBe("failed");
  await server.startIfDown();
  expect(clients).toHaveLength(2);
  expect(shown).toHaveLength(1);
  expect(await server.request("fullgraph/targets", {})).toBeUndefined();
});

test("a server that is there is left alone", async () => {
  await server.restart();
  await server.startIfDown();
  expect(clients).toHaveLength(1);
});

test("without a Python nothing is started; once there is one, it is", async () => {
  const python = found;
  found = undefined;
  await server.restart();
  expect(server.state.kind).toBe("noPython");
  expect(clients).toEqual([]);
  expect(shown).toHaveLength(1);
  found = python;
  await server.startIfDown();
  expect(server.state.kind).toBe("ready");
});

test("one that is stopped on purpose is not started again", async () => {
  await server.restart();
  await server.dispose();
  expect(client().stopped).toBe(1);
  expect(clients).toHaveLength(1);
});

test("one that is disposed while it starts is ended", async () => {
  let begun: () => void = () => undefined;
  behaviour.start = () => new Promise((resolve) => (begun = resolve));
  const restarted = server.restart();
  await vi.waitFor(() => {
    expect(clients).toHaveLength(1);
  });
  await server.dispose();
  expect(client().killed).toBe(1);
  begun();
  await restarted;
  expect(client().stopped).toBe(1);
  expect(states).toEqual(["starting"]);
});
