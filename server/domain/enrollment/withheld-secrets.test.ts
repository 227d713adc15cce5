import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { apiTokens, auditEntries, type Role, users } from '#db/schema/index.ts';
import type { Actor } from '#server/domain/actor.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { enrollAgent, issueEnrollmentToken, registerVm, renewCertificate } from '#server/domain/enrollment/index.ts';
import {
  fetchGoalState,
  getExtension,
  getGoalState,
  planExtension,
  planRevert,
  releaseSecrets,
  revertGoalState,
  setExtension,
} from '#server/domain/goal-states/index.ts';
import { grantWireAccess, revokeWireAccess, rotateTenantKey } from '#server/domain/stock-agents/index.ts';
import { getInstanceView, getVmFacts, listFleet } from '#server/domain/views/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { type KeyPair, newKeyPair, proofOf } from '#server/testing/key-pair.ts';

let services: Services;
let ada: Context;
let eve: Context;
let root: Context;
let count = 0;

/** Creates a member in the database, because the member's role is read from the database when a secret is encrypted. */
async function givenMember(id: string, role: Role): Promise<Context> {
  await services.db.insert(users).values({ id, name: id, email: `${id}@example.test`, role });
  return asActor({ kind: 'user', id, name: id, role, namespaces: [] });
}

const asActor = (actor: Actor): Promise<Context> => testContext({ actor, services });

/** Returns a caller with an API token of this member. */
async function tokenOf(member: Context, role: Role): Promise<Context> {
  const id = randomUUID();
  const createdBy = member.actor.id;
  await services.db.insert(apiTokens).values({ id, name: 'ci', tokenHash: id, role, createdAt: new Date(), createdBy });
  return asActor({ kind: 'token', id, name: 'ci', role, namespaces: [] });
}

const bootstrap: Actor = { kind: 'bootstrap', id: 'bootstrap', name: 'Bootstrap token', role: 'admin', namespaces: [] };

beforeAll(async () => {
  services = await testServices({ config: { wire: true } });
  await givenVersion(services.db);
  ada = await givenMember('ada', 'operator');
  eve = await givenMember('eve', 'operator');
  root = await givenMember('root', 'admin');
});

const goal = (protectedSettings?: Record<string, unknown>) => ({
  handler: 'Acme.Lab.Probe',
  version: '1.0.0.0',
  state: 'enabled' as const,
  settings: { publicSettings: {}, ...(protectedSettings && { protectedSettings }) },
});

async function givenVm(by: Context) {
  count += 1;
  const { id: vmId, enrollmentToken } = await registerVm(by, { name: `vm-${count}` });
  return { vmId, enrollmentToken };
}

const set = (by: Context, vmId: string, word: string, name = 'probe') =>
  setExtension(by, { vmId, name, goal: goal({ word }) });

async function enroll(enrollmentToken: string, pair: KeyPair = newKeyPair()): Promise<KeyPair> {
  const request = { enrollmentToken, certificate: pair.certificate, agent: { name: 'test', version: '1' } };
  await enrollAgent(await testContext({ role: null, services }), request);
  return pair;
}

/** Enrolls a machine with a token that `by` issues. */
async function enrollBy(by: Context, vmId: string): Promise<KeyPair> {
  return enroll((await issueEnrollmentToken(by, { vmId })).enrollmentToken);
}

/**
 * Returns what the holder of a key can decrypt in the current goal state; undefined if the extension is not delivered.
 */
async function readable(vmId: string, { key }: KeyPair): Promise<unknown> {
  const { extensions } = await getGoalState(root, { vmId });
  const [extension] = extensions;
  if (extension === undefined) return undefined;
  const input = Buffer.from(extension.settings.protectedSettings ?? '', 'base64');
  const text = execFileSync('openssl', ['cms', '-decrypt', '-inform', 'DER', '-inkey', key], { input });
  return (JSON.parse(text.toString()) as { word: string }).word;
}

