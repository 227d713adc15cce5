import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  agentPresence,
  agents,
  extensions,
  goalStateHeads,
  pendingRestarts,
  secrets,
  stockAgents,
  vmHealth,
  vms,
} from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { issueEnrollmentToken, registerVm } from '#server/domain/enrollment/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { fleetRow, readFleetRows } from './fleet-rows.ts';
import { getVmFacts, vmFacts } from './get-vm-facts.ts';

let services: Services;
let operator: Context;
const start = new Date();
const day = 86_400;
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);

beforeAll(async () => {
  services = await testServices();
  operator = await testContext({ services, role: 'operator', now: start });
  await givenVersion(services.db, { reportHeartbeat: false, supportsMultipleExtensions: true });
});

async function rowOf(vmId: string, now = start) {
  const { items } = await readFleetRows(await testContext({ services, role: 'viewer', now }), { vmIds: [vmId] });
  const [row] = items;
  expect(fleetRow.parse(row)).toEqual(row);
  return row;
}

async function factsOf(vmId: string, now = start) {
  const facts = await getVmFacts(await testContext({ services, role: 'viewer', now }), { vmId });
  expect(vmFacts.parse(facts)).toEqual(facts);
  return facts;
}

async function enrolled(vmId: string, more: Partial<typeof agents.$inferInsert> = {}): Promise<void> {
  await services.db.insert(agents).values({
    ...{ vmId, credentialHash: randomUUID(), certificate: 'PEM', thumbprint: 'AB12', keyHash: randomUUID() },
    ...{ name: 'annex-agent', version: '1.4.0', os: { name: 'Debian', version: '13', arch: 'x64' } },
    ...{ enrolledAt: start, enrolledBy: 'Ada' },
    ...more,
  });
}

/** Stores protected settings that are withheld from the machine's key. */
async function withholdSecrets(vmId: string): Promise<void> {
  const id = randomUUID();
  const entered = { fingerprint: 'f', changedAt: start, changedBy: 'Ada' };
  await services.db.insert(secrets).values({ vmId, id, name: 'probe', sealed: Buffer.from('x'), ...entered });
  await services.db.update(extensions).set({ secretId: id }).where(eq(extensions.vmId, vmId));
  await services.db.update(goalStateHeads).set({ certificate: 'PEM' }).where(eq(goalStateHeads.vmId, vmId));
}

