import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { handlerVersions, rolloutRings, rollouts } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { RingVerdict } from '#server/domain/rollout-rules/stored.ts';
import type { RolloutState } from '#server/domain/rollout-rules/words.ts';
import type { RolloutView } from '#server/domain/rollouts/index.ts';
import {
  type GivenTerms,
  givenRollout,
  givenStep,
  planHash,
  rowOf,
} from '#server/domain/rollouts/testing/given-rollout.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
let ctx: Context;
beforeAll(async () => {
  door = await openRestDoor();
  ctx = await testContext({ services: door.services, role: 'operator' });
  for (const version of ['1.0.0.0', '1.1.0.0']) await givenVersion(ctx.db, { version });
});
afterAll(() => door.close());

const as = 'operator';
const given = async (state: RolloutState, terms: GivenTerms = {}) => {
  const { id } = await givenRollout(ctx, { state, ...terms });
  return { id };
};
const act = (operation: string, params: { id: string }, body?: object) =>
  door.expect<RolloutView & { recalling?: number }>(operation, params, 200, { as, ...(body && { body }) });
const refused = (operation: string, params: { id: string }, outcome: readonly [number, string], body?: object) =>
  door.expect<{ detail: string; errors?: unknown }>(operation, params, outcome, { as, ...(body && { body }) });
const shown = (params: { id: string }) => door.expect<RolloutView>('getRollout', params, 200, { as: 'viewer' });

const halt = (gate: RingVerdict['gate'], code: string): RingVerdict => ({ gate, verdict: 'halt', code, params: {} });
const halted = (...verdicts: RingVerdict[]): GivenTerms => ({
  values: { pausedBy: 'gate' },
  rings: [{ state: 'halted', verdicts }],
});

describe('pausing', () => {
  test('RO-28 answers with who paused, why, and how many goal states are taken back', async () => {
    const params = await given('running');
    const [undelivered, delivered] = [await givenVm(ctx), await givenVm(ctx)];
    for (const vm of [undelivered, delivered]) {
      await vm.declare('probe');
      const step = { rolloutId: params.id, vmId: vm.vmId, state: 'inFlight' as const };
      await givenStep(ctx, { ...step, incarnation: 1, beforeIncarnation: 0 });
    }
    await delivered.deliver();
    const paused = await act('pauseRollout', params, { reason: 'storm' });
    expect(paused).toMatchObject({ state: 'paused', pausedBy: 'person', recalling: 1, next: null });
    expect(paused.why).toMatchObject([{ code: 'person', params: { by: 'operator', reason: 'storm' } }]);
    const again = await act('pauseRollout', params, { reason: 'another' });
    expect(again.why).toEqual(paused.why);
    expect((await shown(params)).why).toEqual(paused.why);
  });

  test('needs no body, and rejects a body that is not understood', async () => {
    const params = await given('keeping');
    const empty = await refused('pauseRollout', params, [422, 'invalid'], { reason: '' });
    expect(empty.errors).toMatchObject([{ path: '/reason' }]);
    const unknown = await refused('pauseRollout', params, [422, 'invalid'], { because: 'storm' });
    expect(unknown.errors).toMatchObject([{ path: '/because' }]);
    expect((await shown(params)).state).toBe('keeping');
    expect((await act('pauseRollout', params)).why).toMatchObject([{ code: 'person', params: { by: 'operator' } }]);
  });
});