const actsOf = async (vmId: string) => {
  const rows = await readActs(services.db, eq(auditEntries.vmId, vmId));
  return rows.map(({ action, actorName, details }) => ({ action, actorName, details }));
};

const stateOf = async (vmId: string) => (await getExtension(ada, { vmId, name: 'probe' })).protectedSettings;

describe('an operator who enrolls their own key', () => {
  test('cannot read protected settings that another operator set; an admin releases them', async () => {
    const { vmId, enrollmentToken } = await givenVm(ada);
    const hers = await enroll(enrollmentToken);
    await set(ada, vmId, 'hunter2');
    expect(await readable(vmId, hers)).toBe('hunter2');

    const stolen = await enrollBy(eve, vmId);
    expect(await readable(vmId, stolen)).toBeUndefined();
    expect(await stateOf(vmId)).toMatchObject({ needsSecrets: false, needsRelease: true });
    await fetchGoalState(services.db, vmId, new Date());
    const view = await getInstanceView(ada, { vmId });
    expect(view.extensions).toMatchObject([
      { name: 'probe', needsRelease: true, needsSecrets: false, deliveredAt: null },
    ]);
    expect(await getVmFacts(ada, { vmId })).toMatchObject({
      needsRelease: true,
      enrolledBy: 'eve',
      enrolledAt: expect.any(String),
    });
    const { items } = await listFleet(ada, { q: vmId });
    expect(items).toMatchObject([{ id: vmId, needsRelease: true }]);
    expect((await actsOf(vmId)).filter(({ action }) => action === 'secrets.withhold')).toMatchObject([
      { details: { extensions: ['probe'], issuer: 'eve' } },
    ]);

    for (const operator of [ada, eve]) {
      await expect(releaseSecrets(operator, { vmId })).rejects.toMatchObject({ kind: 'forbidden' });
    }
    const before = (await getGoalState(root, { vmId })).incarnation;
    const released = await releaseSecrets(root, { vmId });
    expect(released).toMatchObject({ vmId, extensions: ['probe'], incarnation: before + 1 });
    expect(await readable(vmId, stolen)).toBe('hunter2');
    await fetchGoalState(services.db, vmId, new Date());
    expect((await getInstanceView(ada, { vmId })).extensions).toMatchObject([{ deliveredAt: expect.any(String) }]);
    expect(await stateOf(vmId)).toMatchObject({ needsSecrets: false, needsRelease: false });
    expect((await actsOf(vmId)).at(-1)).toMatchObject({ action: 'secrets.release', actorName: 'root' });
    expect(await releaseSecrets(root, { vmId })).toMatchObject({ extensions: [], incarnation: before + 1 });
  });

  test('cannot read protected settings through a new certificate that the enrolled key signed', async () => {
    const { vmId } = await givenVm(ada);
    await enrollBy(ada, vmId);
    await set(ada, vmId, 'hunter2');
    const [first, second] = [await enrollBy(eve, vmId), newKeyPair()];
    const request = { certificate: second.certificate, proof: proofOf(first, second) };
    await renewCertificate(eve, vmId, request);
    expect(await readable(vmId, second)).toBeUndefined();
    expect(await stateOf(vmId)).toMatchObject({ needsRelease: true });
  });

  test('cannot read settings from before the first enrollment', async () => {
    const { vmId, enrollmentToken } = await givenVm(eve);
    await set(ada, vmId, 'hunter2');
    expect(await stateOf(vmId)).toMatchObject({ needsRelease: false });
    expect(await readable(vmId, await enroll(enrollmentToken))).toBeUndefined();
    expect(await stateOf(vmId)).toMatchObject({ needsRelease: true });
  });

  test('cannot read protected settings after a revert to settings that another operator set', async () => {
    const { vmId } = await givenVm(eve);
    await set(ada, vmId, 'hunter2');
    await set(eve, vmId, 'mine');
    const pair = await enrollBy(eve, vmId);
    expect(await readable(vmId, pair)).toBe('mine');
    const plan = await planRevert(eve, { vmId, incarnation: 2 });
    expect(plan.extensions).toMatchObject([{ name: 'probe', needsRelease: true }]);
    expect(plan.warnings.map(({ code }) => code)).toContain('plan_needs_release');
    await revertGoalState(eve, { vmId, incarnation: 2 });
    expect(await readable(vmId, pair)).toBeUndefined();
    expect(await stateOf(vmId)).toMatchObject({ needsRelease: true });
    await releaseSecrets(root, { vmId });
    expect(await readable(vmId, pair)).toBe('hunter2');
  });

  test('cannot read protected settings while the VM is being decommissioned', async () => {
    const { vmId } = await givenVm(ada);
    const hers = await enrollBy(ada, vmId);
    await set(ada, vmId, 'hunter2');
    expect(await readable(vmId, hers)).toBe('hunter2');
    await services.db.$client.query('update extensions set ever_delivered = true where vm_id = $1', [vmId]);
    expect(await removeVm(eve, { vmId, decommission: true })).toEqual({ deleted: false });
    expect(await readable(vmId, await enrollBy(eve, vmId))).toBeUndefined();
  });

  test('cannot read kept settings by changing the public ones; entering the settings again delivers them', async () => {
    const { vmId } = await givenVm(ada);
    await set(ada, vmId, 'hunter2');
    const pair = await enrollBy(eve, vmId);
    const changed = { ...goal(), settings: { publicSettings: { n: 1 } } };
    const plan = await planExtension(eve, { vmId, name: 'probe', goal: changed });
    expect(plan.extensions).toMatchObject([{ protectedSettings: 'kept', needsRelease: true }]);
    expect(plan.warnings.map(({ code }) => code)).toContain('plan_needs_release');
    await setExtension(eve, { vmId, name: 'probe', goal: changed });
    expect(await readable(vmId, pair)).toBeUndefined();
    // A value that equals the stored value counts as entered again, so that the response does not confirm a guess.
    await set(ada, vmId, 'hunter2');
    expect(await readable(vmId, pair)).toBe('hunter2');
    expect(await stateOf(vmId)).toMatchObject({ needsRelease: false });
  });

  test('reads their own settings; the author counts for each extension separately', async () => {
    await givenVersion(services.db, { handler: 'Acme.Lab.Other' });
    const { vmId } = await givenVm(ada);
    await set(ada, vmId, 'hunter2');
    const other = { ...goal({ word: 'mine' }), handler: 'Acme.Lab.Other' };
    await setExtension(eve, { vmId, name: 'zz-other', goal: other });
    const pair = await enrollBy(eve, vmId);
    expect((await getGoalState(root, { vmId })).extensions.map(({ name }) => name)).toEqual(['zz-other']);
    expect(await readable(vmId, pair)).toBe('mine');
    expect((await releaseSecrets(root, { vmId })).extensions).toEqual(['probe']);
    expect((await getGoalState(root, { vmId })).extensions).toHaveLength(2);
  });
});

