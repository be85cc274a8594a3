/** What the tests know of the examples, and programs that misbehave. */

import type { Squiggle } from "./text.ts";

/** The graph breaks of toy.py. */
export const BREAKS: Squiggle[] = [
  { severity: "warning", text: 'print("woo")' },
  { severity: "warning", text: "b.sum() < 0" },
];

/** Never ends by itself. */
export const ENDLESS = `import torch


@torch.compile
def twice(x):
    return x * 2


if __name__ == "__main__":
    while True:
        twice(torch.ones(2))
`;
