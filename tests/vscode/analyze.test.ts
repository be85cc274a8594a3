import { expect } from "vitest";
import { BREAKS, LONG } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

const TESTS = `import torch


def test_first():
    assert True


def test_second():
    f = torch.compile(lambda x: (print(x), x * 2)[1])
    f(torch.ones(2))
`;

scenario("one key shows the graph breaks, the guards and a summary", async (scene) => {
  const window = await scene.enter();
  await window.openFile("toy.py");
  await expect.poll(() => window.lenses()).toEqual(["▶ Analyze with Fullgraph"]);
  await scene.picture("lens");

  await window.page.keyboard.press("Control+Alt+g");
  await expect.poll(() => window.squiggles()).toEqual(BREAKS);
  await expect
    .poll(() => window.lenses())
    .toEqual([
      expect.stringMatching(/^3 graphs · 2 graph breaks · \d+ guards · compiled in [\d.]+ s$/),
      expect.stringMatching(/^▶ Analyze with Fullgraph\s*\|\s*Run TorchInductor$/),
    ]);

  await expect
    .poll(() => window.hover("a / ("))
    .toMatch(/a: \d+ guards in toy_example.*torch\.float32, shape/s);
  await scene.picture("guards");
  await expect.poll(() => window.hover("print(")).toMatch(/`print` breaks the graph.*GB0059/s);
  await scene.picture("finding");
  await expect
    .poll(() => window.hover("def toy_example"))
    .toMatch(/3 graphs · \d ops · 2 graph breaks/);

  await expect
    .poll(() => window.problems())
    .toEqual([
      "toy.py\n2",
      expect.stringMatching(
        /^`print` breaks the graph\nfullgraph\nGB0059\n\[Ln 9, Col 5\]\n.*`print`.*\nhelp: /,
      ),
      expect.stringContaining("toy.py\n[Ln 16, Col 5]"),
      expect.stringMatching(
        /^a branch on the data of `b\.sum\(\)` breaks the graph\nfullgraph\nGB0170\n\[Ln 10, Col 8\]\n/,
      ),
      expect.stringContaining("toy.py\n[Ln 16, Col 5]"),
    ]);
  await scene.picture("problems");

  // What was not run is said, with the click that runs it.
  await window.clickLens("Run TorchInductor");
  await expect
    .poll(() => window.lenses(), { timeout: LONG })
    .toEqual([
      expect.stringMatching(
        /^3 graphs · 2 graph breaks · \d+ guards · 3 kernels · compiled in [\d.]+ s$/,
      ),
      "▶ Analyze with Fullgraph",
    ]);
  // The graph breaks stay, beside hints on graphs that are too small.
  await expect.poll(() => window.squiggles()).toEqual(expect.arrayContaining(BREAKS));
  await scene.picture("torchinductor");
  expect(await window.messages()).toEqual([]);
});

scenario(
  "the palette has the commands without arguments, and one that lists the analyses",
  async (scene) => {
    const window = await scene.enter({ "test_model.py": TESTS });
    await window.openFile("test_model.py");
    await window.clickText("f(torch.ones(2))");
    await window.palette("Fullgraph: Analyze…");
    await window.quickRow("Analyze Test at Cursor").waitFor();
    await scene.picture("analyses");
    await window.choose("Analyze Test at Cursor");
    await expect
      .poll(() => window.squiggles())
      .toContainEqual({ severity: "warning", text: "print(x)" });

    let commands: string[] = [];
    await expect
      .poll(async () => (commands = await window.commands("Fullgraph: ")))
      .toContain("Fullgraph: Analyze This File");
    expect(commands).not.toContain("Fullgraph: Analyze");
    expect(commands).not.toContain("Fullgraph: Dry Run");
    expect(commands).not.toContain("Fullgraph: Show Full Explanation");

    await window.openView("Fullgraph");
    await expect
      .poll(() => window.target("test_model.py::test_second"))
      .toMatchObject({ description: expect.stringContaining("1 graph break") as string });
    await expect
      .poll(() => window.target("test_model.py::test_first"))
      .toMatchObject({ description: "" });
  },
);
