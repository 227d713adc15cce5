import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditEntries } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { getExecution, getPlan, listExecutions, queueExecution } from '#server/domain/executions/index.ts';
import { givenMachine } from '#server/domain/executions/testing/machine.ts';
import { readActs } from '#server/testing/acts.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { longTest } from '#server/testing/long.ts';
import { getRunbookVersion, withdrawRunbookVersion } from './index.ts';
import { givenRunbook, patient } from './testing/given-runbook.ts';

let door: AgentDoor;
let admin: Context;
let operator: Context;
beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = patient(await testContext({ services: opened.ctx, role: 'admin' }));
  operator = await testContext({ services: admin, role: 'operator' });
});
afterAll(() => door.close());

const run = (vmId: string, runbook: string, more: object = {}) =>
  queueExecution({ ...operator, now: new Date() }, { vmId, runbook, parameters: { who: 'w' }, ...more });

test('MU-60 case 48: an operator without the grant runs a published runbook, but not its plan as JSON', async () => {
  const { vmId } = await givenVm(admin);
  const { name, version } = await givenRunbook(admin);
  const { execution } = await run(vmId, name);
  expect(execution).toMatchObject({ state: 'queued', runbook: name, runbookVersion: version, name: 'Greet' });
  const { plan: text } = await getRunbookVersion(operator, { name, version });
  const filled = await getPlan(operator, { vmId, executionId: execution.id });
  for (const plan of [text ?? '', filled]) {
    await expect(queueExecution(operator, { vmId, plan })).rejects.toMatchObject({
      kind: 'forbidden',
      code: 'scripts_forbidden',
    });
  }
});

describe('a runbook', () => {
  test('reaches the machine with its parameters, its name and its version', async () => {
    const machine = await givenMachine(admin, door);
    const { name } = await givenRunbook(admin, { timeoutSeconds: 77, validForSeconds: 600 });
    const { execution } = await run(machine.vmId, name);
    expect(execution.timeoutSeconds).toBe(77);
    expect(execution.validUntil.getTime() - execution.queuedAt.getTime()).toBe(600_000);
    const envelope = await machine.next();
    expect(envelope).toMatchObject({ id: execution.id, timeoutSeconds: 77 });
    expect(envelope?.plan).toMatchObject({ Name: 'Greet', Version: '1.0.0', Parameters: { who: 'w' } });
  });

  test('runs in its newest published version, unless the caller names another one', async () => {
    const { vmId } = await givenVm(admin);
    const { name } = await givenRunbook(admin);
    await givenRunbook(admin, { name, version: '1.10.0' });
    await givenRunbook(admin, { name, version: '1.9.0' });
    await givenRunbook(admin, { name, version: '2.0.0', draft: true });
    expect((await run(vmId, name)).execution.runbookVersion).toBe('1.10.0');
    expect((await run(vmId, name, { version: '1.9.0' })).execution.runbookVersion).toBe('1.9.0');
    await expect(run(vmId, name, { version: '2.0.0' })).rejects.toMatchObject({ code: 'scripts_forbidden' });
    const draft = await queueExecution(admin, { vmId, runbook: name, version: '2.0.0', parameters: { who: 'w' } });
    expect(draft.execution.runbookVersion).toBe('2.0.0');
  });

  test('cannot run when it is withdrawn, not published or unknown', async () => {
    const { vmId } = await givenVm(admin);
    const { name, version } = await givenRunbook(admin);
    await withdrawRunbookVersion(admin, { name, version, reason: 'x' });
    await expect(run(vmId, name)).rejects.toMatchObject({ kind: 'conflict', code: 'runbook_not_published' });
    await expect(run(vmId, name, { version })).rejects.toMatchObject({ kind: 'conflict', code: 'runbook_withdrawn' });
    await expect(run(vmId, 'nothing-here')).rejects.toMatchObject({ kind: 'not_found', code: 'runbook_unknown' });
  });

  test('is in the activity log with its name, and the list can be filtered by it', async () => {
    const { vmId } = await givenVm(admin);
    const { name } = await givenRunbook(admin);
    const { execution } = await run(vmId, name);
    const acts = await readActs(admin.db, eq(auditEntries.vmId, vmId));
    expect(acts.find(({ action }) => action === 'execution.queue')?.details).toMatchObject({
      runbook: name,
      runbookVersion: '1.0.0',
    });
    expect((await listExecutions(operator, { runbook: name })).items.map(({ id }) => id)).toEqual([execution.id]);
  });
});

