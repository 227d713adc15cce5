import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  executionFiles,
  executions,
  rolloutRings,
  rolloutRules,
  rolloutSteps,
  rollouts,
  runbookFileRevisions,
  secrets,
} from '#db/schema/index.ts';
import { cancelExecution, listExecutions, queueExecution, settleDue } from '#server/domain/executions/index.ts';
import { holdVm, releaseHold } from '#server/domain/holds/index.ts';
import { usedBytes } from '#server/domain/packages/index.ts';
import type { RolloutPlan } from '#server/domain/rollout-rules/stored.ts';
import { uploadRunbookFile } from '#server/domain/runbook-files/testing/upload.ts';
import { withdrawRunbookVersion } from '#server/domain/runbooks/index.ts';
import { givenRunbook, greeting } from '#server/domain/runbooks/testing/given-runbook.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { pauseRollout, resumeRollout } from '../../index.ts';
import { sealGiven } from '../../secrets.ts';
import { runStage } from '../../testing/run-stage.ts';

let stage: Awaited<ReturnType<typeof runStage>>;
beforeAll(async () => {
  stage = await runStage();
});
afterEach(() => clear());
async function clear(): Promise<void> {
  await stage.db.delete(rolloutSteps);
  await stage.db.delete(rollouts);
  await stage.db.delete(rolloutRules);
}

const counts = (id: string) => stage.counts(id);
const openOf = async (vm: GivenVm) => (await stage.executionsOf(vm)).filter(({ concludedAt }) => concludedAt === null);

test('RO-10 each VM gets one execution, which names the rollout, and a step succeeds with code 0', async () => {
  const fleet = await stage.givenAgents(3);
  const id = await stage.givenRun(fleet);
  await stage.pass(1);
  expect(await counts(id)).toEqual({ members: 3, inFlight: 3 });
  for (const vm of fleet) {
    const [queued, ...more] = await stage.executionsOf(vm);
    expect(more).toEqual([]);
    expect(queued).toMatchObject({ rolloutId: id, queuedBy: 'greet', runbook: stage.runbook, state: 'queued' });
    expect((await stage.step(id, vm))?.executionId).toBe(queued?.id);
  }
  const { items } = await listExecutions(stage.admin, { rollout: id });
  expect(items.map(({ vmId }) => vmId).sort()).toEqual(fleet.map(({ vmId }) => vmId).sort());
  const [first, second, third] = fleet as [GivenVm, GivenVm, GivenVm];
  await stage.finish(first, 10);
  await stage.finish(second, 10, 107);
  await stage.start(third, 10);
  await stage.look(11);
  expect(await counts(id)).toEqual({ members: 3, succeeded: 1, failed: 1, inFlight: 1 });
  expect(await stage.step(id, second)).toMatchObject({ state: 'failed', cause: 'code:107', attempt: 1 });
  await stage.end(third, 20);
  await stage.look(21);
  expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
});

test('RO-10 a batch takes as many statements for 30 VMs as for 3', async () => {
  const number = async (count: number) => {
    await clear();
    await stage.givenRun(await stage.givenAgents(count), { rings: [{ size: count, inFlight: { count: 1_000 } }] });
    return (await statementsOf(() => stage.passOnce(1))).length;
  };
  expect(await number(30)).toBe(await number(3));
});

