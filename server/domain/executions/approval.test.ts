import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { apiTokens, auditEntries } from '#db/schema/index.ts';
import type { Actor } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { givenRunbook } from '#server/domain/runbooks/testing/given-runbook.ts';
import { readActs } from '#server/testing/acts.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { longTest } from '#server/testing/long.ts';
import {
  cancelExecution,
  cancelWaiting,
  decideApproval,
  getExecution,
  getExecutionRules,
  queueExecution,
  setExecutionRules,
  settleDue,
} from './index.ts';
import { givenMachine, plan } from './testing/machine.ts';

let door: AgentDoor;
let admin: Context;
beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterEach(async () => {
  await setExecutionRules(admin, { approval: 'none' });
});
afterAll(() => door.close());

/** Returns the context of a member with this id. */
const member = (id: string, scripts = true): Context => {
  const actor: Actor = { kind: 'user', id, name: id, role: 'operator', namespaces: [], scripts };
  return { ...admin, actor, now: new Date() };
};
const ada = () => member('ada');
const ben = () => member('ben');

async function givenRequest(by = ada()) {
  await setExecutionRules(admin, { approval: 'unpublished' });
  const machine = await givenMachine(admin, door);
  const { vmId } = machine;
  const { execution } = await queueExecution(by, { vmId, plan });
  return { machine, vmId, of: { vmId, executionId: execution.id }, execution };
}

describe('an execution that needs approval', () => {
  test('waits, is not delivered, and takes its turn when a second person approves it', async () => {
    const { machine, vmId, of, execution } = await givenRequest();
    expect(execution.state).toBe('waiting-approval');
    expect(await machine.next()).toBeNull();
    await setExecutionRules(admin, { approval: 'none' });
    const later = await queueExecution(ada(), { vmId, plan });
    await decideApproval(ben(), { ...of, approve: true, note: 'go' });
    const shown = await getExecution(admin, of);
    expect(shown).toMatchObject({ state: 'queued', approval: { approved: true, by: 'ben', note: 'go' } });
    expect(shown.turn).toBeGreaterThan(later.execution.turn);
    expect(shown.stamp).toBeGreaterThan(later.execution.stamp);
    expect((await machine.next())?.id).toBe(later.execution.id);
    const acts = await readActs(admin.db, eq(auditEntries.targetId, of.executionId));
    expect(acts.map(({ action, actorName }) => [action, actorName])).toContainEqual(['execution.approve', 'ben']);
  });

  test('is canceled when it is declined', async () => {
    const { machine, of } = await givenRequest();
    await decideApproval(ben(), { ...of, approve: false });
    expect(await getExecution(admin, of)).toMatchObject({
      ...{ state: 'cancelled', reason: 'execution.declined', approval: { approved: false, by: 'ben' } },
    });
    expect(await machine.next()).toBeNull();
    await expect(decideApproval(ben(), { ...of, approve: true })).rejects.toMatchObject({
      kind: 'conflict',
      code: 'not_waiting_approval',
    });
  });

  test('is approved or declined once, when two people decide at the same moment', async () => {
    for (const second of [true, false]) {
      const { machine, of } = await givenRequest();
      const decisions = await Promise.allSettled([
        decideApproval(ben(), { ...of, approve: true }),
        decideApproval(member('cy'), { ...of, approve: second }),
      ]);
      const lost = decisions.filter(({ status }) => status === 'rejected');
      expect(lost).toMatchObject([{ reason: { kind: 'conflict', code: 'not_waiting_approval' } }]);
      const { state, approval } = await getExecution(admin, of);
      expect(state).toBe(approval?.approved ? 'queued' : 'cancelled');
      expect((await machine.next())?.id).toBe(approval?.approved ? of.executionId : undefined);
    }
  });

  test('is canceled when it is approved and canceled at the same moment', async () => {
    const { machine, of } = await givenRequest();
    await Promise.allSettled([
      decideApproval(ben(), { ...of, approve: true }),
      cancelExecution(ada(), of),
      decideApproval(member('cy'), { ...of, approve: true }),
    ]);
    expect(await getExecution(admin, of)).toMatchObject({ state: 'cancelled', reason: 'execution.cancelled' });
    expect(await machine.next()).toBeNull();
  });

  test('expires, and is canceled alone or with the others', async () => {
    const [first, second, third] = [await givenRequest(), await givenRequest(), await givenRequest()];
    await cancelExecution(ada(), first.of);
    expect(await cancelWaiting(ada(), { vmId: second.vmId })).toBe(1);
    const later = new Date(Date.now() + 86_401_000);
    await settleDue({ ...admin, now: later });
    const states = [];
    for (const { of } of [first, second, third]) states.push((await getExecution(admin, of)).state);
    expect(states).toEqual(['cancelled', 'cancelled', 'expired']);
  });
});

