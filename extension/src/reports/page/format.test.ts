import { expect, test } from "vitest";
import { line } from "../../testing/performance";
import { bytes, compact, count, duration, place, share } from "./format";

test.each([
  [bytes(512), "512 B"],
  [bytes(1536), "1.5 KiB"],
  [bytes(3 * 1024 ** 3), "3.0 GiB"],
  [compact(999), "999"],
  [compact(2_147_483_648), "2.1 G"],
  [duration(0), "0 s"],
  [duration(12.34), "12.3 s"],
  [duration(0.9999), "1.0 s"],
  [duration(0.045), "45 ms"],
  [duration(4.1e-6), "4.1 µs"],
  [duration(123), "123 s"],
  [share(1, 3), "33 %"],
  [share(1, 1000), "< 1 %"],
  [share(0, 0), "0 %"],
  [count(1, "kernel"), "1 kernel"],
  [count(1200, "kernel"), "1,200 kernels"],
])("%s is %s", (told, expected) => {
  expect(told).toBe(expected);
});

test("a place is a file's name and a line as people count it", () => {
  expect(place(line(7))).toBe("model.py:7");
  expect(place({ ...line(1), uri: "file:///%C3%9Cbungen/mod%20el.py" })).toBe("mod el.py:1");
});
