import { randomUUID } from 'node:crypto';
import { asc, eq, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, changes, vms } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { getExtension, setExtension, uninstallAll } from '#server/domain/goal-states/index.ts';
import { getInstanceView } from '#server/domain/views/index.ts';
import { getVm, markDecommissioning } from '#server/domain/vms/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { deleteVm, removeVm } from './index.ts';

/**
 * Tables that keep the history of a deleted VM under its id. The VM's health check also remains, until the worker
 * deletes it.
 */
const history = ['audit_entries', 'extension_sequences', 'goal_state_heads', 'goal_states', 'report_history', 'vms'];
const kept = [...history, 'health_checks'].sort();

let services: Services;
let operator: Context;

beforeAll(async () => {
  services = await testServices();
  operator = await testContext({ services, role: 'operator' });
  await givenVersion(services.db, { supportsMultipleExtensions: true });
});

const remove = (vmId: string, decommission = false) => removeVm(operator, { vmId, decommission });
const actions = async (vmId: string) =>
  (
    await services.db
      .select({ action: auditEntries.action, details: auditEntries.details })
      .from(auditEntries)
      .where(eq(auditEntries.vmId, vmId))
      .orderBy(asc(auditEntries.id))
  ).slice(-2);
const isDeleted = async (vmId: string) => {
  const [row] = await services.db.select().from(vms).where(eq(vms.id, vmId));
  return row?.deletedAt !== null;
};

/** Sends a report of the VM's agent about the handler of one extension. */
async function report(vm: GivenVm, extension: string, sequenceNumber: number, state: 'enabled' | 'removed') {
  const receivedAt = new Date();
  const handlers = [{ extension, version: '1.0.0.0', sequenceNumber, state }];
  return ingestReport(await vm.agent(receivedAt), { vmId: vm.vmId, report: { handlers }, receivedAt });
}

/** Returns the tables that contain rows of a VM: tables with a column `vm_id`, and `vms`. */
async function tablesWith(vmId: string): Promise<string[]> {
  const { rows } = await services.db.execute<{ name: string }>(sql`
    select c.table_name as name from information_schema.columns c
      join information_schema.tables t using (table_schema, table_name)
     where c.column_name = 'vm_id' and c.table_schema = 'public' and t.table_type = 'BASE TABLE'
       and not exists (select from pg_inherits where inhrelid = format('public.%I', c.table_name)::regclass)`);
  const found = [];
  for (const { name } of [...rows, { name: 'vms' }]) {
    const column = sql.identifier(name === 'vms' ? 'id' : 'vm_id');
    const count = await services.db.execute(sql`select from ${sql.identifier(name)} where ${column} = ${vmId}::uuid`);
    if (count.rowCount) found.push(name);
  }
  return found.sort();
}

