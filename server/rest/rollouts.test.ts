import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rolloutRings, rollouts } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { RolloutState } from '#server/domain/rollout-rules/words.ts';
import {
  type GivenTerms,
  givenRollout,
  planHash,
  probeDefinition,
} from '#server/domain/rollouts/testing/given-rollout.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
let ctx: Context;
beforeAll(async () => {
  door = await openRestDoor();
  ctx = await testContext({ services: door.services, role: 'operator' });
});
afterAll(() => door.close());

const unknown = { id: '00000000-0000-4000-8000-000000000001' };
const as = 'operator';
const given = async (state: RolloutState, terms: GivenTerms = {}) => {
  const { id } = await givenRollout(ctx, { state, ...terms });
  return { id };
};
const body = probeDefinition;

/** Whether a call waits for a change: it listens for notifications meanwhile. */
async function isWaiting(): Promise<boolean> {
  const { rowCount } = await ctx.db.execute(sql`
    select from pg_stat_activity where application_name = 'annex-test-wakes' and datname = current_database()`);
  return rowCount === 1;
}

describe('a definition', () => {
  test('is created with an ETag, and returned with it', async () => {
    const created = await door.call('POST', '/rollouts', { as, body });
    expect([created.status, created.headers.get('etag')]).toEqual([201, '"1"']);
    const { id } = created.body as { id: string };
    const found = await door.call('GET', `/rollouts/${id}`, { as: 'viewer' });
    expect([found.status, found.headers.get('etag')]).toEqual([200, '"1"']);
    await door.expect('createRollout', {}, 403, { as: 'viewer', body });
    await door.expect('createRollout', {}, [404, 'strategy_unknown'], { as, body: { ...body, strategy: 'none' } });
  });

  test('RO-1 that selects nothing is rejected with its path', async () => {
    const select = { include: {} };
    const problem = await door.expect('createRollout', {}, [422, 'invalid'], { as, body: { ...body, select } });
    expect(problem.errors).toMatchObject([{ path: '/select/include', code: 'selection_empty' }]);
  });

  test('RO-34 is edited with If-Match on its revision', async () => {
    const params = await given('draft');
    const edited = { ...body, name: 'other' };
    const put = (outcome: Parameters<RestDoor['expect']>[2], match?: string, change: object = edited) =>
      door.expect('updateRollout', params, outcome, {
        ...{ as, body: change },
        ...(match !== undefined && { headers: { 'if-match': match } }),
      });
    await put([412, 'rollout_moved_on']);
    await put([412, 'rollout_moved_on'], '"7"');
    expect(await put(200, '"1"')).toMatchObject({ revision: 2, name: 'other' });
    await door.expect('updateRollout', unknown, 404, { as, body, headers: { 'if-match': '"1"' } });
    const started = await given('running');
    const fixed = await door.expect('updateRollout', started, [409, 'rollout_fixed'], {
      ...{ as, body: { ...body, select: { all: true } }, headers: { 'if-match': '"1"' } },
    });
    expect(fixed.errors).toMatchObject([{ path: '/select', code: 'rollout_fixed' }]);
  });

  test('can be deleted only before the start', async () => {
    await door.expect('deleteRollout', await given('planned'), 204, { as });
    await door.expect('deleteRollout', await given('running'), [409, 'rollout_state'], { as });
    await door.expect('deleteRollout', unknown, [404, 'rollout_unknown'], { as });
    await door.expect('deleteRollout', { id: 'no-id' }, [404, 'rollout_unknown'], { as });
  });
});

describe('a plan', () => {
  test('is requested, and answered when it is there', async () => {
    const params = await given('draft');
    expect(await door.expect('planRollout', params, 202, { as })).toMatchObject({
      plan: null,
      rollout: { state: 'planning' },
    });
    const [stored] = await ctx.db
      .select()
      .from(rollouts)
      .where(eq(rollouts.id, (await given('planned')).id));
    const answer = door.expect('planRollout', params, 200, { as, query: '?wait=30' });
    await expect.poll(isWaiting, { timeout: 10_000 }).toBe(true);
    const planned = { state: 'planned' as const, plan: stored?.plan, planHash };
    await ctx.db.update(rollouts).set(planned).where(eq(rollouts.id, params.id));
    expect(await answer).toMatchObject({ plan: { hash: planHash, members: 10 }, rollout: { state: 'planned' } });
    await door.expect('planRollout', await given('running'), [409, 'rollout_state'], { as });
    await door.expect('planRollout', unknown, 404, { as });
  });

  test('is read by operators', async () => {
    const params = await given('planned');
    await door.expect('getRolloutPlan', params, 200, { as });
    await door.expect('getRolloutPlan', params, 403, { as: 'viewer' });
    await door.expect('getRolloutPlan', await given('draft'), [404, 'rollout_plan_unknown'], { as });
    await door.expect('listRolloutPlanVms', params, 200, { as, query: '?kind=update&ring=0&limit=1' });
    await door.expect('listRolloutPlanVms', unknown, 404, { as });
  });

  test('RO-33 is not approved or rejected with a token', async () => {
    const params = await given('planned');
    for (const token of ['operator', 'admin'] as const) {
      const decision = { as: token, body: { plan: planHash } };
      await door.expect('approveRollout', params, [403, 'approval_needs_person'], decision);
      const rejection = { as: token, body: { plan: planHash, reason: 'no' } };
      await door.expect('rejectRollout', params, [403, 'approval_needs_person'], rejection);
    }
  });

  test('RO-5 is named by its hash at the start', async () => {
    const params = await given('planned');
    await door.expect('startRollout', params, [412, 'plan_moved_on'], { as });
    await door.expect('startRollout', params, [412, 'plan_moved_on'], { as, body: { plan: 'other' } });
    await door.expect('startRollout', params, 202, { as, body: { plan: planHash } });
    await ctx.db.update(rollouts).set({ state: 'running' }).where(eq(rollouts.id, params.id));
    await door.expect('startRollout', params, 200, { as, body: { plan: planHash } });
    await door.expect('startRollout', await given('draft'), [409, 'rollout_state'], { as, body: { plan: planHash } });
    await door.expect('startRollout', unknown, 404, { as, body: { plan: planHash } });
  });
});