describe('RO-29 resuming after a halt', () => {
  const both = halted(halt('errors', 'errors_count'), halt('success', 'success_unreachable'));
  const overrule = [
    { ring: 0, gate: 'errors' },
    { ring: 0, gate: 'success' },
  ];

  test('names the verdicts that are still open in the problem', async () => {
    const params = await given('paused', both);
    const none = await refused('resumeRollout', params, [409, 'verdicts_open']);
    expect(none.detail).toMatch(/1: errors, 1: success/);
    const one = await refused('resumeRollout', params, [409, 'verdicts_open'], {
      ...{ overrule: overrule.slice(0, 1), reason: 'known' },
    });
    expect(one.detail).toContain('1: success');
    expect(one.detail).not.toContain('errors');
    const other = { overrule: overrule.map((verdict) => ({ ...verdict, ring: 1 })), reason: 'known' };
    await refused('resumeRollout', params, [409, 'verdicts_open'], other);
    expect((await shown(params)).state).toBe('paused');
  });

  test('needs a reason and the names of gates that exist', async () => {
    const params = await given('paused', both);
    await refused('resumeRollout', params, [409, 'verdicts_open'], { overrule });
    const mood = await refused('resumeRollout', params, [422, 'invalid'], { overrule: [{ ring: 0, gate: 'mood' }] });
    expect(mood.errors).toMatchObject([{ path: '/overrule/0/gate' }]);
  });

  test('opens the ring again without the verdicts, and repeats without an effect', async () => {
    const params = await given('paused', both);
    const resumed = await act('resumeRollout', params, { overrule, reason: 'known' });
    expect(resumed).toMatchObject({ state: 'running', pausedBy: null, why: [] });
    expect(resumed.rings.map(({ state, verdicts }) => [state, verdicts])).toEqual([
      ['open', []],
      ['waiting', []],
      ['waiting', []],
    ]);
    expect(await act('resumeRollout', params)).toMatchObject({ state: 'running', revision: resumed.revision });
  });

  test('continues to keep what keeps only parked VMs', async () => {
    const rings = [0, 1, 2].map(() => ({ state: 'passed' as const }));
    expect(await act('resumeRollout', await given('paused', { rings }))).toMatchObject({ state: 'keeping' });
  });

  test('is rejected while the version is withdrawn, which the problem names', async () => {
    const params = await given('paused');
    const version = ctx.db.update(handlerVersions);
    await version.set({ state: 'withdrawn' }).where(eq(handlerVersions.version, '1.1.0.0'));
    const { detail } = await refused('resumeRollout', params, [409, 'version_withdrawn']);
    await version.set({ state: 'published' }).where(eq(handlerVersions.version, '1.1.0.0'));
    expect(detail).toContain('1.1.0.0');
    expect(await act('resumeRollout', params)).toMatchObject({ state: 'running' });
  });
});

describe('RO-9 advancing', () => {
  test('opens the next ring only, and only with a reason', async () => {
    const params = await given('running', { rings: [{ state: 'open' }] });
    const none = await refused('advanceRollout', params, [422, 'invalid'], { ring: 1 });
    expect(none.errors).toMatchObject([{ path: '/reason' }]);
    const unknown = await refused('advanceRollout', params, [422, 'invalid'], { ring: 3, reason: 'urgent' });
    expect(unknown.errors).toMatchObject([{ path: '/ring' }]);
    const skipping = await refused('advanceRollout', params, [409, 'ring_not_next'], { ring: 2, reason: 'urgent' });
    expect(skipping.detail).toContain('2');
    expect((await shown(params)).rings.map(({ state }) => state)).toEqual(['open', 'waiting', 'waiting']);
  });

  test('does not replace an approval', async () => {
    const params = await given('running', { rings: [{ state: 'open' }] });
    await refused('advanceRollout', params, [409, 'approval_missing'], { ring: 1, reason: 'urgent' });
    const approval = { ring: 1, approved: true, actor: 'user:ada', by: 'ada', at: ctx.now.toISOString(), note: null };
    await ctx.db
      .update(rolloutRings)
      .set({ approvals: [{ ...approval, planHash }] })
      .where(and(eq(rolloutRings.rolloutId, params.id), eq(rolloutRings.ring, 1)));
    const advanced = await act('advanceRollout', params, { ring: 1, reason: 'urgent' });
    expect(advanced.rings[1]).toMatchObject({ approval: true, approvedBy: 'ada' });
    const again = await act('advanceRollout', params, { ring: 1, reason: 'urgent' });
    expect(again).toEqual({ ...advanced, forecast: again.forecast });
    await act('advanceRollout', params, { ring: 2, reason: 'urgent' });
  });
});