describe('RO-18 a failed step says why', () => {
  test('the execution timed out, or was lost', async () => {
    const fleet = (await stage.givenAgents(2)) as [GivenVm, GivenVm];
    const id = await stage.givenRun(fleet);
    await stage.pass(1);
    await stage.start(fleet[0], 10);
    await stage.start(fleet[1], 10);
    // An agent that asks for its next execution has lost the one that it had.
    await stage.fetch(fleet[1], 20);
    await settleDue(stage.as(700));
    await stage.pass(701);
    expect(await stage.step(id, fleet[0])).toMatchObject({ state: 'failed', cause: 'timeout' });
    expect(await stage.step(id, fleet[1])).toMatchObject({ state: 'failed', cause: 'lost' });
  });

  test('a person canceled the execution, before or after its machine had it', async () => {
    const fleet = (await stage.givenAgents(2)) as [GivenVm, GivenVm];
    const id = await stage.givenRun(fleet);
    await stage.pass(1);
    await stage.start(fleet[1], 5);
    for (const vm of fleet) {
      const executionId = (await stage.step(id, vm))?.executionId ?? '';
      await cancelExecution(stage.as(6), { vmId: vm.vmId, executionId });
    }
    await stage.end(fleet[1], 7, 1);
    await stage.look(8);
    for (const vm of fleet) {
      const { by, action } = (await stage.step(id, vm))?.overtakenBy ?? {};
      expect(await stage.step(id, vm)).toMatchObject({ state: 'failed', cause: 'cancelled' });
      expect([by, action]).toEqual([stage.operator.actor.name, 'execution.cancel']);
    }
  });
});

test('RO-20 a retry is a new execution, and the step counts once', async () => {
  const [vm] = (await stage.givenAgents(1)) as [GivenVm];
  const id = await stage.givenRun([vm], { retry: { times: 1, afterSeconds: 60, causes: ['exit'] } });
  await stage.pass(1);
  await stage.finish(vm, 10, 101);
  await stage.look(11);
  expect(await counts(id)).toEqual({ members: 1, inFlight: 1 });
  expect(await stage.step(id, vm)).toMatchObject({ state: 'retrying', cause: 'code:101' });
  await stage.pass(71);
  expect((await stage.executionsOf(vm)).map(({ state }) => state)).toEqual(['failed', 'queued']);
  await stage.finish(vm, 80);
  await stage.look(81);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'succeeded', attempt: 2, cause: null });
  expect(await counts(id)).toEqual({ members: 1, succeeded: 1 });
});

describe('RO-28 an execution that no machine has is taken back', () => {
  test('after 300 seconds: the VM is parked, and begins again with a new execution', async () => {
    const [vm] = (await stage.givenAgents(1)) as [GivenVm];
    const id = await stage.givenRun([vm]);
    await stage.pass(1);
    await stage.passOnce(301);
    const [taken] = await stage.executionsOf(vm);
    expect(taken).toMatchObject({ state: 'cancelled', reason: 'execution.recalled', deliveredAt: null });
    await stage.pass(302);
    expect((await openOf(vm)).map(({ state }) => state)).toEqual(['queued']);
    await stage.finish(vm, 310);
    await stage.look(311);
    expect(await counts(id)).toEqual({ members: 1, succeeded: 1 });
  });

  test('by a pause; what a machine has runs to its end, and a resume begins the others again', async () => {
    const fleet = (await stage.givenAgents(2)) as [GivenVm, GivenVm];
    const id = await stage.givenRun(fleet);
    await stage.pass(1);
    await stage.start(fleet[0], 5);
    expect((await pauseRollout(stage.as(6), { id })).recalling).toBe(1);
    await stage.pass(7);
    expect(await stage.fetch(fleet[1], 8)).toBeNull();
    expect(await counts(id)).toEqual({ members: 2, inFlight: 1, queued: 1 });
    await stage.end(fleet[0], 9);
    await stage.look(10);
    expect(await counts(id)).toEqual({ members: 2, succeeded: 1, queued: 1 });
    await resumeRollout(stage.as(11), { id });
    await stage.pass(12);
    await stage.finish(fleet[1], 13);
    await stage.look(14);
    expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
    expect((await stage.executionsOf(fleet[1])).map(({ state }) => state)).toEqual(['cancelled', 'succeeded']);
  });

  test('by a hold: the VM is parked until it is released', async () => {
    const [vm] = (await stage.givenAgents(1)) as [GivenVm];
    const id = await stage.givenRun([vm]);
    await stage.pass(1);
    await holdVm(stage.as(5), { vmId: vm.vmId, reason: 'disk full' });
    await stage.look(6);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'parked', cause: 'on-hold', executionId: null });
    expect(await openOf(vm)).toEqual([]);
    await releaseHold(stage.as(500), { vmId: vm.vmId });
    await stage.look(501);
    expect(await counts(id)).toEqual({ members: 1, inFlight: 1 });
  });
});