describe('the parameters of a runbook', () => {
  const faultsOf = (call: Promise<unknown>) =>
    call.then(
      () => [],
      (error: { code: string; faults: { path: string; code: string }[] }) => [
        error.code,
        ...error.faults.map(({ path, code }) => `${path} ${code}`),
      ],
    );

  test('are checked against its schema', async () => {
    const { vmId } = await givenVm(admin);
    const { name } = await givenRunbook(admin);
    expect(await faultsOf(run(vmId, name, { parameters: {} }))).toEqual([
      'parameters_invalid',
      '/parameters/who setting_required',
    ]);
    expect(await faultsOf(run(vmId, name, { parameters: { who: '', what: 1 } }))).toEqual([
      'parameters_invalid',
      '/parameters/what setting_unknown',
      '/parameters/who setting_short',
    ]);
    expect((await listExecutions(operator, { vmId })).items).toEqual([]);
  });

  longTest('may keep the values of the plan', async () => {
    const { vmId } = await givenVm(admin);
    const plan = { FormatVersion: '2.0.0', Parameters: { who: 'default', z: 1 } };
    const { name } = await givenRunbook(admin, { plan, parameters: { required: ['who'], properties: { who: {} } } });
    const { execution } = await run(vmId, name, { parameters: {} });
    const queued = JSON.parse(await getPlan(operator, { vmId, executionId: execution.id }));
    expect(queued.Parameters).toEqual({ who: 'default', z: 1 });
  });

  test('that are secret are accepted only as secret parameters, and are not in the plan', async () => {
    const { vmId } = await givenVm(admin);
    const { name } = await givenRunbook(admin);
    expect(await faultsOf(run(vmId, name, { parameters: { who: 'w', token: 'x' } }))).toEqual([
      'parameters_invalid',
      '/parameters/token parameter_secret',
    ]);
    expect(await faultsOf(run(vmId, name, { secretParameters: { token: 7 } }))).toEqual([
      'parameters_invalid',
      '/secretParameters/token setting_type',
    ]);
    const { execution } = await run(vmId, name, { secretParameters: { token: 'hunter2-hunter2' } });
    expect(await getExecution(operator, { vmId, executionId: execution.id })).toMatchObject({
      secretParameters: ['token'],
    });
    expect(await getPlan(operator, { vmId, executionId: execution.id })).not.toContain('hunter2');
  });

  test('are not accepted without a schema, or together with a plan', async () => {
    const { vmId } = await givenVm(admin);
    const { name } = await givenRunbook(admin, { parameters: null });
    expect(await faultsOf(run(vmId, name))).toEqual(['parameters_invalid', '/parameters/who parameters_not_accepted']);
    const plan = { FormatVersion: '2.0.0' };
    for (const given of [{ plan, parameters: {} }, { plan, version: '1.0.0' }, { plan, runbook: name }, {}]) {
      expect(await faultsOf(queueExecution(admin, { vmId, ...given }))).toEqual(['execution_subject']);
    }
  });

  longTest('case 41: with a pattern that takes too long end the check, and nothing is queued', async () => {
    const { vmId } = await givenVm(admin);
    const parameters = { properties: { who: { type: 'string', pattern: '^(a+)+$' } } };
    const { name } = await givenRunbook(admin, { parameters });
    const { limits } = operator.config;
    const config = { ...operator.config, limits: { ...limits, settings: { ...limits.settings, checkMs: 500 } } };
    const request = { vmId, runbook: name, parameters: { who: `${'a'.repeat(40)}!` } };
    const slow = queueExecution({ ...operator, config }, request);
    expect(await faultsOf(slow)).toEqual(['parameters_invalid', '/parameters schema_slow']);
    expect((await listExecutions(operator, { vmId })).items).toEqual([]);
  });
});
