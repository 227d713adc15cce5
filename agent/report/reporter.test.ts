import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TestMachine, testMachine } from '../testing/machine.ts';

let machine: TestMachine;
beforeEach(async () => {
  machine = await testMachine();
});
afterEach(async () => {
  await machine.close();
});

const messages = () => machine.portal.reports.flatMap(({ problems }) => (problems ?? []).map(({ message }) => message));
const attempts = () => machine.portal.calls.filter((call) => call === 'POST /agent/v1/reports').length;

test('20 reports queued during a three-second gateway outage arrive within seconds after it', async () => {
  const { reporter } = await machine.start();
  reporter.problem('echo', 'before');
  await machine.portal.until('a report', () => messages().includes('before'));

  machine.portal.away = true;
  const before = attempts();
  const expected = Array.from({ length: 20 }, (_, index) => `trouble ${index}`);
  for (const message of expected) {
    reporter.problem('echo', message);
    await delay(150);
  }
  const during = attempts() - before;
  const began = performance.now();
  machine.portal.away = false;
  await machine.portal.until('all reports', () => messages().length > expected.length);

  expect(messages()).toEqual(['before', ...expected]);
  expect(during).toBeLessThan(10);
  // The pause is at most as long as the outage. The additional three seconds are for a busy machine.
  expect((performance.now() - began) / 1000).toBeLessThan(3 + 3);
});

test('a new report does not shorten a pause that the portal requested', async () => {
  const { reporter } = await machine.start();
  machine.portal.refuseReports = { status: 429, times: 1, retryAfter: 2 };
  reporter.problem('echo', 'first');
  await machine.portal.until('the refusal', () => machine.portal.refuseReports.times === 0);
  const began = performance.now();
  reporter.problem('echo', 'second');
  await machine.portal.until('both', () => messages().length === 2);
  expect(performance.now() - began).toBeGreaterThan(1_500);
});
