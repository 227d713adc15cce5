import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { apiTokens } from '#db/schema/index.ts';
import type { Actor } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { testActor, testContext } from '#server/testing/context.ts';
import { outcomeOf } from '#server/testing/records.ts';
import {
  approveRollout,
  getRollout,
  rejectRollout,
  requestPlan,
  setRolloutRules,
  startRollout,
  updateRollout,
} from './index.ts';
import { givenRollout, planHash, probeDefinition, rowOf } from './testing/given-rollout.ts';

let ctx: Context;
let admin: Context;
const rules = { stepsPerSecond: 100, inFlight: 2_000, freezes: [], availabilitySetTag: 'availability-set' };
const approval = { fromMembers: 10, people: 2, role: 'operator' as const };

beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
  admin = await testContext({ services: ctx, role: 'admin' });
});
beforeEach(async () => {
  await setRolloutRules(admin, { ...rules, approval });
});

const as = (id: string, change: Partial<Actor> = {}): Context => ({
  ...ctx,
  actor: { ...testActor('operator'), id, name: id, ...change },
});

describe('RO-33 approval', () => {
  test('is needed from the number of members on that the rules name, by as many people', async () => {
    const { id } = await givenRollout(ctx, { state: 'planned' });
    expect(await getRollout(ctx, { id })).toMatchObject({ approvalsNeeded: 2, needsPerson: true, mayApprove: false });
    const start = () => outcomeOf(startRollout(ctx, { id, plan: planHash }));
    expect(await start()).toBe('conflict approval_missing');
    await approveRollout(as('ada'), { id, plan: planHash });
    expect(await approveRollout(as('ada'), { id, plan: planHash })).toMatchObject({ approvalsNeeded: 1 });
    expect(await start()).toBe('conflict approval_missing');
    await approveRollout(as('bob'), { id, plan: planHash, note: 'seen' });
    expect((await getRollout(ctx, { id })).approvals.map(({ by, note }) => [by, note])).toEqual([
      ['ada', null],
      ['bob', 'seen'],
    ]);
    expect(await start()).toBe('done');
    const small = await givenRollout(ctx, { state: 'planned', values: { members: 9 } });
    expect(await outcomeOf(startRollout(ctx, { id: small.id, plan: planHash }))).toBe('done');
  });

  test('is not given by those who created, edited or planned the rollout, nor by their tokens', async () => {
    const { id } = await givenRollout(ctx, {
      state: 'planned',
      values: { authors: { created: 'user:ada', edited: 'user:bob', planned: 'user:eve' } },
    });
    for (const author of ['ada', 'bob', 'eve']) {
      const done = outcomeOf(approveRollout(as(author), { id, plan: planHash }));
      expect(await done).toBe('forbidden approver_is_author');
    }
    const token = { id: randomUUID(), name: 'ci', role: 'operator' as const, tokenHash: 'hash', namespaces: [] };
    await ctx.db.insert(apiTokens).values({ ...token, createdAt: ctx.now, createdBy: 'zoe' });
    const byToken = await givenRollout(as(token.id, { kind: 'token' }), { state: 'planned' });
    const done = outcomeOf(approveRollout(as('zoe'), { id: byToken.id, plan: planHash }));
    expect(await done).toBe('forbidden approver_is_author');
    expect(await getRollout(as('max'), { id })).toMatchObject({ mayApprove: true });
  });

  test('is not given by tokens, nor without the role that the rules name', async () => {
    const { id } = await givenRollout(ctx, { state: 'planned' });
    for (const kind of ['token', 'bootstrap', 'system'] as const) {
      const done = outcomeOf(approveRollout(as('ci', { kind, role: 'admin' }), { id, plan: planHash }));
      expect(await done).toBe('forbidden approval_needs_person');
    }
    await setRolloutRules(admin, { ...rules, approval: { ...approval, role: 'admin' } });
    expect(await outcomeOf(approveRollout(as('ada'), { id, plan: planHash }))).toBe('forbidden forbidden');
    expect(await outcomeOf(approveRollout(as('ada', { role: 'admin' }), { id, plan: planHash }))).toBe('done');
  });

  test('holds for one plan: another hash is rejected, and an edit or a new plan invalidates it', async () => {
    const { id } = await givenRollout(ctx, { state: 'planned' });
    expect(await outcomeOf(approveRollout(as('ada'), { id, plan: 'other' }))).toBe('precondition_failed plan_moved_on');
    const { revision } = await approveRollout(as('ada'), { id, plan: planHash });
    await updateRollout(ctx, { id, revision, definition: { ...probeDefinition, name: 'other' } });
    expect(await rowOf(ctx, id)).toMatchObject({ state: 'draft', approvals: [], planHash: null });
    const again = await givenRollout(ctx, { state: 'planned' });
    await approveRollout(as('ada'), { id: again.id, plan: planHash });
    await requestPlan(ctx, { id: again.id });
    expect(await rowOf(ctx, again.id)).toMatchObject({ state: 'planning', approvals: [], planHash: null });
  });

  test('a rejection with a reason keeps the rollout from starting until it is planned again', async () => {
    await setRolloutRules(admin, { ...rules, approval: { ...approval, people: 1 } });
    const { id } = await givenRollout(ctx, { state: 'planned' });
    await approveRollout(as('ada'), { id, plan: planHash });
    await rejectRollout(as('bob'), { id, plan: planHash, reason: 'not on a Friday' });
    expect(await outcomeOf(startRollout(ctx, { id, plan: planHash }))).toBe('conflict approval_missing');
    const [why] = (await getRollout(ctx, { id })).why;
    expect(why).toMatchObject({ code: 'plan_rejected', params: { by: 'bob', reason: 'not on a Friday' } });
    expect((await getRollout(ctx, { id })).needsPerson).toBe(true);
    expect(await outcomeOf(rejectRollout(as('bob'), { id, plan: planHash, reason: '' }))).toMatch(/\/reason/);
    await requestPlan(ctx, { id });
    expect((await rowOf(ctx, id)).approvals).toEqual([]);
  });

  test('of a ring is given by one person, for a ring that asks for it', async () => {
    const { id } = await givenRollout(ctx, { state: 'running' });
    expect(await getRollout(as('ada'), { id })).toMatchObject({ mayApprove: true });
    const approved = await approveRollout(as('ada'), { id, plan: planHash, ring: 1 });
    expect(approved.rings.map(({ approvedBy }) => approvedBy)).toEqual([null, 'ada', null]);
    expect(approved.mayApprove).toBe(false);
    const other = outcomeOf(approveRollout(as('ada'), { id, plan: planHash, ring: 2 }));
    expect(await other).toBe('unprocessable invalid; /ring field_too_big');
  });

  test('is not needed for reverts and automatic rollouts', async () => {
    for (const kind of ['revert', 'automatic'] as const) {
      const { id } = await givenRollout(ctx, { state: 'planned', values: { kind } });
      expect(await outcomeOf(startRollout(ctx, { id, plan: planHash }))).toBe('done');
    }
  });
});