describe('who may decide', () => {
  test('MU-60 not the person who queued it, even if that person used a token', async () => {
    const own = { kind: 'conflict', code: 'own_request' };
    const { of } = await givenRequest();
    await expect(decideApproval(ada(), { ...of, approve: true })).rejects.toMatchObject(own);
    await expect(decideApproval(ada(), { ...of, approve: false })).rejects.toMatchObject(own);
    expect(await getExecution(ada(), of)).toMatchObject({ state: 'waiting-approval', mayDecide: false });
    expect(await getExecution(ben(), of)).toMatchObject({ mayDecide: true });

    const id = randomUUID();
    const token = { id, name: 'ci', tokenHash: id, role: 'operator', scripts: true, createdBy: 'ada' } as const;
    await admin.db.insert(apiTokens).values({ ...token, createdAt: admin.now });
    const byToken = await givenRequest({ ...ada(), actor: { ...ada().actor, kind: 'token', id } });
    await expect(decideApproval(ada(), { ...byToken.of, approve: true })).rejects.toMatchObject(own);
  });

  test.each<[who: string, actor: Partial<Actor>, code: string]>([
    ['a token', { kind: 'token' }, 'person_required'],
    ['the bootstrap token', { kind: 'bootstrap', role: 'admin' }, 'person_required'],
    ['an operator without the grant', { scripts: false }, 'scripts_forbidden'],
    ['a viewer', { role: 'viewer' }, 'forbidden'],
  ])('MU-60 not %s', async (_who, actor, code) => {
    const { of } = await givenRequest();
    const ctx = { ...ben(), actor: { ...ben().actor, ...actor } };
    await expect(decideApproval(ctx, { ...of, approve: true })).rejects.toMatchObject({ code });
    expect(await getExecution(ctx, of)).toMatchObject({ state: 'waiting-approval', mayDecide: false });
  });

  longTest('an operator without the grant, if it is a published runbook', async () => {
    await setExecutionRules(admin, { approval: 'all' });
    const { vmId } = await givenMachine(admin, door);
    const { name } = await givenRunbook(admin);
    const { execution } = await queueExecution(member('ada', false), { vmId, runbook: name, parameters: { who: 'w' } });
    expect(execution.state).toBe('waiting-approval');
    await decideApproval(member('ben', false), { vmId, executionId: execution.id, approve: true });
    expect(await getExecution(admin, { vmId, executionId: execution.id })).toMatchObject({ state: 'queued' });
  });
});

describe('the rule', () => {
  test('requires no approval at first, is set by admins, and is in the activity log', async () => {
    expect(await getExecutionRules(admin)).toEqual({ approval: 'none' });
    expect(await setExecutionRules(admin, { approval: 'all' })).toEqual({ approval: 'all' });
    const acts = await readActs(admin.db, eq(auditEntries.action, 'execution-rules.set'));
    expect(acts.at(-1)).toMatchObject({ before: { approval: 'none' }, after: { approval: 'all' } });
    await expect(setExecutionRules(ben(), { approval: 'none' })).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(getExecutionRules(ben())).rejects.toMatchObject({ kind: 'forbidden' });
  });

  test.each<[approval: 'none' | 'unpublished' | 'all', plan: string, runbook: string, draft: string]>([
    ['none', 'queued', 'queued', 'queued'],
    ['unpublished', 'waiting-approval', 'queued', 'waiting-approval'],
    ['all', 'waiting-approval', 'waiting-approval', 'waiting-approval'],
  ])('%s: a plan is %s, a published runbook %s, a draft %s', async (approval, ofPlan, ofRunbook, ofDraft) => {
    await setExecutionRules(admin, { approval });
    const { vmId } = await givenMachine(admin, door);
    const { name } = await givenRunbook(admin);
    await givenRunbook(admin, { name, version: '2.0.0', draft: true });
    const runbook = { vmId, runbook: name, parameters: { who: 'w' } };
    expect((await queueExecution(ada(), { vmId, plan })).execution.state).toBe(ofPlan);
    expect((await queueExecution(ada(), runbook)).execution.state).toBe(ofRunbook);
    expect((await queueExecution(ada(), { ...runbook, version: '2.0.0' })).execution.state).toBe(ofDraft);
  });
});
