import { sql } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { type RolloutStage, rolloutStage } from '#server/domain/rollouts/testing/rollout-stage.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { findProblems } from './check-rollout.ts';

const tag = 'availability-set';
let stage: RolloutStage;
let id: string;
let vms: [GivenVm, GivenVm];

beforeAll(async () => {
  stage = await rolloutStage();
  vms = (await stage.givenFleet(2, { tags: { [tag]: 'web' } })) as [GivenVm, GivenVm];
  id = await stage.givenRollout(vms);
  for (const second of [1, 10, 20]) {
    await stage.look(second);
    for (const vm of await stage.vmsIn(id, vms, 'inFlight')) await stage.succeed(vm, second + 5);
  }
  await stage.look(30);
});

test('RO-15 a rollout that changed the VMs of a set one after the other has no problem', async () => {
  expect(await findProblems(stage.db, id, tag)).toEqual({
    problems: [],
    ...{ steps: { succeeded: 2 }, published: 2, recalled: 0 },
  });
});

test('RO-10 a second goal state of one attempt is found', async () => {
  await stage.db.execute(sql`
    insert into goal_states select vm_id, incarnation + 1, etag, text, contents, cause, published_at, published_by
      from goal_states where vm_id = ${vms[0].vmId} and cause->>'rollout' = ${id}`);
  const { problems } = await findProblems(stage.db, id, tag);
  expect(problems).toEqual([
    `VM ${vms[0].vmId} got 2 goal states, and 0 were recalled`,
    '3 goal states, but 2 in the activity log',
  ]);
});

test('RO-15 two VMs of a set with open steps at the same time are found, and so are wrong counts', async () => {
  await stage.db.execute(sql`update rollout_steps set published_at = ${stage.at(1).toISOString()}::timestamptz`);
  await stage.db.execute(sql`update rollout_steps set state = 'failed' where vm_id = ${vms[1].vmId}`);
  const { problems } = await findProblems(stage.db, id, tag);
  expect(problems.filter((problem) => problem.startsWith('availability set web'))).toHaveLength(1);
  expect(problems.filter((problem) => problem.includes('do not add up'))).toHaveLength(1);
});