describe('a row of the list', () => {
  test('of a new VM has no data about an agent', async () => {
    const { id, name } = await registerVm(operator, { name: 'new', tags: { env: 'prod' } });
    expect(await rowOf(id)).toEqual({
      ...{ id, name, tags: { env: 'prod' }, createdAt: start.toISOString(), decommissioning: false },
      ...{ health: 'unknown', agent: { status: 'never', lastSeenAt: null }, extensions: [] },
      ...{
        agentKind: null,
        agentVersion: null,
        availableAgentVersion: null,
        os: null,
        needsRelease: false,
        goalState: expect.any(Number),
      },
      ...{ clockSkewSeconds: null, restartPendingSince: null, since: null, hold: null, reason: null, role: null },
    });
  });

  test('shows the agent, its clock, the pending restart, and since when the VM has its health', async () => {
    const { vmId, name } = await givenVm(services);
    await enrolled(vmId);
    await services.db
      .insert(agentPresence)
      .values({ vmId, lastSeenAt: start, nextExpectedAt: later(60), clockSkewSeconds: -90 });
    await services.db.insert(pendingRestarts).values({ vmId, since: later(-30), requests: [] });
    const stored = { vmId, name, tags: {}, health: 'healthy', rank: 5, agent: 'ready', since: later(-50) } as const;
    await services.db.insert(vmHealth).values(stored).onConflictDoUpdate({ target: vmHealth.vmId, set: stored });
    expect(await rowOf(vmId)).toMatchObject({
      ...{ health: 'healthy', agent: { status: 'ready', lastSeenAt: start.toISOString() } },
      ...{ agentKind: 'reference', agentVersion: '1.4.0', os: { name: 'Debian', version: '13', arch: 'x64' } },
      ...{ clockSkewSeconds: -90, restartPendingSince: later(-30).toISOString(), since: later(-50).toISOString() },
    });
  });

  test('of a stock agent that did not report its version has none', async () => {
    const { vmId } = await givenVm(services);
    await enrolled(vmId, { kind: 'stock', version: '', os: {} });
    expect(await rowOf(vmId)).toMatchObject({ agentKind: 'stock', agentVersion: null, os: {} });
  });

  test('AZ-S6 shows the current health, not the stored health', async () => {
    const { vmId, name } = await givenVm(services);
    await services.db.insert(agentPresence).values({ vmId, lastSeenAt: start, nextExpectedAt: later(60) });
    const stored = { vmId, name, tags: {}, health: 'healthy', rank: 5, agent: 'ready', since: start } as const;
    await services.db.insert(vmHealth).values(stored).onConflictDoUpdate({ target: vmHealth.vmId, set: stored });
    const at = async (seconds: number) => {
      const row = await rowOf(vmId, later(seconds));
      return [row?.health, row?.agent.status];
    };
    expect(await at(90)).toEqual(['healthy', 'ready']);
    expect(await at(91)).toEqual(['unknown', 'unknown']);
    expect(await at(600)).toEqual(['unknown', 'unknown']);
    expect(await at(601)).toEqual(['unresponsive', 'unresponsive']);
  });

  test('names what an extension waits for only while it waits, worst first', async () => {
    const vm = await givenVm(services);
    for (const name of ['a', 'b', 'c']) await vm.declare(name);
    await vm.deliver(start);
    await services.db.insert(agentPresence).values({ vmId: vm.vmId, lastSeenAt: start, nextExpectedAt: later(60) });
    const of = (extension: string, more: object) => ({ extension, version: '1.0.0.0', sequenceNumber: 1, ...more });
    const send = async (handlers: object[]) =>
      ingestReport(await vm.agent(start), { vmId: vm.vmId, report: { handlers }, receivedAt: start });
    await send([
      of('a', { state: 'waiting', blockedBy: 'c' }),
      of('b', { state: 'failed', command: 'enable', exitCode: 1, blockedBy: 'c' }),
      of('c', { state: 'installing', command: 'install' }),
    ]);
    expect((await rowOf(vm.vmId))?.extensions).toEqual([
      { name: 'b', handler: 'Acme.Lab.Probe', health: 'failed', waitsFor: null, updateAvailable: null },
      { name: 'a', handler: 'Acme.Lab.Probe', health: 'progressing', waitsFor: 'c', updateAvailable: null },
      { name: 'c', handler: 'Acme.Lab.Probe', health: 'progressing', waitsFor: null, updateAvailable: null },
    ]);
    // After its deadline, the extension has failed and no longer waits.
    await services.db
      .update(agentPresence)
      .set({ nextExpectedAt: later(2 * day) })
      .where(eq(agentPresence.vmId, vm.vmId));
    expect((await rowOf(vm.vmId, later(day)))?.extensions).toContainEqual({
      ...{ name: 'a', handler: 'Acme.Lab.Probe', health: 'failed', waitsFor: null, updateAvailable: null },
    });
  });

  test('says that protected settings are withheld only while there is a certificate for which they can be released', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    await withholdSecrets(vm.vmId);
    expect([(await rowOf(vm.vmId))?.needsRelease, (await factsOf(vm.vmId)).needsRelease]).toEqual([true, true]);
    await services.db.update(goalStateHeads).set({ certificate: null }).where(eq(goalStateHeads.vmId, vm.vmId));
    expect([(await rowOf(vm.vmId))?.needsRelease, (await factsOf(vm.vmId)).needsRelease]).toEqual([false, false]);
    await services.db.update(goalStateHeads).set({ certificate: 'PEM' }).where(eq(goalStateHeads.vmId, vm.vmId));
    await services.db
      .update(secrets)
      .set({ cms: Buffer.from('y') })
      .where(eq(secrets.vmId, vm.vmId));
    expect([(await rowOf(vm.vmId))?.needsRelease, (await factsOf(vm.vmId)).needsRelease]).toEqual([false, false]);
  });

  test('does not exist for a deleted VM, but exists for a VM that is being decommissioned', async () => {
    const gone = await givenVm(services);
    await removeVm(operator, { vmId: gone.vmId });
    expect(await rowOf(gone.vmId).catch(() => undefined)).toBeUndefined();
    const leaving = await givenVm(services);
    await services.db.update(vms).set({ decommissioningAt: start }).where(eq(vms.id, leaving.vmId));
    expect(await rowOf(leaving.vmId)).toMatchObject({ decommissioning: true });
  });

  test('rows that do not fit into one response are counted, and the first row always fits', async () => {
    const value = 'x'.repeat(256);
    const tags = Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`${'t'.repeat(250)}${n}`, value]));
    const ids: string[] = [];
    for (let n = 0; n < 130; n += 1) {
      const id = randomUUID();
      ids.push(id);
      await services.db.insert(vms).values({ id, name: `wide-${n}`, tags, createdAt: start, createdBy: 'test' });
    }
    const { items, leftOut } = await readFleetRows(operator, { vmIds: ids });
    expect(leftOut).toBeGreaterThan(0);
    expect(items.length + leftOut).toBe(130);
    expect(items.map(({ id }) => id)).toEqual(ids.slice(0, items.length));
    expect(Buffer.byteLength(JSON.stringify(items))).toBeLessThan(4 * 1024 * 1024 + 1024);
  });

  test.each([
    [{ vmIds: ['db-1'] }, '/vmIds/0', 'field_format'],
    [{ vmIds: Array.from({ length: 201 }, () => randomUUID()) }, '/vmIds', 'field_too_many'],
    [{}, '/vmIds', 'field_missing'],
  ])('of %j is rejected at %s', async (input, path, code) => {
    const faults = [expect.objectContaining({ path, code })];
    await expect(readFleetRows(operator, input as { vmIds: string[] })).rejects.toMatchObject({ faults });
  });

  test('no ids return no rows', async () => {
    expect(await readFleetRows(operator, { vmIds: [] })).toEqual({ items: [], leftOut: 0 });
  });
});

