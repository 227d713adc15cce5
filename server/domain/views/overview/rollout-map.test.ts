import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { vmHealth, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { givenMembers, givenRollout, givenStep } from '#server/domain/rollouts/testing/given-rollout.ts';
import { testContext } from '#server/testing/context.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { getFleetMap, getRolloutMap } from './index.ts';

let ctx: Context;
let viewer: Context;
const ids: string[] = [];

beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
  viewer = await testContext({ services: ctx, role: 'viewer' });
  for (const [n, name] of ['a', 'b', 'c', 'd', 'e', 'f'].entries()) {
    const id = randomUUID();
    ids.push(id);
    const tags = { region: n < 4 ? 'eu' : 'us' };
    await ctx.db.insert(vms).values({ id, name, tags, createdAt: ctx.now, createdBy: 'test' });
    const health = { health: 'healthy' as const, rank: 5, agent: 'ready' as const, since: ctx.now, deadlineAt: null };
    await ctx.db.insert(vmHealth).values({ vmId: id, name, tags, ...health });
  }
});

test('the map of a rollout has the marks of its members at the places of the fleet map', async () => {
  const { id, name } = await givenRollout(ctx, { state: 'running' });
  const member = (n: number) => ids[n] ?? '';
  await givenMembers(ctx, id, [[4, 0, 1, 2].map(member)]);
  await givenStep(ctx, { rolloutId: id, vmId: member(0), state: 'stuck' });
  await givenStep(ctx, { rolloutId: id, vmId: member(1), state: 'soaking' });
  await givenStep(ctx, { rolloutId: id, vmId: member(4), state: 'skipped', cause: 'moved' });
  const { revision, groups } = await getFleetMap(viewer, { groupBy: 'tag:region' });
  expect(groups.map(({ key }) => key)).toEqual(['eu', 'us']);
  expect(await getRolloutMap(viewer, { rollout: id.toUpperCase(), groupBy: 'tag:region', revision })).toEqual({
    rollout: { id, name },
    revision,
    groups: ['fsqn', 'xn'],
    vms: { [member(0)]: 'failed', [member(1)]: 'soaking', [member(2)]: 'queued', [member(4)]: 'exempt' },
  });
});

test('members that a rollout did not reach before it ended are not queued', async () => {
  const { id } = await givenRollout(ctx, { state: 'aborted' });
  await givenMembers(ctx, id, [[ids[0] ?? '', ids[1] ?? '']]);
  await givenStep(ctx, { rolloutId: id, vmId: ids[0] ?? '', state: 'succeeded' });
  const { revision } = await getFleetMap(viewer, { groupBy: 'none' });
  const { vms } = await getRolloutMap(viewer, { rollout: id, groupBy: 'none', revision });
  expect(vms).toEqual({ [ids[0] ?? '']: 'succeeded', [ids[1] ?? '']: 'exempt' });
});

test('the map of a rollout is stale if the fleet has changed, and unknown rollouts have none', async () => {
  const { id } = await givenRollout(ctx, { state: 'running' });
  const stale = await getRolloutMap(viewer, { rollout: id, groupBy: 'none', revision: 'of another fleet' });
  expect(stale).toMatchObject({ revision: null, groups: [], vms: null });
  const unknown = { rollout: randomUUID(), groupBy: 'none' as const, revision: '' };
  expect(await outcomeOf(getRolloutMap(viewer, unknown))).toBe('not_found rollout_unknown');
});
