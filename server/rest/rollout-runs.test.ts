import { eq } from 'drizzle-orm';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rollouts } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { checkRollout, passRollout, planRollout } from '#server/domain/rollouts/index.ts';
import { givenRunbook } from '#server/domain/runbooks/testing/given-runbook.ts';
import { testContext } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
let ctx: Context;
let runbook: string;
let vm: GivenVm;
beforeAll(async () => {
  door = await openRestDoor();
  ctx = await testContext({ services: door.services, role: 'admin' });
  runbook = (await givenRunbook(ctx, { parameters: null })).name;
  vm = await givenVm(door.services);
});
afterAll(() => door.close());

const as = 'operator';

test('RO-10 a runbook on many VMs: created, planned, started, and each step names its execution', async () => {
  const services = { ...door.services, log: pino({ level: 'silent' }) };
  const body = { kind: 'bulk', name: 'Greet', select: { ids: [vm.vmId] }, change: { kind: 'run', runbook } };
  const made = await door.expect('createRollout', {}, 201, { as, body });
  const params = { id: made.id as string };
  expect(made.change).toMatchObject({ kind: 'run', runbook, version: '1.0.0' });
  await door.expect('planRollout', params, 202, { as });
  await planRollout(services, params.id);
  const plan = await door.expect('getRolloutPlan', params, 200, { as });
  expect(plan).toMatchObject({ members: 1, kinds: { run: 1 } });
  const { hash } = plan as unknown as { hash: string };
  await door.expect('startRollout', params, 202, { as, body: { plan: hash } });
  await checkRollout(services, params.id);
  await ctx.db.update(rollouts).set({ dueAt: new Date() }).where(eq(rollouts.id, params.id));
  await passRollout(services, new Date());
  const { items } = await door.expect('listRolloutSteps', params, 200, { as: 'viewer' });
  expect(items).toMatchObject([{ vmId: vm.vmId, kind: 'run', state: 'parked', cause: 'never-enrolled' }]);
  await door.expect('revertRollout', params, [409, 'run_not_revertible'], { as, body: {} });
});

test('a runbook that cannot run is rejected with its path', async () => {
  const change = { kind: 'run', runbook: 'no-such-runbook' };
  const body = { name: 'Greet', select: { all: true }, change };
  const problem = await door.expect('createRollout', {}, [422, 'invalid'], { as, body });
  expect(problem.errors).toMatchObject([{ path: '/change/runbook', code: 'runbook_unknown' }]);
});