test('RO-19 the clock stands still while the machine runs another execution', async () => {
  const [vm] = (await stage.givenAgents(1)) as [GivenVm];
  const other = { vmId: vm.vmId, runbook: stage.runbook };
  const { execution } = await queueExecution({ ...stage.admin, now: stage.at(-30) }, other);
  await stage.start(vm, -20);
  const id = await stage.givenRun([vm]);
  await stage.pass(1);
  await stage.pass(400);
  expect(await counts(id)).toEqual({ members: 1, inFlight: 1 });
  await stage.end(vm, 401);
  await stage.pass(690);
  expect(await counts(id)).toEqual({ members: 1, inFlight: 1 });
  expect(execution.rolloutId).toBeNull();
  await stage.finish(vm, 695);
  await stage.look(696);
  expect(await counts(id)).toEqual({ members: 1, succeeded: 1 });
});

test('RO-13 RO-15 a run is the only open step of its VM and of its availability set', async () => {
  const fleet = (await stage.givenAgents(2, { 'availability-set': 'web' })) as [GivenVm, GivenVm];
  const id = await stage.givenRun(fleet);
  const later = await stage.givenRun(fleet, { name: 'again' });
  await stage.pass(1);
  await stage.pass(2);
  expect(await counts(id)).toEqual({ members: 2, inFlight: 1, parked: 1 });
  expect(await counts(later)).toEqual({ members: 2, parked: 2 });
});

test('RO-17 with a soak, the agent stays reachable after code 0', async () => {
  const fleet = (await stage.givenAgents(2)) as [GivenVm, GivenVm];
  const id = await stage.givenRun(fleet, { rings: [{ size: 2, soakSeconds: 60 }] });
  await stage.pass(1);
  for (const vm of fleet) await stage.finish(vm, 10);
  await stage.look(11);
  expect(await counts(id)).toEqual({ members: 2, soaking: 2 });
  await stage.hear(fleet[1], 12, 1);
  await stage.pass(71);
  expect(await stage.step(id, fleet[0])).toMatchObject({ state: 'succeeded' });
  await stage.pass(700);
  expect(await stage.step(id, fleet[1])).toMatchObject({ state: 'failed', cause: 'silent' });
});

test('RO-21 the error gate pauses the rollout, and nothing further begins', async () => {
  const fleet = await stage.givenAgents(4);
  const id = await stage.givenRun(fleet, { rings: [{ size: 4, inFlight: { count: 1 }, errors: { count: 1 } }] });
  await stage.pass(1);
  const [vm] = (await stage.vmsIn(id, fleet, 'inFlight')) as [GivenVm];
  await stage.finish(vm, 10, 1);
  await stage.look(11);
  expect(await stage.rollout(id)).toMatchObject({ state: 'paused', pausedBy: 'gate' });
  expect(await counts(id)).toEqual({ members: 4, failed: 1, queued: 3 });
});

test('a version that is withdrawn pauses the rollout, which cannot be resumed', async () => {
  const own = await givenRunbook(stage.admin, { parameters: null });
  const run = { runbook: own.name, parameters: {}, secretParameters: [], timeoutSeconds: 60, validForSeconds: 60 };
  const id = await stage.givenRun(await stage.givenAgents(2), {
    change: { run },
    rings: [{ size: 2, inFlight: { count: 1 } }],
  });
  await stage.pass(1);
  await withdrawRunbookVersion(stage.admin, { ...own, reason: 'broken' });
  await stage.look(2);
  expect(await stage.rollout(id)).toMatchObject({ state: 'paused', pausedBy: 'portal' });
  expect(await counts(id)).toEqual({ members: 2, queued: 2 });
  expect(await outcomeOf(resumeRollout(stage.as(3), { id }))).toBe('conflict version_withdrawn');
});