describe('the facts of a VM', () => {
  test('before enrollment: the expiry of its token, until it has passed', async () => {
    const { id, enrollmentExpiresAt } = await registerVm(operator, { name: 'unenrolled' });
    expect(await factsOf(id)).toMatchObject({
      ...{ agentKind: null, os: null, thumbprint: null, enrolledAt: null, enrolledBy: null, needsRelease: false },
      enrollmentExpiresAt,
    });
    const expires = Date.parse(enrollmentExpiresAt);
    expect((await factsOf(id, new Date(expires - 1))).enrollmentExpiresAt).toBe(enrollmentExpiresAt);
    expect((await factsOf(id, new Date(expires))).enrollmentExpiresAt).toBeNull();
  });

  test('a second token replaces the first', async () => {
    const { id } = await registerVm(operator, { name: 'twice' });
    const second = await issueEnrollmentToken({ ...operator, now: later(60) }, { vmId: id });
    expect((await factsOf(id)).enrollmentExpiresAt).toBe(second.enrollmentExpiresAt);
  });

  test('after enrollment: the machine, its certificate, and who issued its token', async () => {
    const { vmId } = await givenVm(services);
    await enrolled(vmId);
    expect(await factsOf(vmId)).toMatchObject({
      ...{ agentKind: 'reference', os: { name: 'Debian' }, thumbprint: 'AB12' },
      ...{ enrolledAt: start.toISOString(), enrolledBy: 'Ada' },
    });
  });

  test('of a stock agent name the person who granted access', async () => {
    const { vmId } = await givenVm(services);
    await enrolled(vmId, { kind: 'stock', enrolledBy: null });
    const granted = { containerId: randomUUID(), grantedAt: start, tenantKeyAt: start };
    await services.db.insert(stockAgents).values({ vmId, ...granted, grantedBy: 'Grace' });
    expect(await factsOf(vmId)).toMatchObject({ agentKind: 'stock', enrolledBy: 'Grace' });
  });

  test('name the newest goal state and who published it', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    await vm.declare('second');
    const { goalState } = await factsOf(vm.vmId);
    expect(goalState).toMatchObject({ incarnation: 3, publishedBy: 'Test operator' });
    expect((await rowOf(vm.vmId))?.goalState).toBe(3);
  });

  test('of an unknown or deleted VM are not found', async () => {
    const gone = await givenVm(services);
    await removeVm(operator, { vmId: gone.vmId });
    for (const vmId of [randomUUID(), gone.vmId]) {
      await expect(getVmFacts(operator, { vmId })).rejects.toMatchObject({ kind: 'not_found', code: 'vm_unknown' });
    }
    await expect(getVmFacts(operator, { vmId: 'db-1' })).rejects.toMatchObject({
      faults: [{ path: '/vmId', code: 'field_format' }],
    });
  });
});
