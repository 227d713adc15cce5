import { eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { auditEntries, secrets, stockAgents } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { enrollAgent, registerVm } from '#server/domain/enrollment/index.ts';
import { getExtension, getGoalState, setExtension } from '#server/domain/goal-states/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { dropPortalCopies, grantWireAccess, wireTokenHash, wrapTenantKey } from './index.ts';
import { createTenantKey } from './tenant-key.ts';

let ctx: Context;
let custody: Context;

beforeAll(async () => {
  ctx = await testContext({ role: 'operator', services: await testServices({ config: { wire: true } }) });
  custody = { ...ctx, config: { ...ctx.config, custody: 'vm' } };
  await givenVersion(ctx.db);
});

const settings = { publicSettings: {}, protectedSettings: { word: 'hunter2' } };
const set = (by: Context, vmId: string) =>
  setExtension(by, {
    vmId,
    name: 'probe',
    goal: { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled', settings },
  });
const sealedOf = async (vmId: string) =>
  (await ctx.db.select().from(secrets).where(eq(secrets.vmId, vmId))).map(({ sealed }) => sealed !== null);
const stockOf = async (vmId: string) => (await ctx.db.select().from(stockAgents).where(eq(stockAgents.vmId, vmId)))[0];
const stateOf = async (vmId: string) => (await getExtension(ctx, { vmId, name: 'probe' })).protectedSettings;
const newTransport = async () => (await createTenantKey(ctx.now)).certificate.pem;

test("ANNEX_CUSTODY=vm at the start: the portal's copies are removed and the activity counts them", async () => {
  const enrolled = await registerVm(ctx, { name: 'enrolled' });
  await enrollAgent(ctx, {
    enrollmentToken: enrolled.enrollmentToken,
    certificate: newKeyPair().certificate,
    agent: { name: 'a', version: '1' },
  });
  const waiting = await registerVm(ctx, { name: 'waiting' });
  const stock = await registerVm(ctx, { name: 'stock' });
  const { token } = await grantWireAccess(ctx, { vmId: stock.id });
  const access = { vmId: stock.id, credentialHash: wireTokenHash(stock.id, token) };
  const transportPem = await newTransport();
  await wrapTenantKey(ctx, { ...access, transportPem });
  for (const { id } of [enrolled, waiting, stock]) await set(ctx, id);
  const before = (await getGoalState(ctx, { vmId: enrolled.id })).etag;

  const start = { ...custody, actor: systemActor };
  expect(await dropPortalCopies({ ...ctx, actor: systemActor })).toEqual({ secrets: 0, tenantKeys: 0 });
  expect(await sealedOf(enrolled.id)).toEqual([true]);
  expect(await dropPortalCopies(start)).toEqual({ secrets: 2, tenantKeys: 1 });
  expect(await dropPortalCopies(start)).toEqual({ secrets: 0, tenantKeys: 0 });
  expect(await sealedOf(enrolled.id)).toEqual([false]);
  expect(await sealedOf(waiting.id)).toEqual([true]);
  expect((await stockOf(stock.id))?.tenantKey).toBeNull();
  const acts = await readActs(ctx.db, eq(auditEntries.action, 'secrets.drop-copies'));
  expect(acts).toMatchObject([{ actorKind: 'system', details: { secrets: 2, tenantKeys: 1 } }]);
  // Settings that were already delivered stay in the goal state.
  expect(await getGoalState(ctx, { vmId: enrolled.id })).toMatchObject({
    etag: before,
    extensions: [{ name: 'probe' }],
  });
  expect(await stateOf(stock.id)).toMatchObject({ needsSecrets: false });

  // The portal no longer stores the stock agent's key, so the agent gets another key, and its settings must be entered
  // again.
  expect(await wrapTenantKey(custody, { ...access, transportPem })).toBeInstanceOf(Buffer);
  expect(await stateOf(stock.id)).toMatchObject({ needsSecrets: true, needsRelease: false });
});

test('ANNEX_CUSTODY=vm: a tenant key is kept only as wrapped for its transport certificate', async () => {
  const { id: vmId } = await registerVm(custody, { name: 'wrapped' });
  const { token } = await grantWireAccess(custody, { vmId });
  const wrap = (transportPem: string) =>
    wrapTenantKey(custody, { vmId, credentialHash: wireTokenHash(vmId, token), transportPem });
  const first = await newTransport();
  const wrapped = await wrap(first);
  expect((await stockOf(vmId))?.tenantKey).toBeNull();
  await set(custody, vmId);
  expect(await wrap(first)).toEqual(wrapped);
  expect(await stateOf(vmId)).toMatchObject({ needsSecrets: false });
  const [before] = (await getGoalState(ctx, { vmId })).extensions;

  // The agent restarts with another transport certificate.
  const second = await newTransport();
  const renewed = await wrap(second);
  expect(renewed).not.toEqual(wrapped);
  expect(await stateOf(vmId)).toMatchObject({ needsSecrets: true });
  expect((await getGoalState(ctx, { vmId })).extensions).toEqual([]);
  await set(custody, vmId);
  const [after] = (await getGoalState(ctx, { vmId })).extensions;
  expect(after?.settings.protectedSettingsCertThumbprint).not.toBe(before?.settings.protectedSettingsCertThumbprint);
  expect(await wrap(second)).toEqual(renewed);

  // With ANNEX_CUSTODY=portal again, the agent keeps its wrapped key.
  const back = { vmId, credentialHash: wireTokenHash(vmId, token), transportPem: second };
  expect(await wrapTenantKey(ctx, back)).toEqual(renewed);
});