test('RO-39 secret parameters are sealed for each VM, and destroyed when the rollout ends', async () => {
  const [vm] = (await stage.givenAgents(1)) as [GivenVm];
  const own = await givenRunbook(stage.admin, {
    parameters: { type: 'object', properties: { token: { type: 'string', writeOnly: true } } },
  });
  const run = {
    runbook: own.name,
    parameters: {},
    secretParameters: ['token'],
    timeoutSeconds: 60,
    validForSeconds: 60,
  };
  const id = await stage.givenRun([vm], { change: { run } });
  const change = { kind: 'run' as const };
  const sealed = await stage.db.transaction((tx) => sealGiven(tx, stage.operator, { id, change }, { token: 'hush' }));
  await stage.db.update(rollouts).set(sealed).where(eq(rollouts.id, id));
  await stage.pass(1);
  const [queued] = await stage.executionsOf(vm);
  expect(queued?.secretParameters).toEqual(['token']);
  expect(await stage.db.$count(secrets, eq(secrets.vmId, vm.vmId))).toBe(1);
  await pauseRollout(stage.as(2), { id });
  await stage.pass(3);
  expect(await stage.db.$count(secrets, eq(secrets.vmId, vm.vmId))).toBe(0);
  await stage.db.update(rollouts).set({ state: 'aborting', dueAt: stage.at(4) });
  await stage.pass(5);
  expect(await stage.rollout(id)).toMatchObject({ state: 'aborted', sealed: null });
  expect(JSON.stringify(await stage.db.select().from(rolloutRings))).not.toContain('hush');
});

test('what can no longer run the runbook is skipped with its code', async () => {
  const [vm] = (await stage.givenAgents(1)) as [GivenVm];
  const run = { runbook: stage.runbook, parameters: {}, secretParameters: [], timeoutSeconds: 60, validForSeconds: 60 };
  const { name } = await givenRunbook(stage.admin, { draft: true });
  const id = await stage.givenRun([vm], { change: { run: { ...run, runbook: name } } });
  await stage.pass(1);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'skipped', cause: 'refused:runbook_not_published' });
  expect(await stage.db.$count(executions, eq(executions.vmId, vm.vmId))).toBe(0);
});

test('a file of the runbook that is replaced later reaches no VM, and its planned contents are kept', async () => {
  const fleet = await stage.givenAgents(2);
  const runbookFile = `tool-${randomUUID()}`;
  const { file } = await uploadRunbookFile(stage.admin, runbookFile, 'as planned');
  const { sha256, size } = file;
  const plan = { ...greeting, Files: { ...greeting.Files, f1: { Name: 'x', BodyType: 'ID', Body: runbookFile } } };
  const own = await givenRunbook(stage.admin, { plan, parameters: null });
  const run = { runbook: own.name, parameters: {}, secretParameters: [], timeoutSeconds: 60, validForSeconds: 60 };
  const id = await stage.givenRun(fleet, { change: { run }, rings: [{ size: 2, inFlight: { count: 1 } }] });
  const planned = { files: [{ file: 'f1', runbookFile, sha256, size }] } as RolloutPlan;
  await stage.db.update(rollouts).set({ plan: planned }).where(eq(rollouts.id, id));
  await uploadRunbookFile(stage.admin, runbookFile, 'replaced');
  await stage.pass(1);
  const pinned = await stage.db.select().from(executionFiles).where(eq(executionFiles.runbookFile, runbookFile));
  expect(pinned).toMatchObject([{ file: 'f1', sha256, size }]);
  await stage.db.delete(runbookFileRevisions);
  await stage.db.delete(executionFiles);
  expect(await usedBytes(stage.db, [sha256])).toEqual(new Set([sha256]));
  await stage.db.update(rollouts).set({ endedAt: stage.at(2) });
  expect(await usedBytes(stage.db, [sha256])).toEqual(new Set());
});
