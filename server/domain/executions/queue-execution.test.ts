import { eq } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agents, auditEntries, executionPlans, executions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { readActs } from '#server/testing/acts.ts';
import { type AgentDoor, givenProbe, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { getPlan, listExecutions, queueExecution, validatePlan } from './index.ts';
import { givenMachine, plan } from './testing/machine.ts';

let door: AgentDoor;
let admin: Context;
beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

const as = (role: 'viewer' | 'operator' | 'publisher') => testContext({ services: admin, role });
const queue = (vmId: string, given: string | Record<string, unknown> = plan, terms: object = {}) =>
  queueExecution({ ...admin, now: new Date() }, { vmId, plan: given, ...terms });

describe('a plan with an ID (MU-24)', () => {
  test('is queued once, even as text and with another order of properties', async () => {
    const { vmId } = await givenVm(admin);
    const { Body, ...rest } = plan;
    const first = await queue(vmId, { ...plan, ID: `same-${vmId}` });
    const again = await queue(vmId, JSON.stringify({ ID: `same-${vmId}`, ...rest, Body }, null, 2));
    expect([first.isNew, again.isNew, again.execution.id]).toEqual([true, false, first.execution.id]);
    expect((await listExecutions(admin, { vmId })).items).toHaveLength(1);
  });

  test('with other contents, or for another VM, is rejected', async () => {
    const [one, other] = [await givenVm(admin), await givenVm(admin)];
    const given = { ...plan, ID: `taken-${one.vmId}` };
    await queue(one.vmId, given);
    const refused = { kind: 'conflict', code: 'plan_id_taken' };
    await expect(queue(one.vmId, { ...given, Name: 'Other' })).rejects.toMatchObject(refused);
    await expect(queue(other.vmId, given)).rejects.toMatchObject(refused);
    expect((await listExecutions(admin, { vmId: other.vmId })).items).toEqual([]);
  });

  test('is queued once by two callers at the same moment', async () => {
    const [one, other] = [await givenVm(admin), await givenVm(admin)];
    const given = { ...plan, ID: `race-${one.vmId}` };
    const same = await Promise.all([queue(one.vmId, given), queue(one.vmId, given), queue(one.vmId, given)]);
    expect(same.filter(({ isNew }) => isNew)).toHaveLength(1);
    const raced = { ...plan, ID: `raced-${one.vmId}` };
    const both = await Promise.allSettled([queue(one.vmId, raced), queue(other.vmId, raced)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('a plan that is queued', () => {
  test('is kept as it was given, and shared by executions of the same text', async () => {
    const [one, other] = [await givenVm(admin), await givenVm(admin)];
    const text = '{ "FormatVersion": "2.0.0",\n  "Parameters": {"z": 1.0, "a": 1e2} }';
    const { execution } = await queue(one.vmId, text);
    await queue(other.vmId, text);
    expect(await getPlan(admin, { vmId: one.vmId, executionId: execution.id })).toBe(text);
    expect(await admin.db.$count(executionPlans, eq(executionPlans.sha256, sha256Hex(text)))).toBe(1);
  });

  test('is an act with the digest of the plan, and without its contents', async () => {
    const { vmId } = await givenVm(admin);
    const { execution } = await queue(vmId, { ...plan, Parameters: { who: 'private' } });
    const acts = await readActs(admin.db, eq(auditEntries.vmId, vmId));
    const act = acts.find(({ action }) => action === 'execution.queue');
    expect(act?.details).toMatchObject({ name: 'Hello', version: '1.0.0', plan: execution.planSha256 });
    expect(JSON.stringify(acts)).not.toContain('private');
  });

  test('shows its name, its version and its terms', async () => {
    const { vmId } = await givenVm(admin);
    await queue(vmId, plan, { timeoutSeconds: 60, validForSeconds: 120, note: 'for Ada' });
    const [shown] = (await listExecutions(admin, { vmId })).items;
    expect(shown).toMatchObject({
      ...{ name: 'Hello', version: '1.0.0', state: 'queued', timeoutSeconds: 60, note: 'for Ada', message: null },
      queuedBy: admin.actor.name,
    });
    expect(Date.parse(shown?.validUntil ?? '') - Date.parse(shown?.queuedAt ?? '')).toBe(120_000);
  });
});

describe('a plan is rejected', () => {
  test.each(['viewer', 'publisher'] as const)('for the role %s, even with the grant', async (role) => {
    const { vmId } = await givenVm(admin);
    const granted = await testContext({ services: admin, role, scripts: true });
    await expect(queueExecution(granted, { vmId, plan })).rejects.toMatchObject({ kind: 'forbidden' });
    expect((await listExecutions(admin, { vmId })).items).toEqual([]);
  });

  test('for an operator without the grant, and queued for one with the grant', async () => {
    const { vmId } = await givenVm(admin);
    const forbidden = { kind: 'forbidden', code: 'scripts_forbidden' };
    await expect(queueExecution(await as('operator'), { vmId, plan })).rejects.toMatchObject(forbidden);
    const granted = await testContext({ services: admin, role: 'operator', scripts: true });
    expect((await queueExecution(granted, { vmId, plan })).isNew).toBe(true);
  });

  test('with every fault and the code of the source', async () => {
    const { vmId } = await givenVm(admin);
    const bad = { ...plan, Action: 'x', Files: {} };
    await expect(queue(vmId, bad)).rejects.toMatchObject({
      kind: 'unprocessable',
      code: 'plan_invalid',
      params: { code: 2 },
      faults: [
        { path: '/Action', code: 'plan_action' },
        { path: '/Scripts/hello/EntryPoint', code: 'plan_file_missing' },
      ],
    });
  });

  test.each<[what: string, plan: string, code: string]>([
    ['5 MiB', JSON.stringify({ FormatVersion: '2.0.0', Body: 'x'.repeat(5 * 1024 * 1024) }), 'json_too_large'],
    ['10,000 levels', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, 'invalid'],
    ['a property twice', '{"FormatVersion":"2.0.0","Body":"a","Body":"b"}', 'invalid'],
    ['a number beyond 2^53', '{"FormatVersion":"2.0.0","Parameters":{"a":12345678901234567890}}', 'invalid'],
    ['no JSON', 'FormatVersion: 2.0.0', 'invalid'],
  ])('as text with %s', async (_, text, code) => {
    const { vmId } = await givenVm(admin);
    await expect(queue(vmId, text)).rejects.toMatchObject({ code });
  });

  test('for a VM that is decommissioned, and what waits for the VM is canceled', async () => {
    const machine = await givenMachine(admin, door);
    const { vmId } = machine;
    await givenProbe(admin, vmId);
    await machine.agent.call('/goal-state');
    const { id } = await machine.queue();
    expect(await removeVm(admin, { vmId, decommission: true })).toEqual({ deleted: false });
    await expect(queue(vmId)).rejects.toMatchObject({ kind: 'conflict', code: 'vm_decommissioning' });
    expect(await machine.get(id)).toMatchObject({ state: 'cancelled' });
  });

  test('for a VM with the stock agent', async () => {
    const { vmId } = await givenMachine(admin, door);
    await admin.db.update(agents).set({ kind: 'stock' }).where(eq(agents.vmId, vmId));
    await expect(queue(vmId)).rejects.toMatchObject({ kind: 'conflict', code: 'agent_without_executions' });
  });

  test('for a VM that does not exist', async () => {
    await expect(queue('00000000-0000-7000-8000-000000000000')).rejects.toMatchObject({ code: 'vm_unknown' });
  });

  test('when 100 executions wait', async () => {
    const { vmId } = await givenVm(admin);
    const { execution } = await queue(vmId, { FormatVersion: '2.0.0' });
    const copies = Array.from({ length: 99 }, (_, n) => {
      const id = uuid();
      return { ...execution, id, planId: id, stamp: execution.stamp + n + 1, turn: execution.turn + n + 1 };
    });
    await admin.db.insert(executions).values(copies);
    await expect(queue(vmId)).rejects.toMatchObject({ kind: 'conflict', code: 'queue_full', params: { limit: 100 } });
    const stamps: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await listExecutions(admin, { vmId, limit: 30, ...(cursor && { cursor }) });
      stamps.push(...page.items.map(({ stamp }) => stamp));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(stamps).toHaveLength(100);
    expect(
      stamps.toSorted((a, b) => b - a),
      'strictly falling, newest first',
    ).toEqual([...new Set(stamps)]);
  });
});

test('an execution that was queued does not keep a goal state from its turn', async () => {
  const { vmId } = await givenVm(admin);
  const { execution } = await queue(vmId);
  const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const };
  await setExtension(admin, { vmId, name: 'probe', goal });
  const next = await queue(vmId);
  expect(next.execution.turn).toBe(execution.turn + 2);
});

describe('a check without queuing', () => {
  const untimed = { path: '/Scripts/hello/Options', code: 'lint_script_timeout', params: { name: 'hello' } };

  test('names code and faults, and writes nothing', async () => {
    const before = await admin.db.$count(executionPlans);
    const operator = await as('operator');
    expect(await validatePlan(operator, { plan })).toEqual({
      code: 0,
      faults: [],
      warnings: [untimed],
      converted: false,
      schemaFaults: [],
    });
    expect(await validatePlan(operator, { plan: { Commands: [] } })).toMatchObject({ code: 0, converted: true });
    expect(await validatePlan(operator, { plan: { FormatVersion: '3.0.0' } })).toMatchObject({ code: 9 });
    expect(await admin.db.$count(executionPlans)).toBe(before);
  });

  test('uses what the machine of a named VM can run', async () => {
    const { vmId, agent } = await givenMachine(admin, door);
    const reported = { platforms: {}, python: null, executionPlans: 'on' };
    await agent.call('/platforms', { method: 'PUT', body: JSON.stringify(reported) });
    expect(await validatePlan(admin, { plan, vmId })).toMatchObject({
      code: 3,
      faults: [{ path: '/Scripts/hello/Type', code: 'plan_platform_missing' }],
    });
  });

  test('warns about likely mistakes, and with a schema, about parameters that it lacks', async () => {
    const body = { ...plan, Body: 'return hello(args.who, args.when)' };
    const closed = { type: 'object', properties: { who: {} }, additionalProperties: false };
    const missing = { path: '/Body', code: 'lint_unknown_parameter', params: { line: 1, name: 'when' } };
    expect(await validatePlan(admin, { plan: body })).toMatchObject({ code: 0, warnings: [untimed] });
    expect(await validatePlan(admin, { plan: body, parameters: closed })).toMatchObject({
      code: 0,
      warnings: [missing, untimed],
    });
    expect(await validatePlan(admin, { plan: { ...body, FormatVersion: '3.0.0' } })).toMatchObject({ warnings: [] });
  });

  test('names every fault of the schema of the parameters, even if the plan has faults', async () => {
    const parameters = { type: 'object', properties: { who: { type: 'text' }, size: { minimum: 'zero' } } };
    for (const given of [plan, { ...plan, Name: 7 }]) {
      const { schemaFaults } = await validatePlan(admin, { plan: given, parameters });
      expect(schemaFaults.map(({ path, code }) => `${path} ${code}`)).toEqual([
        '/parameters/properties/who/type schema_keyword',
        '/parameters/properties/size/minimum schema_keyword',
      ]);
    }
  });

  test('is allowed for publishers with the grant `scripts`, who write runbooks', async () => {
    const publisher = await testContext({ services: admin, role: 'publisher', scripts: true });
    expect(await validatePlan(publisher, { plan })).toMatchObject({ code: 0 });
    await expect(validatePlan(await as('publisher'), { plan })).rejects.toMatchObject({ kind: 'forbidden' });
  });

  test('is rejected for viewers', async () => {
    await expect(validatePlan(await as('viewer'), { plan })).rejects.toMatchObject({ kind: 'forbidden' });
  });
});

test('executions are listed by state, code, person and name, of all VMs or of one', async () => {
  const machine = await givenMachine(admin, door);
  const { vmId } = machine;
  const done = await machine.queue({ ...plan, Name: `Rotate ${vmId} 100%` });
  await machine.next();
  await machine.result(done.id, done.id, { ErrorCode: 3, Body: null });
  const waiting = await machine.queue();
  const idsOf = async (filter: object) => (await listExecutions(admin, { vmId, ...filter })).items.map(({ id }) => id);
  expect(await idsOf({})).toEqual([waiting.id, done.id]);
  expect(await idsOf({ state: 'failed' })).toEqual([done.id]);
  expect(await idsOf({ code: 3 })).toEqual([done.id]);
  expect(await idsOf({ code: 4 })).toEqual([]);
  expect(await idsOf({ by: admin.actor.name })).toEqual([waiting.id, done.id]);
  expect(await idsOf({ by: 'Eve' })).toEqual([]);
  expect(await idsOf({ q: '100%' })).toEqual([done.id]);
  expect(await idsOf({ q: '1_0' }), 'no pattern').toEqual([]);
  expect((await listExecutions(admin, { q: `Rotate ${vmId}` })).items.map(({ id }) => id)).toEqual([done.id]);
  await expect(listExecutions(admin, { cursor: 'x' })).rejects.toMatchObject({ code: 'cursor_invalid' });
});
