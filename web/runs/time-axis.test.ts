import assert from "node:assert/strict";
import { test } from "node:test";
import { timeAxis } from "./time-axis.ts";

test("time runs evenly where all of it was work", () => {
  const { at, breaks, ticks } = timeAxis({ from: 1000, to: 11_000 }, [{ from: 1000, to: 11_000 }]);
  assert.deepEqual([at(1000), at(6000), at(11_000), at(0), at(99_999)], [0, 0.5, 1, 0, 1]);
  assert.deepEqual(breaks, []);
  assert.deepEqual(
    ticks.map(({ time }) => time),
    [0, 2000, 4000, 6000, 8000],
  );
});

test("a night of waiting leaves room for the work before and after it", () => {
  const night = 8 * 3_600_000;
  const { at, breaks, ticks } = timeAxis({ from: 0, to: night + 20_000 }, [
    { from: 0, to: 10_000 },
    { from: 2000, to: 9000 },
    { from: night + 10_000, to: night + 20_000 },
  ]);
  assert.equal(breaks.length, 1);
  assert.deepEqual([breaks[0]!.from, breaks[0]!.to], [10_000, night + 10_000]);
  assert.ok(Math.abs(at(10_000) - 0.46) < 0.001 && Math.abs(at(night + 10_000) - 0.54) < 0.001);
  assert.ok(ticks.every(({ time }) => time <= 10_000 || time >= night + 10_000));
  for (let time = 0, last = -1; time <= night + 20_000; time += 60_000) {
    assert.ok(at(time) >= last);
    last = at(time);
  }
});

test("nothing but a moment", () => {
  assert.equal(timeAxis({ from: 5, to: 6 }, []).at(5), 0);
});
