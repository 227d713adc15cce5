import { expect, test } from 'vitest';
import { type ConductorReport, conductorProblem, waitingSince } from './conductor.ts';

const [early, late] = [new Date('2026-11-22T09:00:00Z'), new Date('2026-11-22T09:15:00Z')];
const connected: ConductorReport = {
  ...{ isRunning: true, seenAt: late, connectedAt: early, fault: null, faultDetail: null, faultSince: null },
  ...{ unreadable: 0, unmatched: 0, rejectedAt: null, boundVms: 1 },
};
const broken: ConductorReport = { ...connected, connectedAt: null, fault: 'conductor.tls', faultSince: early };

test.each<[what: string, report: ConductorReport | null, problem: object | null]>([
  ['without a broker', null, null],
  ['while connected', connected, null],
  ['while the broker cannot be used', broken, { id: 'conductor.tls', since: early }],
  ['after the conductor has stopped', { ...broken, isRunning: false }, { id: 'conductor.stopped', since: late }],
])('%s, the problem is named with the time since which it exists', (_, report, problem) => {
  expect(conductorProblem(report)).toEqual(problem);
});

test('the plans of a VM do not wait for the broker before the VM uses AMQP', () => {
  expect(waitingSince(late, undefined)).toEqual(late);
  expect(waitingSince(late, early.toISOString())).toEqual(late);
  expect(waitingSince(early, late.toISOString())).toEqual(late);
});
