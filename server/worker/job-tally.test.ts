import { expect, test } from 'vitest';
import { JobTally } from './job-tally.ts';

test("a job's figures cover the time since they were last read", () => {
  const tally = new JobTally();
  tally.ran('clear-logs', 3, 20);
  tally.ran('clear-logs', 2, 10);
  tally.skipped('clear-logs');
  tally.failed('send-anchors');
  expect(tally.take()).toEqual({
    'clear-logs': { runs: 2, skipped: 1, failed: 0, count: 5, slowestMs: 20 },
    'send-anchors': { runs: 0, skipped: 0, failed: 1, count: 0, slowestMs: 0 },
  });
  tally.ran('clear-logs', 0, 5);
  expect(tally.take()).toEqual({ 'clear-logs': { runs: 1, skipped: 0, failed: 0, count: 0, slowestMs: 5 } });
});
