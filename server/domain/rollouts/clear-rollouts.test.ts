import { expect, test } from 'vitest';
import { rolloutMembers, rolloutRings, rolloutSteps, rollouts } from '#db/schema/index.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { clearRollouts } from './index.ts';
import { givenMembers, givenRollout, givenStep } from './testing/given-rollout.ts';

test('steps and members are kept for 400 days after the end, rollouts and rings longer', async () => {
  const ctx = await testContext({ role: 'operator' });
  const { vmId } = await givenVm(ctx);
  const ago = (days: number) => new Date(ctx.now.getTime() - days * 86_400_000);
  const kept: string[] = [];
  for (const endedAt of [ago(401), ago(399), null]) {
    const state = endedAt === null ? 'running' : 'finished';
    const { id } = await givenRollout(ctx, { state, values: { endedAt } });
    await givenMembers(ctx, id, [[vmId]]);
    await givenStep(ctx, { rolloutId: id, vmId, state: 'succeeded' });
    if (endedAt === null || endedAt > ago(400)) kept.push(id);
  }
  expect(await clearRollouts(ctx, ctx.now)).toBe(2);
  for (const table of [rolloutSteps, rolloutMembers]) {
    const rows = await ctx.db.select({ id: table.rolloutId }).from(table);
    expect(rows.map(({ id }) => id).toSorted()).toEqual(kept.toSorted());
  }
  expect([await ctx.db.$count(rollouts), await ctx.db.$count(rolloutRings)]).toEqual([3, 9]);
});
