/** What the tests know of the examples, and programs that misbehave. */

import type { Squiggle } from "./text.ts";

/** The graph breaks of toy.py. */
export const BREAKS: Squiggle[] = [
  { severity: "warning", text: 'print("woo")' },
  { severity: "warning", text: "b.sum() < 0" },
];

/** A program with a matrix product and a kernel, forward and backward. */
export const PRODUCT = `import torch


# fullgraph: step(f32[8, 16].requires_grad_(), f32[16, 8]).sum().backward()
def step(x, w):
    y = x @ w
    z = torch.relu(y) + 1
    return z.exp()
`;

/** Milliseconds for a first run, which imports all of the compiler. */
export const LONG = 60_000;

/** Never ends by itself. */
export const ENDLESS = `import torch


@torch.compile
def twice(x):
    return x * 2


if __name__ == "__main__":
    while True:
        twice(torch.ones(2))
`;