const acts: [operation: string, from: RolloutState, to: RolloutState, never: RolloutState, body?: object][] = [
  ['unscheduleRollout', 'scheduled', 'planned', 'running'],
  ['pauseRollout', 'running', 'paused', 'draft'],
  ['resumeRollout', 'paused', 'running', 'draft'],
  ['abortRollout', 'running', 'aborting', 'finished'],
  ['closeRollout', 'keeping', 'keeping', 'running'],
  ['advanceRollout', 'running', 'running', 'paused', { ring: 0, reason: 'urgent' }],
];

test.each(acts)('%s needs an operator and a fitting state', async (operation, from, to, never, body) => {
  const call = { as, ...(body && { body }) } as const;
  const params = await given(from);
  await door.expect(operation, params, 403, { ...call, as: 'viewer' });
  expect(await door.expect(operation, params, 200, call)).toMatchObject({ state: to });
  await door.expect(operation, await given(never), [409, 'rollout_state'], call);
  await door.expect(operation, unknown, [404, 'rollout_unknown'], call);
});

test('RO-29 a halt is overruled by name', async () => {
  const params = await given('paused', {
    values: { pausedBy: 'gate' },
    rings: [{ state: 'halted', verdicts: [{ gate: 'errors', verdict: 'halt', code: 'errors_count', params: {} }] }],
  });
  await door.expect('resumeRollout', params, [409, 'verdicts_open'], { as });
  const overrule = [{ ring: 0, gate: 'errors' }];
  const resumed = await door.expect('resumeRollout', params, 200, { as, body: { overrule, reason: 'known' } });
  expect(resumed).toMatchObject({ state: 'running', why: [] });
  const [ring] = await ctx.db.select().from(rolloutRings).where(eq(rolloutRings.rolloutId, params.id));
  expect(ring?.overruled).toMatchObject({ decided: 0 });
});

test('a rollout is reverted and retried by new rollouts', async () => {
  const params = await given('finished');
  expect(await door.expect('revertRollout', params, 201, { as })).toMatchObject({ kind: 'revert', state: 'planning' });
  expect(await door.expect('retryRollout', params, 201, { as, body: { of: 'failed' } })).toMatchObject({
    state: 'draft',
  });
  const draft = await given('draft');
  await door.expect('revertRollout', draft, [409, 'rollout_state'], { as });
  await door.expect('retryRollout', draft, [409, 'rollout_state'], { as, body: { of: 'failed' } });
  await door.expect('revertRollout', unknown, 404, { as });
  await door.expect('retryRollout', unknown, 404, { as, body: { of: 'failed' } });
});

test('lists are read by viewers', async () => {
  const { vmId } = await givenVm(ctx);
  const params = await given('running');
  const reader = { as: 'viewer' } as const;
  const query = '?state=running,paused&kind=rollout&sort=open&limit=1&handler=Acme.Lab.Probe&q=probe';
  expect(await door.expect('listRollouts', {}, 200, { ...reader, query })).toMatchObject({
    items: [{ state: 'running' }],
  });
  await door.expect('listRollouts', {}, [400, 'invalid'], { ...reader, query: '?state=sleeping' });
  for (const operation of ['getRollout', 'listRolloutSteps', 'getRolloutCurve']) {
    await door.expect(operation, params, 200, reader);
    await door.expect(operation, unknown, [404, 'rollout_unknown'], reader);
  }
  await door.expect('listVmRollouts', { id: vmId }, 200, reader);
  await door.expect('listVmRollouts', unknown, [404, 'vm_unknown'], reader);
});

test('strategies and rules are set by those who may', async () => {
  const rings = [{ name: 'all', upTo: { percent: 100 } }];
  const named = { name: 'nightly' };
  await door.expect('setRolloutStrategy', named, 200, { as, body: { rings } });
  await door.expect('setRolloutStrategy', named, 403, { as, body: { rings, automaticFor: '*' } });
  await door.expect('setRolloutStrategy', named, 200, { body: { rings, automaticFor: '*' } });
  await door.expect('setRolloutStrategy', { name: 'careful' }, [409, 'strategy_built_in'], { as, body: { rings } });
  await door.expect('setRolloutStrategy', named, [422, 'invalid'], { as, body: { rings: [] } });
  expect(await door.expect('listRolloutStrategies', {}, 200, { as: 'viewer' })).toMatchObject({ nextCursor: null });
  await door.expect('deleteRolloutStrategy', named, 204);
  await door.expect('deleteRolloutStrategy', named, [404, 'strategy_unknown'], { as });
  await door.expect('deleteRolloutStrategy', { name: 'careful' }, [409, 'strategy_built_in'], { as });
  const rules = await door.expect('getRolloutRules', {}, 200, { as: 'viewer' });
  expect(rules).toMatchObject({ stepsPerSecond: 100, inFlight: 2_000, approval: null, freezes: [] });
  await door.expect('setRolloutRules', {}, 403, { as, body: rules });
  expect(await door.expect('setRolloutRules', {}, 200, { body: { ...rules, inFlight: 50 } })).toMatchObject({
    inFlight: 50,
  });
});
