import { and, eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AgentSighting, auditEntries, changes, stockAgents } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import {
  getWireAccess,
  grantWireAccess,
  hasChangedHealth,
  noteObservations,
  noteSighting,
  type ReportedObservation,
} from './index.ts';

let services: Services;
let operator: Context;
let vmId: string;
beforeAll(async () => {
  services = await testServices({ config: { wire: true } });
  operator = await testContext({ services, role: 'operator' });
});
beforeEach(async () => {
  ({ vmId } = await givenVm(services));
});

const at = (seconds: number) => new Date(Date.UTC(2030, 0, 1) + seconds * 1_000);
const ctxAt = (seconds: number): Context => ({ ...operator, now: at(seconds) });
const changesOf = () => services.db.$count(changes, and(eq(changes.topic, 'vm'), eq(changes.key, vmId)));

/** Parses an observation: `name` is healthy, `name: text` is not. */
function observed(report: string): ReportedObservation {
  const [name = '', text] = report.split(': ');
  return { name, isHealthy: text === undefined, text: text ?? null };
}
const note = (seconds: number, ...reports: string[]) => noteObservations(ctxAt(seconds), vmId, reports.map(observed));
/** Returns the stored observations as `name text since-until`. */
const shown = async () => {
  const { stock } = await getWireAccess(operator, { vmId });
  const second = (time: string | null) => (time === null ? '' : (Date.parse(time) - at(0).getTime()) / 1_000);
  return (stock?.observations ?? []).map(
    ({ name, text, since, until }) => `${name} ${text} ${second(since)}-${second(until)}`,
  );
};

describe('what a stock agent reports about its components', () => {
  beforeEach(() => grantWireAccess(operator, { vmId }));

  type Case = [what: string, reports: [seconds: number, ...reports: string[]][], stored: string[]];
  test.each<Case>([
    ['nothing wrong', [[0, 'cgroups', 'imds']], []],
    ['one that is not healthy', [[5, 'imds: timeout']], ['imds timeout 5-']],
    [
      'the same again',
      [
        [5, 'imds: timeout'],
        [9, 'imds: timeout'],
      ],
      ['imds timeout 5-'],
    ],
    [
      'another reason, since the first',
      [
        [5, 'imds: timeout'],
        [9, 'imds: refused'],
      ],
      ['imds refused 5-'],
    ],
    [
      'recovered',
      [
        [5, 'imds: timeout'],
        [9, 'imds'],
      ],
      ['imds timeout 5-9'],
    ],
    [
      'healthy for longer',
      [
        [5, 'imds: timeout'],
        [9, 'imds'],
        [20, 'imds'],
      ],
      ['imds timeout 5-9'],
    ],
    [
      'not healthy again, as a new one',
      [
        [5, 'imds: timeout'],
        [9, 'imds'],
        [20, 'imds: timeout'],
      ],
      ['imds timeout 20-'],
    ],
    ['two in one report', [[5, 'imds: timeout', 'cgroups: missing']], ['imds timeout 5-', 'cgroups missing 5-']],
    ['several of one name in a report', [[5, 'imds: timeout', 'imds: refused', 'imds']], ['imds refused 5-5']],
    [
      'one recovers, the other one stays',
      [
        [5, 'imds: timeout', 'cgroups: missing'],
        [9, 'imds', 'cgroups: missing'],
      ],
      ['imds timeout 5-9', 'cgroups missing 5-'],
    ],
  ])('%s', async (_, reports, stored) => {
    for (const [seconds, ...report] of reports) await note(seconds, ...report);
    expect(await shown()).toEqual(stored);
  });

  test('at most eight names: a recovered component makes room, and all others are kept', async () => {
    const names = Array.from({ length: 8 }, (_, n) => `part${n}`);
    await note(1, ...names.map((name) => `${name}: down`));
    await note(2, 'ninth: down');
    expect((await shown()).map((line) => line.split(' ')[0])).toEqual(names);
    await note(3, 'part4');
    await note(4, 'ninth: down');
    expect((await shown()).map((line) => line.split(' ')[0])).toEqual([
      ...names.filter((name) => name !== 'part4'),
      'ninth',
    ]);
  });

  test('is announced to pages when it changes, and only then', async () => {
    const before = await changesOf();
    await note(1, 'imds: timeout');
    await note(2, 'imds: timeout');
    await note(3, 'cgroups');
    expect((await changesOf()) - before).toBe(1);
    await note(4, 'imds');
    expect((await changesOf()) - before).toBe(2);
  });

  test('from two gateways at the same time loses none', async () => {
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => note(1, `${name}: down`)));
    expect((await shown()).toSorted()).toEqual(['a down 1-', 'b down 1-', 'c down 1-', 'd down 1-']);
  });

  test.each<[report: string, changed: boolean]>([
    ['imds', true],
    ['imds: timeout', false],
    ['imds: refused', false],
    ['cgroups', false],
    ['cgroups: missing', true],
  ])('beside an unhealthy imds, %s changes the health: %s', async (report, changed) => {
    const kept = await note(1, 'imds: timeout');
    expect(hasChangedHealth(kept, observed(report))).toBe(changed);
  });
});

test('a VM without a stock agent stores no observations and no sightings', async () => {
  expect(await note(1, 'imds: timeout')).toEqual([]);
  expect(await noteSighting(ctxAt(1), vmId, { kind: 'forwarder', mark: 'a' })).toBeNull();
});

describe('machines that speak for a stock VM', () => {
  beforeEach(() => grantWireAccess(operator, { vmId }));
  const see = (seconds: number, mark: string, kind: AgentSighting['kind'] = 'forwarder') =>
    noteSighting(ctxAt(seconds), vmId, { kind, mark });
  const duplicates = () =>
    services.db.$count(
      auditEntries,
      and(eq(auditEntries.vmId, vmId), eq(auditEntries.action, 'wire-access.duplicate')),
    );
  const stored = async () =>
    (await services.db.select().from(stockAgents).where(eq(stockAgents.vmId, vmId)))[0]?.sightings;

  test('one machine is stored once, and is not a duplicate', async () => {
    await see(0, 'a');
    const first = await stored();
    await see(1, 'a');
    expect(await stored()).toEqual(first);
    expect(await duplicates()).toBe(0);
  });

  test('two that alternate are a duplicate, recorded at most once a minute', async () => {
    for (let round = 0; round < 6; round += 1) await see(40 * round, round % 2 === 0 ? 'a' : 'b');
    expect(await duplicates()).toBe(2);
    expect(new Set((await stored())?.map(({ mark }) => mark))).toEqual(new Set(['a', 'b']));
  });

  test('a new token forgets the machines of the previous token', async () => {
    for (let round = 0; round < 3; round += 1) await see(40 * round, round % 2 === 0 ? 'a' : 'b');
    await grantWireAccess(operator, { vmId });
    expect(await stored()).toEqual([]);
  });
});
