import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { agents, auditEntries, stockAgents } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { enrollAgent, issueEnrollmentToken, registerVm } from '#server/domain/enrollment/index.ts';
import { getGoalState, setExtension } from '#server/domain/goal-states/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { getWireAccess, grantWireAccess, revokeWireAccess, rotateTenantKey, setHold, wrapTenantKey } from './index.ts';
import { createTenantKey, openTenantKey } from './tenant-key.ts';
import { wireTokenHash } from './wire-token.ts';

let ctx: Context;

beforeAll(async () => {
  ctx = await testContext({ role: 'operator', services: await testServices({ config: { wire: true } }) });
  await givenVersion(ctx.db);
});

const givenVm = async (name: string) => (await registerVm(ctx, { name })).id;
const rowsOf = async (vmId: string) => {
  const [row] = await ctx.db
    .select()
    .from(agents)
    .innerJoin(stockAgents, eq(stockAgents.vmId, agents.vmId))
    .where(eq(agents.vmId, vmId));
  return row;
};
const actsOf = async (vmId: string) => {
  const rows = await readActs(ctx.db, eq(auditEntries.vmId, vmId));
  return rows.map(({ action }) => action);
};

test('the first token switches a VM to stock mode, the next token revokes the first; both are acts', async () => {
  const vmId = await givenVm('first');
  expect(await getWireAccess(ctx, { vmId })).toEqual({ isOpen: true, agent: 'none', stock: null });
  const { token } = await grantWireAccess(ctx, { vmId });
  expect(token).toMatch(/^annex_wire_/);
  const first = await rowsOf(vmId);
  expect(first?.agents.credentialHash).toBe(wireTokenHash(vmId, token));
  const { token: next } = await grantWireAccess(ctx, { vmId });
  const second = await rowsOf(vmId);
  expect(second?.agents.credentialHash).toBe(wireTokenHash(vmId, next));
  expect(second?.agents.thumbprint, 'a new token comes with a new tenant key').not.toBe(first?.agents.thumbprint);
  expect(await getWireAccess(ctx, { vmId })).toMatchObject({
    agent: 'stock',
    stock: { grantedBy: 'Test operator', version: null, seen: null, settled: null, transportCertificate: null },
  });
  expect((await actsOf(vmId)).filter((action) => action.startsWith('wire'))).toHaveLength(2);
});

test('a VM has one kind of agent, and the other kind is rejected', async () => {
  const { id: vmId, enrollmentToken } = await registerVm(ctx, { name: 'either' });
  const request = { enrollmentToken, certificate: newKeyPair().certificate, agent: { name: 'a', version: '1' } };
  await grantWireAccess(ctx, { vmId });
  await expect(enrollAgent(ctx, request)).rejects.toMatchObject({ kind: 'conflict', code: 'vm_has_stock_agent' });
  await expect(issueEnrollmentToken(ctx, { vmId })).rejects.toMatchObject({ code: 'vm_has_stock_agent' });
  await revokeWireAccess(ctx, { vmId });
  await enrollAgent(ctx, request);
  await expect(grantWireAccess(ctx, { vmId })).rejects.toMatchObject({
    kind: 'conflict',
    code: 'vm_has_reference_agent',
  });
  await expect(revokeWireAccess(ctx, { vmId })).rejects.toMatchObject({
    kind: 'not_found',
    code: 'wire_access_absent',
  });
  expect(await getWireAccess(ctx, { vmId })).toMatchObject({ agent: 'reference', stock: null });
});

test.each<[string, Partial<Context['config']>, string]>([['the door is closed', { wire: false }, 'wire_off']])(
  'where %s no access is granted',
  async (_, config, code) => {
    const vmId = await givenVm(code);
    const closed = { ...ctx, config: { ...ctx.config, ...config } };
    await expect(grantWireAccess(closed, { vmId })).rejects.toMatchObject({ kind: 'conflict', code });
    expect(await getWireAccess(closed, { vmId })).toMatchObject({ agent: 'none' });
  },
);

describe('the tenant key', () => {
  const secret = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const };

  test('AZ-C2 is stored encrypted, decrypts for its own VM only, and encrypts protected settings', async () => {
    const vmId = await givenVm('sealed');
    const settings = { publicSettings: {}, protectedSettings: { word: 'hunter2' } };
    await setExtension(ctx, { vmId, name: 'probe', goal: { ...secret, settings } });
    await grantWireAccess(ctx, { vmId });
    const row = await rowsOf(vmId);
    const sealed = row?.stock_agents.tenantKey ?? Buffer.alloc(0);
    expect(openTenantKey(ctx.keys, vmId, sealed).byteLength).toBeGreaterThan(1_000);
    expect(() => openTenantKey(ctx.keys, crypto.randomUUID(), sealed)).toThrow();
    const { extensions } = await getGoalState(ctx, { vmId });
    expect(extensions[0]?.settings.protectedSettingsCertThumbprint).toBe(row?.agents.thumbprint);
  });

  test('is renewed on demand: a new incarnation, and the same sequence numbers', async () => {
    const vmId = await givenVm('renewed');
    await grantWireAccess(ctx, { vmId });
    const settings = { publicSettings: {}, protectedSettings: { word: 'hunter2' } };
    const { incarnation, sequenceNumber } = await setExtension(ctx, {
      vmId,
      name: 'probe',
      goal: { ...secret, settings },
    });
    const before = await rowsOf(vmId);
    const renewed = await rotateTenantKey(ctx, { vmId });
    expect(renewed.incarnation).toBe(incarnation + 1);
    expect(renewed.thumbprint).not.toBe(before?.agents.thumbprint);
    const { extensions } = await getGoalState(ctx, { vmId });
    expect(extensions[0]).toMatchObject({
      sequenceNumber,
      settings: { protectedSettingsCertThumbprint: renewed.thumbprint },
    });
    expect(await actsOf(vmId)).toContain('wire-access.rotate-key');
  });

  test('is for the holder of the valid token, whatever a process has cached', async () => {
    const vmId = await givenVm('rotated');
    const [before, after] = [await grantWireAccess(ctx, { vmId }), await grantWireAccess(ctx, { vmId })];
    const transportPem = (await createTenantKey(ctx.now)).certificate.pem;
    const wrap = ({ token }: { token: string }) =>
      wrapTenantKey(ctx, { vmId, credentialHash: wireTokenHash(vmId, token), transportPem });
    expect(await wrap(before)).toBeNull();
    expect(await actsOf(vmId)).not.toContain('wire-access.renew-certificate');
    expect(await wrap(after)).toBeInstanceOf(Buffer);
  });

  test('is removed with the VM', async () => {
    const vmId = await givenVm('gone');
    await grantWireAccess(ctx, { vmId });
    await removeVm(ctx, { vmId });
    expect(await rowsOf(vmId)).toBeUndefined();
    await expect(grantWireAccess(ctx, { vmId })).rejects.toMatchObject({ code: 'vm_unknown' });
  });
});

test('viewers can read it but not change it', async () => {
  const vmId = await givenVm('seen');
  const viewer = await testContext({ role: 'viewer', services: ctx });
  expect(await getWireAccess(viewer, { vmId })).toMatchObject({ agent: 'none' });
  const hold: typeof grantWireAccess = (...[who, input]) =>
    setHold(who, { ...input, onHold: true }).then(() => ({ token: '' }));
  for (const verb of [grantWireAccess, revokeWireAccess, rotateTenantKey, hold])
    await expect(verb(viewer, { vmId })).rejects.toMatchObject({ kind: 'forbidden' });
});