describe('the issuer of the token', () => {
  const deliveredTo = async (setter: Context, issuer: Context, between?: () => Promise<unknown>) => {
    const { vmId } = await givenVm(ada);
    await set(setter, vmId, 'word');
    const { enrollmentToken } = await issueEnrollmentToken(issuer, { vmId });
    await between?.();
    return (await readable(vmId, await enroll(enrollmentToken))) === 'word';
  };

  test('the member who set them last, an admin, and the bootstrap token can read them', async () => {
    expect(await deliveredTo(ada, ada)).toBe(true);
    expect(await deliveredTo(ada, root)).toBe(true);
    expect(await deliveredTo(ada, await asActor(bootstrap))).toBe(true);
    expect(await deliveredTo(root, ada)).toBe(false);
    expect(await deliveredTo(await asActor(bootstrap), ada)).toBe(false);
  });

  test("actions of a member's API tokens count as the member's, with the role of the token", async () => {
    const [adas, eves] = [await tokenOf(ada, 'operator'), await tokenOf(eve, 'operator')];
    expect(await deliveredTo(ada, adas)).toBe(true);
    expect(await deliveredTo(adas, ada)).toBe(true);
    expect(await deliveredTo(adas, await tokenOf(ada, 'operator'))).toBe(true);
    expect(await deliveredTo(adas, eves)).toBe(false);
    // A token with the role operator is not an admin, even if an admin created the token.
    expect(await deliveredTo(ada, await tokenOf(root, 'operator'))).toBe(false);
    expect(await deliveredTo(root, await tokenOf(root, 'operator')), 'what that admin entered is theirs').toBe(true);
    expect(await deliveredTo(ada, await tokenOf(root, 'admin'))).toBe(true);
    // The bootstrap token belongs to no member, so each token created with it is a separate actor.
    const [one, other] = [
      await tokenOf(await asActor(bootstrap), 'operator'),
      await tokenOf(await asActor(bootstrap), 'operator'),
    ];
    expect(await deliveredTo(one, one)).toBe(true);
    expect(await deliveredTo(one, other)).toBe(false);
  });

  test('the role counts at encryption: demoted or removed admins and revoked tokens get nothing', async () => {
    const demoted = await givenMember('demoted', 'admin');
    const demote = () => services.db.update(users).set({ role: 'operator' }).where(eq(users.id, 'demoted'));
    expect(await deliveredTo(ada, demoted, demote)).toBe(false);
    expect(await deliveredTo(demoted, demoted)).toBe(true);
    const removed = await givenMember('removed', 'admin');
    expect(await deliveredTo(ada, removed, () => services.db.delete(users).where(eq(users.id, 'removed')))).toBe(false);
    const token = await tokenOf(root, 'admin');
    const revoke = () =>
      services.db.update(apiTokens).set({ revokedAt: new Date() }).where(eq(apiTokens.id, token.actor.id));
    expect(await deliveredTo(ada, token, revoke)).toBe(false);
  });

  test("settings of an earlier release, stored without an author, go only to an admin's token", async () => {
    const { vmId } = await givenVm(ada);
    await set(ada, vmId, 'old');
    await services.db.$client.query('update secrets set set_by = null where vm_id = $1', [vmId]);
    expect(await readable(vmId, await enrollBy(ada, vmId))).toBeUndefined();
    expect(await readable(vmId, await enrollBy(root, vmId))).toBe('old');
    const { enrollmentToken } = await issueEnrollmentToken(root, { vmId });
    await services.db.$client.query('update enrollment_tokens set issued_by = null where vm_id = $1', [vmId]);
    expect(await readable(vmId, await enroll(enrollmentToken))).toBeUndefined();
  });
});

