import { randomBytes } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { agents, auditEntries, stockAgents, vms } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { deriveKeys } from '#server/platform/keys.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { getWireAccess, grantWireAccess, resealTenantKeys, revokeWireAccess, rotateTenantKey } from './index.ts';
import { openTenantKey } from './tenant-key.ts';
import { wireTokenHash } from './wire-token.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

let services: Services;
let operator: Context;
let vm: GivenVm;
beforeAll(async () => {
  services = await testServices({ config: { wire: true } });
  operator = await testContext({ services, role: 'operator' });
  await givenVersion(services.db);
});
beforeEach(async () => {
  vm = await givenVm(services);
});

type Verb = (ctx: Context, input: { vmId: string }) => Promise<unknown>;
const verbs: Record<string, Verb> = { grantWireAccess, revokeWireAccess, rotateTenantKey };
const call = (name: string, ctx: Context, vmId = vm.vmId) => (verbs[name] ?? getWireAccess)(ctx, { vmId });
const entries = async () => readActs(services.db, eq(auditEntries.vmId, vm.vmId));
const wireEntries = async () => (await entries()).filter(({ action }) => action.startsWith('wire-access.'));
const rowOf = async (vmId = vm.vmId) =>
  (await services.db.select().from(stockAgents).where(eq(stockAgents.vmId, vmId)))[0];
const credential = async () =>
  (await services.db.select().from(agents).where(eq(agents.vmId, vm.vmId)))[0]?.credentialHash;

describe('the verbs of stock agents', () => {
  test.each(Object.keys(verbs))('%s: operators and administrators only', async (name) => {
    await grantWireAccess(operator, { vmId: vm.vmId });
    for (const role of ['viewer', 'publisher'] as const) {
      const forbidden = { kind: 'forbidden', code: 'forbidden', params: { role: 'operator' } };
      await expect(call(name, await testContext({ services, role }))).rejects.toMatchObject(forbidden);
    }
    const anonymous = await testContext({ services, role: null });
    await expect(call(name, anonymous)).rejects.toMatchObject({ kind: 'unauthenticated' });
    await expect(call(name, await testContext({ services }))).resolves.not.toThrow();
  });

  test('getWireAccess: everyone who is signed in, without the token', async () => {
    const { token } = await grantWireAccess(operator, { vmId: vm.vmId });
    for (const role of ['viewer', 'publisher', 'operator'] as const) {
      const access = await call('getWireAccess', await testContext({ services, role }));
      expect(JSON.stringify(access)).not.toContain(token);
    }
    const anonymous = await testContext({ services, role: null });
    await expect(call('getWireAccess', anonymous)).rejects.toMatchObject({ kind: 'unauthenticated' });
  });

  test.each([...Object.keys(verbs), 'getWireAccess'])(
    '%s rejects an invalid id, an unknown VM and a deleted VM',
    async (name) => {
      const invalid = { code: 'invalid', faults: [{ path: '/vmId', code: 'field_format' }] };
      await expect(call(name, operator, 'one')).rejects.toMatchObject(invalid);
      await expect(call(name, operator, unknownId)).rejects.toMatchObject({ kind: 'not_found', code: 'vm_unknown' });
      await services.db.update(vms).set({ deletedAt: new Date() }).where(eq(vms.id, vm.vmId));
      await expect(call(name, operator)).rejects.toMatchObject({ kind: 'not_found', code: 'vm_unknown' });
      expect(await wireEntries()).toEqual([]);
    },
  );

  test.each(['revokeWireAccess', 'rotateTenantKey'])('%s needs a stock agent', async (name) => {
    const absent = { kind: 'not_found', code: 'wire_access_absent' };
    await expect(call(name, operator)).rejects.toMatchObject(absent);
    await grantWireAccess(operator, { vmId: vm.vmId });
    await revokeWireAccess(operator, { vmId: vm.vmId });
    await expect(call(name, operator)).rejects.toMatchObject(absent);
  });
});

