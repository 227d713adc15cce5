import { beforeAll, expect, test } from 'vitest';
import { rollouts } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { getRollout, startRollout } from './index.ts';
import { givenRollout, planHash, probePlan, rowOf } from './testing/given-rollout.ts';

let ctx: Context;
beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
});

test('RO-5 a start without the hash of the plan, or with another, is rejected and changes nothing', async () => {
  const { id } = await givenRollout(ctx, { state: 'planned' });
  expect(await outcomeOf(startRollout(ctx, { id }))).toBe('precondition_failed plan_moved_on');
  expect(await outcomeOf(startRollout(ctx, { id, plan: 'other' }))).toBe('precondition_failed plan_moved_on');
  expect((await rowOf(ctx, id)).state).toBe('planned');
  expect(await startRollout(ctx, { id, plan: planHash })).toMatchObject({
    state: 'checking',
    startedBy: 'Test operator',
  });
  expect(await outcomeOf(startRollout(ctx, { id, plan: 'other' }))).toBe('precondition_failed plan_moved_on');
});

test('RO-4 a plan without members is not started, unless VMs can join later', async () => {
  const values = { members: 0, plan: { ...probePlan, members: 0, matched: 0, unchanged: 0, kinds: {} } };
  const start = async (given: Parameters<typeof givenRollout>[1]) => {
    const { id } = await givenRollout(ctx, { state: 'planned', values, ...given });
    return { id, outcome: await outcomeOf(startRollout(ctx, { id, plan: planHash })) };
  };
  const { id, outcome } = await start({});
  expect(outcome).toBe('conflict plan_empty');
  expect(await rowOf(ctx, id)).toMatchObject({ state: 'planned', startedBy: null });
  const joining = await start({ definition: { newcomers: 'include' } });
  expect(await rowOf(ctx, joining.id)).toMatchObject({ state: 'checking' });
});

test('RO-14 a start is rejected until every overlapping rollout is accepted by its id', async () => {
  const overlaps = [
    { id: '00000000-0000-4000-8000-00000000000a', name: 'first', members: 3 },
    { id: '00000000-0000-4000-8000-00000000000b', name: 'second', members: 1 },
  ];
  const { id } = await givenRollout(ctx, { state: 'planned', values: { plan: { ...probePlan, overlaps } } });
  const start = (acceptOverlap: string[]) => startRollout(ctx, { id, plan: planHash, acceptOverlap });
  await expect(start([])).rejects.toMatchObject({
    ...{ kind: 'conflict', code: 'rollout_overlap', params: { rollouts: 'first (3), second (1)' } },
  });
  await expect(start([overlaps[0]?.id ?? ''])).rejects.toMatchObject({ params: { rollouts: 'second (1)' } });
  const accepted = overlaps.map((one) => one.id);
  expect((await start(accepted)).state).toBe('checking');
  expect((await rowOf(ctx, id)).acceptedOverlap).toEqual(accepted);
});

test('a start above the limit of open rollouts is rejected', async () => {
  const limits = { ...ctx.config.limits, rollouts: { ...ctx.config.limits.rollouts, open: 1 } };
  const limited = { ...(await testContext({ role: 'operator' })) };
  limited.config = { ...limited.config, limits };
  await givenRollout(limited, { state: 'running' });
  const { id } = await givenRollout(limited, { state: 'planned' });
  expect(await outcomeOf(startRollout(limited, { id, plan: planHash }))).toBe('conflict rollouts_open');
});

test('a call that waits is answered when the rollout has another state', async () => {
  const { id } = await givenRollout(ctx, { state: 'running' });
  const answer = getRollout(ctx, { id, wait: 30 });
  await ctx.db.transaction(async (tx) => {
    const { changeRollout } = await import('./rows.ts');
    await changeRollout(tx, { id }, { state: 'finished' });
  });
  expect((await answer).state).toBe('finished');
  expect(await ctx.db.$count(rollouts)).toBeGreaterThan(0);
});