describe('ending', () => {
  test.each(['scheduled', 'running', 'paused', 'keeping'] as const)('RO-30 aborts what is %s', async (state) => {
    const params = await given(state);
    const aborting = await act('abortRollout', params, { reason: 'not needed' });
    expect(['aborting', 'aborted']).toContain(aborting.state);
    expect(await act('abortRollout', params)).toMatchObject({ state: aborting.state });
    await refused('resumeRollout', params, [409, 'rollout_state']);
    const { detail } = await refused('pauseRollout', params, [409, 'rollout_state']);
    expect(detail).toMatch(/abort/);
  });

  test('does not abort what has ended or never started', async () => {
    expect(await act('abortRollout', await given('aborted'))).toMatchObject({ state: 'aborted' });
    for (const state of ['finished', 'draft', 'planned'] as const) {
      await refused('abortRollout', await given(state), [409, 'rollout_state']);
    }
  });

  test('closes what waits only for parked VMs, which it keeps no longer', async () => {
    const params = await given('keeping', { definition: { newcomers: 'include', keepDays: 30 } });
    const closed = await act('closeRollout', params, { reason: 'enough' });
    expect(closed.definition).toMatchObject({ keepDays: 0, newcomers: 'ignore' });
    await ctx.db.update(rollouts).set({ state: 'finished' }).where(eq(rollouts.id, params.id));
    expect(await act('closeRollout', params)).toMatchObject({ state: 'finished' });
  });
});

test('a scheduled rollout that is unscheduled is planned, and can be started again with its hash', async () => {
  const startAt = new Date(Date.now() + 3_600_000);
  const next = { code: 'start_at', at: startAt.toISOString() };
  const params = await given('scheduled', { values: { startAt, next, startedBy: 'operator' } });
  const planned = await act('unscheduleRollout', params, { reason: 'tomorrow' });
  expect(planned).toMatchObject({ state: 'planned', next: null, why: [], startedBy: null, plan: { hash: planHash } });
  expect(await act('unscheduleRollout', params)).toMatchObject({ state: 'planned' });
  await refused('startRollout', params, [412, 'plan_moved_on']);
  await door.expect('startRollout', params, 202, { as, body: { plan: planHash } });
  expect(await rowOf(ctx, params.id)).toMatchObject({ state: 'checking', startedBy: 'operator' });
});

test('RO-14 a start names the rollouts whose overlap it accepts', async () => {
  const { id: other } = await given('running', { definition: { name: 'Earlier' } });
  const params = await given('planned');
  const { plan } = await rowOf(ctx, params.id);
  if (plan === null) throw new Error('the rollout is not planned');
  const overlaps = [{ id: other, name: 'Earlier', members: 3 }];
  await ctx.db
    .update(rollouts)
    .set({ plan: { ...plan, overlaps } })
    .where(eq(rollouts.id, params.id));
  const { detail } = await refused('startRollout', params, [409, 'rollout_overlap'], { plan: planHash });
  expect(detail).toContain('Earlier (3)');
  const strange = await refused('startRollout', params, [422, 'invalid'], { plan: planHash, acceptOverlap: ['x'] });
  expect(strange.errors).toMatchObject([{ path: '/acceptOverlap/0' }]);
  await door.expect('startRollout', params, 202, { as, body: { plan: planHash, acceptOverlap: [other] } });
});

test('acts leave the revision and so the ETag of a rollout, which edits raise', async () => {
  const params = await given('running');
  const etag = async () => (await door.call('GET', `/rollouts/${params.id}`, { as: 'viewer' })).headers.get('etag');
  await act('pauseRollout', params);
  await act('resumeRollout', params);
  expect(await etag()).toBe('"1"');
  const { definition } = await door.expect<RolloutView>('getRollout', params, 200, { as });
  const edit = (match: string, name: string) =>
    door.call('PUT', `/rollouts/${params.id}`, {
      ...{ as, body: { ...definition, name }, headers: { 'if-match': match } },
    });
  const edited = await edit('"1"', 'renamed');
  expect([edited.status, edited.headers.get('etag')]).toEqual([200, '"2"']);
  expect((await edit('"1"', 'late')).body).toMatchObject({ status: 412, code: 'rollout_moved_on' });
  const same = await edit('"2"', 'renamed');
  expect([same.status, same.headers.get('etag')]).toEqual([200, '"2"']);
  expect(await etag()).toBe('"2"');
});