describe('what the verbs store and record', () => {
  test('each token, key and revocation is recorded with what changed', async () => {
    const { vmId } = vm;
    await grantWireAccess(operator, { vmId });
    const first = (await getWireAccess(operator, { vmId })).stock?.tenantCertificate.thumbprint;
    await grantWireAccess(operator, { vmId });
    const second = (await getWireAccess(operator, { vmId })).stock?.tenantCertificate.thumbprint;
    const { thumbprint } = await rotateTenantKey(operator, { vmId });
    await revokeWireAccess(operator, { vmId });
    expect(new Set([first, second, thumbprint]).size).toBe(3);
    expect(await wireEntries()).toMatchObject([
      { action: 'wire-access.grant', actorName: 'Test operator', details: { rotated: false } },
      { action: 'wire-access.grant', details: { rotated: true } },
      { action: 'wire-access.rotate-key', before: { thumbprint: second }, after: { thumbprint } },
      { action: 'wire-access.revoke', before: { thumbprint } },
    ]);
  });

  test('a token and the private key appear in no entry and in no row', async () => {
    const { vmId } = vm;
    const { token } = await grantWireAccess(operator, { vmId });
    const plain = openTenantKey(services.keys, vmId, (await rowOf())?.tenantKey ?? Buffer.alloc(0));
    const stored = JSON.stringify([await entries(), await rowOf(), await credential()]);
    expect(stored).not.toContain(token);
    expect(stored).not.toContain(plain.toString('base64').slice(100, 200));
    expect(await credential()).toBe(wireTokenHash(vmId, token));
  });

  test('a revocation removes key and token, and the extensions remain declared', async () => {
    await vm.declare('probe');
    await grantWireAccess(operator, { vmId: vm.vmId });
    await revokeWireAccess(operator, { vmId: vm.vmId });
    expect([await rowOf(), await credential()]).toEqual([undefined, undefined]);
    expect(await getWireAccess(operator, { vmId: vm.vmId })).toMatchObject({ agent: 'none', stock: null });
    expect(await vm.declare('probe', { state: 'disabled' })).toBe(2);
  });

  test('two operators who create a token at the same time: one token is valid in the end', async () => {
    const { vmId } = vm;
    const tokens = await Promise.all([1, 2, 3].map(() => grantWireAccess(operator, { vmId })));
    expect(tokens.map(({ token }) => wireTokenHash(vmId, token))).toContain(await credential());
    expect((await wireEntries()).map(({ details }) => details.rotated)).toEqual([false, true, true]);
  });

  test('creating and revoking a token at the same time leaves the VM in one of the two states', async () => {
    const { vmId } = vm;
    await grantWireAccess(operator, { vmId });
    await Promise.all([grantWireAccess(operator, { vmId }), revokeWireAccess(operator, { vmId })]);
    const { agent } = await getWireAccess(operator, { vmId });
    expect([agent, (await rowOf()) !== undefined, (await credential()) !== undefined]).toEqual(
      agent === 'stock' ? ['stock', true, true] : ['none', false, false],
    );
  });
});

describe('the stored form of a token', () => {
  test('depends on VM and token, and is not a credential of a reference agent', () => {
    const hash = wireTokenHash(unknownId, 'annex_wire_x');
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(wireTokenHash(unknownId, 'annex_wire_x')).toBe(hash);
    expect(wireTokenHash(unknownId, 'annex_wire_y')).not.toBe(hash);
    expect(wireTokenHash(unknownId.replace('8', '9'), 'annex_wire_x')).not.toBe(hash);
  });
});

test('tenant keys are encrypted with new keys, each for its VM, and can no longer be decrypted with the previous keys', async () => {
  const other = await givenVm(services);
  for (const { vmId } of [vm, other]) await grantWireAccess(operator, { vmId });
  const ids = [vm.vmId, other.vmId];
  const sealed = async (vmId: string) => (await rowOf(vmId))?.tenantKey ?? Buffer.alloc(0);
  const before = await Promise.all(ids.map(async (vmId) => openTenantKey(services.keys, vmId, await sealed(vmId))));
  const next = deriveKeys(randomBytes(32));
  const count = await services.db.$count(stockAgents);
  expect(await services.db.transaction((tx) => resealTenantKeys(tx, services.keys, next))).toBe(count);
  for (const [index, vmId] of ids.entries()) {
    expect(openTenantKey(next, vmId, await sealed(vmId))).toEqual(before[index]);
    const stored = await sealed(vmId);
    expect(() => openTenantKey(services.keys, vmId, stored)).toThrow();
    expect(() => openTenantKey(next, unknownId, stored)).toThrow();
  }
  await services.db.transaction((tx) => resealTenantKeys(tx, next, services.keys));
});
