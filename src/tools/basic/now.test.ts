import assert from "node:assert/strict";
import { test } from "node:test";
import { describeMoment } from "./now.ts";

test("a moment is told by the clocks of the zone", () => {
  const moment = new Date("2026-03-01T23:30:05.900Z");
  assert.deepEqual(describeMoment(moment, "UTC"), {
    iso: "2026-03-01T23:30:05+00:00",
    weekday: "Sunday",
    timezone: "UTC",
  });
  assert.deepEqual(describeMoment(moment, "asia/kolkata"), {
    iso: "2026-03-02T05:00:05+05:30",
    weekday: "Monday",
    timezone: "Asia/Calcutta",
  });
  assert.equal(describeMoment(new Date("2026-07-01T00:00:00Z"), "America/New_York").iso, "2026-06-30T20:00:00-04:00");
});

test("the text is the same moment again, in winter, summer and at midnight", () => {
  for (const zone of ["Europe/Berlin", "Australia/Lord_Howe", "Pacific/Kiritimati", "America/St_Johns", undefined]) {
    for (let hour = 0; hour < 24 * 366; hour += 41) {
      const moment = new Date(Date.UTC(2026, 0, 1, hour));
      assert.equal(Date.parse(describeMoment(moment, zone).iso), moment.getTime());
    }
  }
});

test("an unknown zone is an error that names it", () => {
  assert.throws(() => describeMoment(new Date(), "Mars/Base"), /Time zone "Mars\/Base" not found/);
});
