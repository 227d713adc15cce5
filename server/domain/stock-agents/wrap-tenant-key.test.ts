import { eq } from 'drizzle-orm';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { agents, auditEntries, stockAgents } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { grantWireAccess, revokeWireAccess, rotateTenantKey, wrapTenantKey } from './index.ts';
import { createTenantKey } from './tenant-key.ts';
import { wireTokenHash } from './wire-token.ts';

let services: Services;
let portal: Context;
let custody: Context;
let vmId: string;
let credentialHash: string;
/** Two transport certificates, because an agent creates a new certificate at each start. */
let transports: { pem: string; thumbprint: string }[];
beforeAll(async () => {
  services = await testServices({ config: { wire: true } });
  portal = await testContext({ services, role: 'operator' });
  custody = { ...portal, config: { ...portal.config, custody: 'vm' } };
  transports = (await Promise.all([1, 2].map(() => createTenantKey(portal.now)))).map(({ certificate }) => certificate);
});
beforeEach(async () => {
  ({ vmId } = await givenVm(services));
  const { token } = await grantWireAccess(portal, { vmId });
  credentialHash = wireTokenHash(vmId, token);
});

const wrap = (by: Context, start: number) =>
  wrapTenantKey(by, { vmId, credentialHash, transportPem: transports[start]?.pem ?? '' });
const tenantThumbprint = async () =>
  (await services.db.select().from(agents).where(eq(agents.vmId, vmId)))[0]?.thumbprint;
const keeps = async () => {
  const [row] = await services.db.select().from(stockAgents).where(eq(stockAgents.vmId, vmId));
  return { key: row?.tenantKey !== null, envelope: row?.wrappedTenantKey !== null };
};
const renewals = async () => {
  const rows = await readActs(services.db, eq(auditEntries.vmId, vmId));
  const renewed = rows.filter(({ action }) => action === 'wire-access.renew-certificate');
  return renewed.map(({ before, after }) => ({ before, after }));
};
const thumbprint = (start: number) => transports[start]?.thumbprint;

test.each<[custody: 'portal' | 'vm', newKey: boolean, kept: object]>([
  ['portal', false, { key: true, envelope: false }],
  ['vm', true, { key: false, envelope: true }],
])('ANNEX_CUSTODY=%s: after a restart of the agent it gets another key: %s', async (of, newKey, kept) => {
  const by = of === 'vm' ? custody : portal;
  const granted = await tenantThumbprint();
  expect(await wrap(by, 0)).toBeInstanceOf(Buffer);
  expect(await tenantThumbprint(), 'the first agent gets the key of the grant').toBe(granted);
  await wrap(by, 0);
  expect(await wrap(by, 1)).toBeInstanceOf(Buffer);
  expect((await tenantThumbprint()) !== granted).toBe(newKey);
  expect(await keeps()).toEqual(kept);
  expect(await renewals(), 'one act per certificate').toEqual([
    { before: null, after: { thumbprint: thumbprint(0) } },
    { before: { thumbprint: thumbprint(0) }, after: { thumbprint: thumbprint(1), ...(newKey && { newKey }) } },
  ]);
});

test.each<[what: string, start: number]>([
  ['the first time', 0],
  ['after a restart of the agent', 1],
])('ANNEX_CUSTODY=vm: calls at the same time get one envelope, %s', async (_, start) => {
  if (start > 0) await wrap(custody, 0);
  const all = await Promise.all([1, 2, 3].map(() => wrap(custody, start)));
  expect(all[0]).toBeInstanceOf(Buffer);
  expect(new Set(all.map((envelope) => envelope?.toString('hex'))).size).toBe(1);
  expect(await renewals()).toHaveLength(1 + start);
});

test('ANNEX_CUSTODY=vm: the portal keeps a renewed key only until the agent has fetched it', async () => {
  const before = await wrap(custody, 0);
  const renewed = await rotateTenantKey(custody, { vmId });
  expect(await keeps()).toEqual({ key: true, envelope: false });
  const after = await wrap(custody, 0);
  expect(after).not.toEqual(before);
  expect(await keeps()).toEqual({ key: false, envelope: true });
  expect(await tenantThumbprint()).toBe(renewed.thumbprint);
});

test.each<[what: string, change: () => Promise<unknown>]>([
  ['a token that was replaced', () => grantWireAccess(portal, { vmId })],
  ['a token that was revoked', () => revokeWireAccess(portal, { vmId })],
])('%s gets no key, also not one that is stored as an envelope', async (_, change) => {
  await wrap(custody, 0);
  await change();
  expect(await wrap(custody, 0)).toBeNull();
  expect(await wrap(custody, 1)).toBeNull();
  expect(await renewals()).toHaveLength(1);
});

test.each(['', 'no certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'])(
  'there is no envelope for %j, and nothing is recorded',
  async (transportPem) => {
    expect(await wrapTenantKey(custody, { vmId, credentialHash, transportPem })).toBeNull();
    expect(await renewals()).toEqual([]);
    expect(await keeps()).toEqual({ key: true, envelope: false });
  },
);
