import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '#db/schema/auth.ts';
import { fleetCountDeltas, holds, vms } from '#db/schema/index.ts';
import locales from '#locales/en/vms.json' with { type: 'json' };
import type { Actor } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { checkCounts, foldCounts } from '#server/domain/health/index.ts';
import { vmHealths } from '#server/domain/verdicts/index.ts';
import { testActor, testContext } from '#server/testing/context.ts';
import { countFleet, summarizeFleet } from './count-fleet.ts';
import { listFleetFacets } from './list-facets.ts';
import { listFleetFields } from './list-fields.ts';
import { insertFleet } from './testing/insert-fleet.ts';

const now = new Date('2026-03-01T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
const none = Object.fromEntries(vmHealths.map((health) => [health, 0]));

let ctx: Context;

beforeAll(async () => {
  ctx = await testContext({ role: 'viewer', now });
});

test('an empty fleet has a zero for every health', async () => {
  expect(await summarizeFleet(ctx)).toEqual({ total: 0, byHealth: none, silent: 0, held: 0 });
  expect(await countFleet(ctx, {})).toEqual({ matching: 0 });
  expect(await listFleetFacets(ctx, { facet: 'tag' })).toEqual({ items: [], more: false });
});

describe('a fleet', () => {
  beforeAll(async () => {
    await insertFleet(ctx.db, now, [
      { name: 'new', health: null },
      { name: 'gone', health: null, isDeleted: true },
      { name: 'well', lastSeenAt: ago(5) },
      { name: 'well-too', lastSeenAt: ago(5) },
      { name: 'broken and away', health: 'failed', lastSeenAt: ago(9_000) },
      { name: 'away', health: 'unresponsive', lastSeenAt: ago(601) },
      { name: 'away in the last poll', health: 'unresponsive', lastSeenAt: ago(600) },
      { name: 'back since', health: 'unresponsive', lastSeenAt: ago(1) },
    ]);
    await checkCounts(ctx, now);
  });
  const byHealth = { ...none, healthy: 2, failed: 1, unresponsive: 3 };

  test('AZ-S6 counts as silent the unresponsive VMs whose last call is over 10 minutes ago', async () => {
    expect((await summarizeFleet(ctx)).silent).toBe(1);
    expect((await summarizeFleet({ ...ctx, now: new Date(now.getTime() + 1) })).silent).toBe(2);
    expect(await countFleet(ctx, { silentMinutes: 10 })).toEqual({ matching: 1 });
  });

  test('VMs on hold are counted and found', async () => {
    expect((await summarizeFleet(ctx)).held).toBe(0);
    const [vm] = await ctx.db.select({ id: vms.id }).from(vms).where(eq(vms.name, 'well'));
    await ctx.db.insert(holds).values({ vmId: vm?.id ?? '', since: now, changedAt: now });
    expect((await summarizeFleet(ctx)).held).toBe(1);
    expect(await countFleet(ctx, { held: ['yes'] })).toEqual({ matching: 1 });
    expect(await countFleet(ctx, { held: ['no'] })).toEqual({ matching: 6 });
    expect(await countFleet(ctx, { held: ['yes', 'no'] })).toEqual({ matching: 7 });
    expect(await countFleet(ctx, { held: ['yes'], health: ['failed'] })).toEqual({ matching: 0 });
    await ctx.db.update(holds).set({ since: null });
    expect(await countFleet(ctx, { held: ['yes'] })).toEqual({ matching: 0 });
  });

  test('the total includes VMs that are not evaluated yet, but no deleted VMs', async () => {
    expect(await summarizeFleet(ctx)).toMatchObject({ total: 7, byHealth });
    expect(await countFleet(ctx, {})).toEqual({ matching: 7 });
    expect(await countFleet(ctx, { health: [...vmHealths] })).toEqual({ matching: 6 });
  });

  test('counts are the same before and after differences are folded', async () => {
    expect((await summarizeFleet(ctx)).byHealth).toEqual(byHealth);
    await foldCounts(ctx);
    expect((await summarizeFleet(ctx)).byHealth).toEqual(byHealth);
    await ctx.db.insert(fleetCountDeltas).values([
      { what: 'failed', n: -1 },
      { what: 'healthy', n: 1 },
    ]);
    expect((await summarizeFleet(ctx)).byHealth).toEqual({ ...byHealth, failed: 0, healthy: 3 });
  });

  test('a health value of a later release is in no count', async () => {
    await ctx.db.insert(fleetCountDeltas).values({ what: 'melted', n: 4 });
    const summary = await summarizeFleet(ctx);
    expect(Object.keys(summary.byHealth).toSorted()).toEqual([...vmHealths].toSorted());
  });
});

describe('filter fields', () => {
  test('are plain data with a label, in the order of the table', async () => {
    const fields = await listFleetFields(ctx);
    expect(structuredClone(fields)).toEqual(fields);
    expect(fields.map(({ name, parameter, isSetByPeople, find }) => [name, parameter, isSetByPeople, find])).toEqual([
      ['q', 'q', true, null],
      ['health', 'health', false, 'filter.find.health'],
      ['tags', 'tag', true, 'filter.find.tag'],
      ['notTags', 'notTag', true, null],
      ['handler', 'handler', true, 'filter.find.handler'],
      ['notHandler', 'notHandler', true, null],
      ['otherHandler', 'otherHandler', true, null],
      ['version', 'version', false, null],
      ['olderThan', 'olderThan', false, null],
      ['running', 'running', false, null],
      ['extension', 'extension', true, null],
      ['state', 'state', false, 'filter.find.state'],
      ['worst', 'worst', false, null],
      ['cause', 'cause', false, 'filter.find.cause'],
      ['command', 'command', false, null],
      ['hasCommand', 'hasCommand', false, null],
      ['exitCode', 'exitCode', false, null],
      ['messageId', 'messageId', false, 'filter.find.messageId'],
      ['hasMessage', 'hasMessage', false, null],
      ['overdue', 'overdue', false, null],
      ['stateAfter', 'stateAfter', false, null],
      ['stateBefore', 'stateBefore', false, null],
      ['formula', 'formula', false, null],
      ['unitState', 'unitState', false, null],
      ['unitCause', 'unitCause', false, null],
      ['hook', 'hook', false, null],
      ['hookExitCode', 'hookExitCode', false, null],
      ['silentMinutes', 'silentMinutes', false, null],
      ['silentAfter', 'silentAfter', false, null],
      ['silentBefore', 'silentBefore', false, null],
      ['sinceAfter', 'sinceAfter', false, null],
      ['sinceBefore', 'sinceBefore', false, null],
      ['became', 'became', false, null],
      ['left', 'left', false, null],
      ['changedAfter', 'changedAfter', false, null],
      ['changedBefore', 'changedBefore', false, null],
      ['held', 'held', true, null],
      ['agentOutdated', 'agentOutdated', false, null],
      ['event', 'event', false, null],
      ['silence', 'silence', false, null],
      ['updateAvailable', 'updateAvailable', false, 'filter.find.updateAvailable'],
      ['rollout', 'rollout', false, null],
      ['step', 'step', false, null],
      ['model', 'model', true, 'filter.find.model'],
      ['cloudService', 'cloudService', true, 'filter.find.cloudService'],
      ['availabilitySet', 'availabilitySet', true, null],
      ['instanceId', 'instanceId', true, null],
      ['unitOf', 'unitOf', true, null],
    ]);
    for (const { label, find } of fields)
      expect(locales).toMatchObject({ [label]: expect.any(String), ...(find && { [find]: expect.any(String) }) });
  });

  test('offer each order once', async () => {
    const orders = (await listFleetFields(ctx)).flatMap(({ orders }) => orders);
    expect(orders).toEqual(['name', 'health', 'since']);
  });
});

const verbs = {
  countFleet: (of: Context) => countFleet(of, {}),
  summarizeFleet,
  listFleetFields,
  listFleetFacets: (of: Context) => listFleetFacets(of, { facet: 'tag' }),
};

describe.each(Object.entries(verbs))('%s', (_, verb) => {
  test.each<Role>(['viewer', 'operator', 'publisher', 'admin'])('answers a person with the role %s', async (role) => {
    await expect(verb({ ...ctx, actor: testActor(role) })).resolves.toBeDefined();
  });

  test.each<[string, Actor, object]>([
    ['without a session', testActor(null), { kind: 'unauthenticated', code: 'unauthenticated' }],
    [
      'without a required second factor',
      { ...testActor('admin'), role: null },
      { kind: 'forbidden', code: 'factor_required' },
    ],
  ])('rejects a caller %s', async (_, actor, error) => {
    await expect(verb({ ...ctx, actor })).rejects.toMatchObject(error);
  });
});