test('a key that had the settings keeps them, regardless of who issues the token for its next enrollment', async () => {
  const { vmId } = await givenVm(ada);
  const pair = await enrollBy(ada, vmId);
  await set(ada, vmId, 'hunter2');
  await enroll((await issueEnrollmentToken(eve, { vmId })).enrollmentToken, pair);
  expect(await readable(vmId, pair)).toBe('hunter2');
});

test('a release names the key that was reviewed: a key that replaced it gets nothing', async () => {
  const { vmId } = await givenVm(ada);
  await set(ada, vmId, 'hunter2');
  await enrollBy(eve, vmId);
  const { thumbprint } = await getVmFacts(root, { vmId });
  const later = await enrollBy(eve, vmId);
  const stale = releaseSecrets(root, { vmId, thumbprint: thumbprint ?? '' });
  await expect(stale).rejects.toMatchObject({ kind: 'precondition_failed', code: 'key_changed' });
  expect(await readable(vmId, later)).toBeUndefined();
});

describe("a stock agent's forwarder", () => {
  const thumbprints = async (vmId: string) =>
    (await getGoalState(root, { vmId })).extensions.map(({ settings }) => settings.protectedSettingsCertThumbprint);

  test('a token of another operator gets a new tenant key, and no secrets', async () => {
    const { vmId } = await givenVm(ada);
    await grantWireAccess(ada, { vmId });
    await set(ada, vmId, 'hunter2');
    const [first] = await thumbprints(vmId);
    await grantWireAccess(eve, { vmId });
    expect(await thumbprints(vmId)).toEqual([]);
    const { thumbprint } = await getVmFacts(root, { vmId });
    expect(thumbprint).not.toBe(first);
    expect(await getVmFacts(root, { vmId })).toMatchObject({ needsRelease: true, enrolledBy: 'eve' });
    // After the same operator rotates the tenant key, the secrets are still withheld.
    await rotateTenantKey(eve, { vmId });
    expect(await thumbprints(vmId)).toEqual([]);
    await releaseSecrets(root, { vmId });
    const [released] = await thumbprints(vmId);
    await rotateTenantKey(eve, { vmId });
    expect(await thumbprints(vmId)).toEqual([expect.not.stringMatching(released ?? '')]);
  });

  test("another token of the operator gets a new tenant key and only the operator's own secrets", async () => {
    const { vmId } = await givenVm(eve);
    await grantWireAccess(eve, { vmId });
    await set(ada, vmId, 'hunter2');
    const { thumbprint: first } = await getVmFacts(root, { vmId });
    expect(await thumbprints(vmId)).toEqual([first]);
    await grantWireAccess(eve, { vmId });
    expect(await thumbprints(vmId)).toEqual([]);
    expect((await getVmFacts(root, { vmId })).thumbprint).not.toBe(first);
    await set(eve, vmId, 'word');
    expect(await thumbprints(vmId)).toHaveLength(1);
    await grantWireAccess(eve, { vmId });
    expect(await thumbprints(vmId)).toEqual([(await getVmFacts(root, { vmId })).thumbprint]);
  });

  test("another operator's first token gets none, even after a revocation, nor does a reference agent", async () => {
    const { vmId } = await givenVm(ada);
    await set(ada, vmId, 'hunter2');
    await grantWireAccess(eve, { vmId });
    expect(await thumbprints(vmId)).toEqual([]);
    await releaseSecrets(root, { vmId });
    expect(await thumbprints(vmId)).toHaveLength(1);
    await revokeWireAccess(eve, { vmId });
    await grantWireAccess(eve, { vmId });
    expect(await thumbprints(vmId)).toEqual([]);
    await revokeWireAccess(eve, { vmId });
    expect(await readable(vmId, await enrollBy(eve, vmId))).toBeUndefined();
    expect(await readable(vmId, await enrollBy(ada, vmId))).toBe('hunter2');
  });
});

test('ANNEX_CUSTODY=vm: withheld secrets stay with the portal until released or entered again', async () => {
  const custody = (ctx: Context): Context => ({ ...ctx, config: { ...ctx.config, custody: 'vm' } });
  const { vmId, enrollmentToken } = await givenVm(custody(eve));
  await set(custody(ada), vmId, 'hunter2');
  const pair = newKeyPair();
  const request = { enrollmentToken, certificate: pair.certificate, agent: { name: 'test', version: '1' } };
  await enrollAgent(custody(await testContext({ role: null, services })), request);
  expect(await readable(vmId, pair)).toBeUndefined();
  expect(await stateOf(vmId)).toMatchObject({ needsSecrets: false, needsRelease: true });
  await releaseSecrets(custody(root), { vmId });
  expect(await readable(vmId, pair)).toBe('hunter2');
  const { rows } = await services.db.$client.query('select sealed from secrets where vm_id = $1', [vmId]);
  expect(rows).toEqual([{ sealed: null }]);
});