/** Waits until this many database statements wait for a lock. */
const untilWaiting = (count: number) =>
  expect
    .poll(async () => {
      const { rowCount } = await services.db.execute(sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
      return rowCount;
    })
    .toBe(count);

describe('deleting a VM', () => {
  test('leaves its history and nothing else, in every table that has rows of VMs', async () => {
    const vm = await givenVm(services);
    const number = await vm.declare('probe', { settings: { protectedSettings: { password: 'hunter2' } } });
    await vm.deliver();
    await report(vm, 'probe', number, 'enabled');
    expect(await tablesWith(vm.vmId)).toEqual(expect.arrayContaining(['extensions', 'secrets', ...history]));
    expect(await remove(vm.vmId)).toEqual({ deleted: true });
    expect(await tablesWith(vm.vmId)).toEqual(kept);
  });

  test('rejects later calls of operators and of its agent', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    await vm.deliver();
    await remove(vm.vmId);
    const { vmId } = vm;
    const unknown = { kind: 'not_found', code: 'vm_unknown' };
    await expect(getVm(operator, { vmId })).rejects.toMatchObject(unknown);
    await expect(getInstanceView(operator, { vmId })).rejects.toMatchObject(unknown);
    await expect(getExtension(operator, { vmId, name: 'probe' })).rejects.toMatchObject({ kind: 'not_found' });
    await expect(vm.declare('probe')).rejects.toMatchObject(unknown);
    await expect(report(vm, 'probe', 1, 'enabled')).rejects.toMatchObject({ kind: 'unauthenticated' });
  });

  test('is recorded with its name, and updates open pages', async () => {
    const vm = await givenVm(services);
    const before = await services.db.$count(changes, eq(changes.key, vm.vmId));
    await remove(vm.vmId);
    expect((await actions(vm.vmId)).at(-1)).toEqual({ action: 'vm.delete', details: { name: vm.name } });
    expect(await services.db.$count(changes, eq(changes.key, vm.vmId))).toBeGreaterThan(before);
  });

  test('works once: of two concurrent deletions, the second finds no VM', async () => {
    const { vmId } = await givenVm(services);
    const outcomes = await Promise.allSettled([remove(vmId), remove(vmId)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'vm_unknown' } });
    expect((await actions(vmId)).filter(({ action }) => action === 'vm.delete')).toHaveLength(1);
  });

  test('leaves nothing of an extension that is being declared, and that caller gets an error', async () => {
    const vm = await givenVm(services);
    let late: Promise<unknown> = Promise.resolve();
    await services.db.transaction(async (tx) => {
      await deleteVm(tx, operator, vm.vmId);
      late = vm.declare('probe', { settings: { protectedSettings: { key: 'x' } } }).catch((error: unknown) => error);
      await untilWaiting(1);
    });
    expect(await late).toMatchObject({ kind: 'not_found', code: 'vm_unknown' });
    expect(await tablesWith(vm.vmId)).not.toContain('extensions');
    expect(await tablesWith(vm.vmId)).not.toContain('secrets');
  });

  test('leaves other VMs as they are', async () => {
    const [vm, other] = [await givenVm(services), await givenVm(services)];
    await other.declare('probe');
    const before = await tablesWith(other.vmId);
    await remove(vm.vmId);
    expect(await tablesWith(other.vmId)).toEqual(before);
  });

  test.each(['viewer', 'publisher'] as const)('is rejected for a %s', async (role) => {
    const { vmId } = await givenVm(services);
    const ctx = await testContext({ services, role });
    await expect(removeVm(ctx, { vmId })).rejects.toMatchObject({ kind: 'forbidden', params: { role: 'operator' } });
    expect(await isDeleted(vmId)).toBe(false);
  });

  test.each([
    [{ vmId: 'web-01' }, '/vmId'],
    [{ vmId: randomUUID(), decommission: 'yes' }, '/decommission'],
    [{}, '/vmId'],
  ])('%j is rejected at %s', async (input, path) => {
    await expect(removeVm(operator, input as { vmId: string })).rejects.toMatchObject({
      code: 'invalid',
      faults: [expect.objectContaining({ path })],
    });
  });
});

describe('decommissioning a VM', () => {
  test('without delivered extensions deletes it in the same call', async () => {
    const vm = await givenVm(services);
    await vm.declare('never-fetched');
    expect(await remove(vm.vmId, true)).toEqual({ deleted: true });
    expect(await isDeleted(vm.vmId)).toBe(true);
  });

  test('waits until every extension that an agent has fetched is removed, then deletes the VM', async () => {
    const vm = await givenVm(services);
    for (const name of ['first', 'second']) await vm.declare(name);
    await vm.deliver();
    await vm.declare('never-fetched');
    expect(await remove(vm.vmId, true)).toEqual({ deleted: false });
    expect(await getVm(operator, { vmId: vm.vmId })).toMatchObject({ decommissioning: true });
    expect(await getExtension(operator, { vmId: vm.vmId, name: 'first' })).toMatchObject({ state: 'uninstall' });
    await expect(getExtension(operator, { vmId: vm.vmId, name: 'never-fetched' })).rejects.toMatchObject({
      code: 'extension_absent',
    });
    expect((await actions(vm.vmId)).at(-1)).toEqual({
      action: 'vm.decommission',
      details: { name: vm.name, extensions: 2 },
    });
    await vm.deliver();
    await report(vm, 'first', 2, 'removed');
    expect(await isDeleted(vm.vmId)).toBe(false);
    await report(vm, 'second', 2, 'removed');
    expect(await isDeleted(vm.vmId)).toBe(true);
  });

  test('can be repeated, and a plain deletion ends the wait', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    await vm.deliver();
    expect(await remove(vm.vmId, true)).toEqual({ deleted: false });
    expect(await remove(vm.vmId, true)).toEqual({ deleted: false });
    expect(await getExtension(operator, { vmId: vm.vmId, name: 'probe' })).toMatchObject({ sequenceNumber: 2 });
    expect(await remove(vm.vmId)).toEqual({ deleted: true });
  });

  test('rejects an extension whose declaration waited for the lock', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    await vm.deliver();
    let late: Promise<unknown> = Promise.resolve();
    await services.db.transaction(async (tx) => {
      await markDecommissioning(tx, vm.vmId, operator.now);
      await uninstallAll(tx, operator, vm.vmId);
      late = vm.declare('late').catch((error: unknown) => error);
      await untilWaiting(1);
    });
    expect(await late).toMatchObject({ code: 'vm_decommissioning' });
  });

  test('rejects new extensions until it ends', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    await vm.deliver();
    await remove(vm.vmId, true);
    const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const };
    await expect(setExtension(operator, { vmId: vm.vmId, name: 'late', goal })).rejects.toMatchObject({
      kind: 'conflict',
      code: 'vm_decommissioning',
    });
  });
});
