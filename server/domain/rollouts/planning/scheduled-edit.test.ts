import { eq } from 'drizzle-orm';
import { pino } from 'pino';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { handlerVersions, rollouts } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { Definition } from '#server/domain/rollout-rules/stored.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { approvalsNeeded } from '../approvals.ts';
import { getRollout, startRollout, unscheduleRollout, updateRollout } from '../index.ts';
import { membersOf, ringUpTo, rowOf, setRollout } from '../testing/given-draft.ts';
import { givenStarted } from '../testing/given-plan.ts';
import { checkRollout } from './check-rollout.ts';
import type { PlanServices } from './snapshot.ts';

let services: PlanServices;
let ctx: Context;
let vms: GivenVm[];
const now = new Date();
const startAt = new Date(now.getTime() + 3_600_000);
const night = { days: ['sun'], from: '01:00', to: '05:00', timeZone: 'Europe/Berlin' };

beforeAll(async () => {
  services = { ...(await testServices()), log: pino({ level: 'silent' }) };
  ctx = await testContext({ services, role: 'operator' });
  for (const version of ['1.0.0.0', '1.1.0.0', '1.2.0.0']) await givenVersion(services.db, { version });
});

beforeEach(async () => {
  vms = [await givenVm(services), await givenVm(services), await givenVm(services)];
  for (const vm of vms) await vm.declare('probe');
});

afterEach(() => services.db.delete(rollouts));

type Shown = Record<string, unknown> & { rings: { gates: object }[] };

/** Schedules a rollout whose plan someone approved. */
async function scheduled(definition: Partial<Definition> = {}) {
  const select = { ids: vms.map(({ vmId }) => vmId) };
  const rings = [ringUpTo(5_000), ringUpTo(10_000)];
  const retry = { times: 0, afterSeconds: 60, causes: ['exit'] };
  const terms = { select, rings, retry, startAt: startAt.toISOString(), ...definition };
  const { id, plan } = await givenStarted(services, terms, { startAt });
  const approval = { ring: null, approved: true, actor: 'user:ada', by: 'ada', at: now.toISOString(), note: null };
  await setRollout(services, id, { approvals: [{ ...approval, planHash: plan.hash }] });
  await checkRollout(services, id, now);
  expect(await rowOf(services, id)).toMatchObject({ state: 'scheduled', planHash: plan.hash });
  return { id, hash: plan.hash };
}

/** Edits the definition as the portal returns it. */
async function edit(id: string, change: (definition: Shown) => object): Promise<void> {
  const { definition, revision } = await getRollout(ctx, { id });
  const edited = { ...definition, ...change(definition as Shown) };
  await updateRollout(ctx, { id, revision, definition: edited });
}

/** Checks a scheduled rollout when its time has come. */
async function checkedAtStart(id: string) {
  await setRollout(services, id, { state: 'checking' });
  await checkRollout(services, id, startAt);
  return rowOf(services, id);
}

const edits: [string, (definition: Shown) => object][] = [
  ['windows', () => ({ windows: [night] })],
  ['the windows of a ring', ({ rings: [first, second] }) => ({ rings: [first, { ...second, windows: [night] }] })],
  ['the name of a ring', ({ rings: [first, second] }) => ({ rings: [{ ...first, name: 'canary' }, second] })],
  [
    'a lower limit',
    ({ rings }) => ({ rings: rings.map((ring) => ({ ...ring, gates: { ...ring.gates, inFlight: { percent: 5 } } })) }),
  ],
  ['a rate', () => ({ stepsPerSecond: 2 })],
];

describe('RO-34 a scheduled rollout starts as planned after an edit of', () => {
  test.each(edits)('%s', async (_, change) => {
    const { id, hash } = await scheduled();
    const members = await membersOf(services, id);
    await edit(id, change);
    const edited = await rowOf(services, id);
    expect(edited).toMatchObject({ state: 'scheduled', revision: 2, members: 3 });
    expect(edited.planHash).not.toBe(hash);
    expect(edited.plan?.hash).toBe(edited.planHash);
    expect(await checkedAtStart(id)).toMatchObject({ state: 'running', why: [], planHash: edited.planHash });
    expect(await membersOf(services, id)).toEqual(members);
  });

  test('nothing but its name, with the same hash', async () => {
    const { id } = await scheduled();
    const before = await rowOf(services, id);
    await edit(id, () => ({ name: 'Tonight', note: 'see 1' }));
    const { planHash, members } = before;
    expect(await checkedAtStart(id)).toMatchObject({ state: 'running', name: 'Tonight', planHash, members });
  });
});

describe('RO-34 an edit of a scheduled rollout', () => {
  test('keeps the approvals of its plan, which can be started again after it was unscheduled', async () => {
    const { id, hash } = await scheduled();
    await edit(id, () => ({ windows: [night] }));
    const edited = await rowOf(services, id);
    const planHash = edited.planHash ?? '';
    expect(edited.approvals).toMatchObject([{ by: 'ada', approved: true, planHash }]);
    expect(approvalsNeeded({ approval: { fromMembers: 1, people: 1, role: 'operator' } }, edited)).toBe(0);
    await unscheduleRollout(ctx, { id });
    expect(await outcomeOf(startRollout(ctx, { id, plan: hash }))).toBe('precondition_failed plan_moved_on');
    await startRollout(ctx, { id, plan: planHash });
    await checkRollout(services, id, startAt);
    expect(await rowOf(services, id)).toMatchObject({ state: 'running', planHash });
  });

  test('does not accept what moved before it', async () => {
    const { id } = await scheduled({ maxMovedShare: 10_000 });
    const version = services.db.update(handlerVersions);
    const named = eq(handlerVersions.version, '1.1.0.0');
    await version.set({ settingsSchema: { publicSettings: { type: 'object' } } }).where(named);
    await edit(id, () => ({ windows: [night] }));
    const row = await checkedAtStart(id);
    await version.set({ settingsSchema: null }).where(named);
    const params = { cause: 'definition' };
    expect(row).toMatchObject({ state: 'planned', approvals: [], why: [{ code: 'plan_moved_on', params }] });
  });

  test('does not accept members that move after it', async () => {
    const { id } = await scheduled();
    await edit(id, () => ({ windows: [night] }));
    await vms[0]?.declare('probe', { version: '1.2.0.0' });
    const params = { cause: 'members', moved: 1, allowed: 0, 'update-none': 1 };
    expect(await checkedAtStart(id)).toMatchObject({ state: 'planned', members: 2, why: [{ params }] });
  });

  test('RO-35 to a window into which no step fits keeps it from starting, and says in which ring', async () => {
    const { id } = await scheduled();
    await edit(id, () => ({ windows: [{ ...night, to: '01:02' }] }));
    const why = [{ code: 'plan_failed', ring: 0, params: { cause: 'window_too_short' } }];
    expect(await checkedAtStart(id)).toMatchObject({ state: 'planned', startedBy: null, why });
  });
});
