import { sql } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import type { StepFailure } from '#server/domain/rollout-rules/stored.ts';
import { testContext } from '#server/testing/context.ts';
import { groupSteps, listRolloutSteps } from './index.ts';
import { allPages } from './testing/given-machines.ts';
import { givenRollout } from './testing/given-rollout.ts';

let ctx: Context;
let id: string;

const none: StepFailure = {
  ...{ extension: 'probe', handler: 'Acme.Lab.Probe', version: '1.1.0.0' },
  ...{ command: null, exitCode: null, messageId: null },
};
const exit = (exitCode: number, messageId: string | null = null): StepFailure => ({
  ...{ ...none, command: 'enable', exitCode, messageId },
});

/** Groups of members: how many, their state, cause and failure. */
const given: [count: number, state: string, cause: string | null, failure: StepFailure | null][] = [
  [300, 'failed', 'exit', exit(12, 'port_in_use')],
  [40, 'stuck', 'exit', exit(12, 'port_in_use')],
  [20, 'reverted', 'exit', exit(51, 'disk_full')],
  [10, 'failed', 'exit', { ...exit(51), extension: 'other' }],
  [5, 'failed', 'status', { ...none, messageId: 'disk_full' }],
  [4, 'failed', 'status', { ...none, messageId: 'no_route' }],
  [3, 'reverting', 'silent', { ...none }],
  [2, 'failed', 'unsteady', null],
  [6, 'parked', 'silent', null],
  [1, 'parked', 'on-hold', null],
  [7, 'succeeded', null, null],
  [8, 'retrying', 'exit', exit(12)],
];

beforeAll(async () => {
  ctx = await testContext({ role: 'viewer' });
  ({ id } = await givenRollout(await testContext({ services: ctx, role: 'operator' }), { state: 'running' }));
  let place = 0;
  for (const [count, state, cause, failure] of given) {
    await ctx.db.execute(sql`
      with made as (
        insert into vms (id, name, tags, created_at, created_by)
        select gen_random_uuid(), 'group-' || lpad((${place}::int + n)::text, 4, '0'), '{}', now(), 'Test'
          from generate_series(0, ${count - 1}::int) n returning id, name
      )
      insert into rollout_steps (vm_id, rollout_id, ring, place, kind, state, cause, failure, updated_at)
      select id, ${id}, 0, right(name, 4)::int, 1, ${state},
        ${cause}, ${failure === null ? null : JSON.stringify(failure)}::jsonb, now() from made`);
    place += count;
  }
});

test('all failed members are grouped by handler, command, exit code and cause, the largest group first', async () => {
  const groups = await groupSteps(ctx, id, 'failed');
  expect(
    groups.map(({ vms, cause, command, exitCode, messageId }) => [vms, cause, command, exitCode, messageId]),
  ).toEqual([
    [340, 'exit', 'enable', 12, 'port_in_use'],
    [30, 'exit', 'enable', 51, null],
    [5, 'status', null, null, 'disk_full'],
    [4, 'status', null, null, 'no_route'],
    [3, 'silent', null, null, null],
    [2, 'unsteady', null, null, null],
  ]);
  expect(groups.map(({ extension }) => extension)).toEqual(['probe', null, 'probe', 'probe', 'probe', null]);
  expect(groups[1]?.examples.map(({ name }) => name)).toEqual(['group-0340', 'group-0341', 'group-0342']);
});

test('parked members are grouped by cause', async () => {
  const groups = await groupSteps(ctx, id, 'parked');
  expect(groups.map(({ vms, cause, handler }) => [vms, cause, handler])).toEqual([
    [6, 'silent', null],
    [1, 'on-hold', null],
  ]);
});

test.each(['failed', 'parked'] as const)('each group of %s members lists exactly its steps', async (of) => {
  const groups = await groupSteps(ctx, id, of);
  const seen = new Set<string>();
  for (const { key, vms, cause } of groups) {
    const pages = await allPages((cursor) => listRolloutSteps(ctx, { id, group: key, limit: 150, cursor }));
    const steps = pages.flat();
    expect(steps).toHaveLength(vms);
    expect(new Set(steps.map((step) => step.cause))).toEqual(new Set([cause]));
    for (const { vmId } of steps) seen.add(vmId);
  }
  expect(seen.size).toBe(of === 'failed' ? 384 : 7);
});
