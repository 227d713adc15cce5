import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { and, eq, isNotNull } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { extensions, goalStateHeads, secrets } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { deriveKeys, seal, unseal } from '#server/platform/keys.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { type KeyPair, newKeyPair } from '#server/testing/key-pair.ts';
import { actsSince, markOf, outcomeOf } from '#server/testing/records.ts';
import { bindCertificate } from './begin.ts';
import {
  boundTo,
  dropSealedCopies,
  findSecret,
  fingerprintOf,
  needsReleaseSql,
  needsSecretsSql,
  secretStateOf,
  storeSecret,
  withheldSecrets,
} from './custody.ts';
import { getExtension } from './get-extension.ts';
import { getGoalState } from './get-goal-state.ts';
import type { KeyOrigin } from './may-release.ts';
import { planExtension } from './plan-extension.ts';
import { lockHead } from './publish.ts';
import { releaseSecrets } from './release-secrets.ts';
import { resealSecrets } from './reseal-secrets.ts';
import { entryKey } from './setting-entries.ts';

let admin: Context;
let db: Database;

beforeAll(async () => {
  admin = await testContext({ role: 'admin', services: await testServices() });
  ({ db } = admin);
  await givenVersion(db);
  await givenVersion(db, { handler: 'Acme.Lab.Disk' });
});

const stranger: KeyOrigin = { kind: 'issued', issuer: { key: 'user:eve', isAdmin: false }, sameKey: false };
const anAdmin: KeyOrigin = { kind: 'issued', issuer: { key: 'user:root', isAdmin: true }, sameKey: false };
const withCustody = (custody: 'portal' | 'vm'): Context => ({ ...admin, config: { ...admin.config, custody } });

const newThumbprint = () => randomBytes(20).toString('hex').toUpperCase();
async function bind(vmId: string, origin: KeyOrigin, ctx = admin): Promise<KeyPair & { thumbprint: string }> {
  const pair = newKeyPair();
  const thumbprint = newThumbprint();
  const certificate = { pem: pair.certificate, thumbprint };
  await db.transaction((tx) => bindCertificate(tx, ctx, vmId, certificate, origin, 'Eve'));
  return { ...pair, thumbprint };
}

const secretOf = async (vmId: string) => {
  const [row] = await db.select().from(secrets).where(eq(secrets.vmId, vmId));
  if (!row) throw new Error('the VM has no secret');
  return row;
};
const declare = (vm: GivenVm, password: string, name = 'probe', handler = 'Acme.Lab.Probe') =>
  vm.declare(name, { handler, settings: { publicSettings: {}, protectedSettings: { password } } });
const opened = (cms: Buffer | null, { key }: KeyPair): unknown =>
  cms &&
  JSON.parse(execFileSync('openssl', ['cms', '-decrypt', '-inform', 'DER', '-inkey', key], { input: cms }).toString());

describe('AZ-C2 the state of a secret', () => {
  const some = Buffer.from('x');
  const cases: [string, Buffer | null, Buffer | null, string | null, ReturnType<typeof secretStateOf>][] = [
    ['encrypted for the VM', some, some, 'pem', 'ready'],
    ['encrypted for the VM, without a copy of the portal', null, some, 'pem', 'ready'],
    ['before the first machine', some, null, null, 'ready'],
    ['withheld from the machine', some, null, 'pem', 'needsRelease'],
    ['without any copy', null, null, 'pem', 'needsSecrets'],
    ['without any copy and machine', null, null, null, 'needsSecrets'],
  ];
  test.each(cases)('%s', async (_, sealed, cms, certificate, state) => {
    expect(secretStateOf({ sealed, cms }, { certificate })).toBe(state);
    // The SQL for lists returns the same result.
    const vm = await givenVm(admin);
    await declare(vm, 'one');
    const copy = sealed && (await secretOf(vm.vmId)).sealed;
    await db.update(secrets).set({ sealed: copy, cms }).where(eq(secrets.vmId, vm.vmId));
    await db.update(goalStateHeads).set({ certificate }).where(eq(goalStateHeads.vmId, vm.vmId));
    const [row] = await db
      .select({ needsSecrets: needsSecretsSql, needsRelease: needsReleaseSql })
      .from(extensions)
      .innerJoin(goalStateHeads, eq(goalStateHeads.vmId, extensions.vmId))
      .leftJoin(secrets, and(eq(secrets.vmId, extensions.vmId), eq(secrets.id, extensions.secretId)))
      .where(eq(extensions.vmId, vm.vmId));
    const expected = { needsSecrets: state === 'needsSecrets', needsRelease: state === 'needsRelease' };
    expect(row).toEqual(expected);
    // The editor shows the same state.
    const view = await getExtension(admin, { vmId: vm.vmId, name: 'probe' });
    expect(view.protectedSettings).toMatchObject(expected);
  });
});

describe('AZ-C2 a fingerprint', () => {
  const of = (value: unknown, vmId = 'one', name = 'probe', keys = admin.keys) =>
    fingerprintOf({ keys }, vmId, name, value);
  test('is equal for equal settings in any order of their properties', () => {
    expect(of({ a: 1, b: [1, 2] })).toBe(of({ b: [1, 2], a: 1 }));
  });
  test('differs by value, VM, extension and key, so that equal secrets of two VMs cannot be found', () => {
    const base = of({ a: 1 });
    const others = [of({ a: 2 }), of({ a: '1' }), of({ a: 1 }, 'two'), of({ a: 1 }, 'one', 'disk')];
    const elsewhere = of({ a: 1 }, 'one', 'probe', deriveKeys(randomBytes(32)));
    expect(new Set([base, ...others, elsewhere]).size).toBe(6);
  });
});

describe('AZ-C2 the stored forms', () => {
  test.each([
    ['portal', false, true, false],
    ['portal', true, true, true],
    ['vm', false, true, false],
    ['vm', true, false, true],
  ] as const)('custody %s, a machine: %s: sealed %s, encrypted for the VM %s', async (custody, bound, sealed, cms) => {
    const ctx = withCustody(custody);
    const vm = await givenVm(ctx);
    const pair = bound ? await bind(vm.vmId, anAdmin, ctx) : null;
    await declare(vm, 'hunter2');
    const row = await secretOf(vm.vmId);
    expect([row.sealed !== null, row.cms !== null]).toEqual([sealed, cms]);
    expect(row).toMatchObject({ name: 'probe', thumbprint: pair?.thumbprint ?? null, setBy: 'user:test-operator' });
    if (pair) expect(opened(row.cms, pair)).toEqual({ password: 'hunter2' });
  });

  test('with custody vm, the sealed form is deleted when the first machine enrolls', async () => {
    const ctx = withCustody('vm');
    const vm = await givenVm(ctx);
    await declare(vm, 'hunter2');
    const pair = await bind(vm.vmId, anAdmin, ctx);
    const row = await secretOf(vm.vmId);
    expect(row.sealed).toBeNull();
    expect(opened(row.cms, pair)).toEqual({ password: 'hunter2' });
    expect(await bind(vm.vmId, { kind: 'renewed' }, ctx)).toBeDefined();
    expect(await secretOf(vm.vmId)).toMatchObject({ sealed: null, cms: null, thumbprint: null });
  });

  test('a secret that is moved to another row or VM cannot be decrypted', async () => {
    const [vm, other] = [await givenVm(admin), await givenVm(admin)];
    await declare(vm, 'hunter2');
    await declare(other, 'theirs');
    const { sealed } = await secretOf(vm.vmId);
    await db.update(secrets).set({ sealed }).where(eq(secrets.vmId, other.vmId));
    await expect(bind(other.vmId, anAdmin)).rejects.toThrow();
    expect(boundTo('vm', 'one')).not.toBe(boundTo('vm', 'two'));
  });

  test('are found only by VM and id', async () => {
    const [vm, other] = [await givenVm(admin), await givenVm(admin)];
    await declare(vm, 'hunter2');
    const { id } = await secretOf(vm.vmId);
    await db.transaction(async (tx) => {
      expect(await findSecret(tx, vm.vmId, id)).toMatchObject({ id });
      expect(await findSecret(tx, other.vmId, id)).toBeNull();
      expect(await findSecret(tx, vm.vmId, randomUUID())).toBeNull();
      expect(await findSecret(tx, vm.vmId, null)).toBeNull();
    });
  });

  test('of an agent or the portal itself are stored too', async () => {
    const { vmId } = await givenVm(admin);
    const ctx = await testContext({ services: admin, role: 'operator' });
    const id = await db.transaction(async (tx) => storeSecret(tx, ctx, await lockHead(tx, vmId), 'x', false, 'digest'));
    expect(await secretOf(vmId)).toMatchObject({
      id,
      schemaDigest: 'digest',
      changedBy: 'Test operator',
      changedAt: ctx.now,
    });
  });
});

test('the sealed form is deleted once settings are encrypted for their VM', async () => {
  const [bound, unbound] = [await givenVm(admin), await givenVm(admin)];
  await bind(bound.vmId, anAdmin);
  for (const vm of [bound, unbound]) await declare(vm, 'hunter2');
  const dropped = await db.transaction((tx) => dropSealedCopies(tx));
  expect(dropped).toBeGreaterThanOrEqual(1);
  expect(await secretOf(bound.vmId)).toMatchObject({ sealed: null, cms: expect.any(Buffer) });
  expect(await secretOf(unbound.vmId)).toMatchObject({ sealed: expect.any(Buffer), cms: null });
  expect(await db.transaction((tx) => dropSealedCopies(tx))).toBe(0);
});

describe('withheld secrets', () => {
  /** Creates a VM with two extensions whose secrets are withheld, because another person enrolled the machine. */
  async function givenWithheld(): Promise<GivenVm & { pair: KeyPair & { thumbprint: string } }> {
    const vm = await givenVm(admin);
    await bind(vm.vmId, anAdmin);
    await declare(vm, 'one');
    await declare(vm, 'two', 'disk', 'Acme.Lab.Disk');
    return { ...vm, pair: await bind(vm.vmId, stranger) };
  }

  test('are not in the goal state, the activity log names them, and the plan warns', async () => {
    const mark = await markOf(db);
    const { vmId, pair } = await givenWithheld();
    expect((await getGoalState(admin, { vmId })).extensions).toEqual([]);
    const acts = (await actsSince(db, mark, vmId)).filter(({ action }) => action === 'secrets.withhold');
    expect(acts).toMatchObject([
      {
        targetKind: 'vm',
        targetId: vmId,
        details: { thumbprint: pair.thumbprint, extensions: ['disk', 'probe'], secrets: 2, issuer: 'Eve' },
      },
    ]);
    const goal = { handler: 'Acme.Lab.Probe', version: '1.0', state: 'disabled' as const };
    const plan = await planExtension(admin, { vmId, name: 'probe', goal });
    expect(plan.extensions).toMatchObject([{ needsRelease: true, protectedSettings: 'kept' }]);
    expect(plan.warnings).toContainEqual({
      path: '/settings/protectedSettings',
      code: 'plan_needs_release',
      params: { name: 'probe' },
    });
    expect(await db.transaction(async (tx) => (await withheldSecrets(tx, await lockHead(tx, vmId))).size)).toBe(2);
  });

  test('are released by an admin, in one goal state and one log entry, without running a handler', async () => {
    const { vmId, pair } = await givenWithheld();
    const mark = await markOf(db);
    const { incarnation } = await getGoalState(admin, { vmId });
    const released = await releaseSecrets(admin, { vmId, thumbprint: pair.thumbprint.toLowerCase() });
    expect(released).toEqual({
      vmId,
      thumbprint: pair.thumbprint,
      extensions: ['disk', 'probe'],
      incarnation: incarnation + 1,
    });
    const sent = await getGoalState(admin, { vmId });
    expect(sent.extensions.map(({ name, sequenceNumber }) => [name, sequenceNumber])).toEqual([
      ['disk', 1],
      ['probe', 1],
    ]);
    const passwords = sent.extensions.map(({ settings }) =>
      opened(Buffer.from(settings.protectedSettings ?? '', 'base64'), pair),
    );
    expect(passwords).toEqual([{ password: 'two' }, { password: 'one' }]);
    const acts = await actsSince(db, mark, vmId);
    expect(acts).toMatchObject([
      {
        action: 'secrets.release',
        targetKind: 'vm',
        details: { thumbprint: pair.thumbprint, extensions: ['disk', 'probe'], secrets: 2 },
      },
    ]);
    expect(JSON.stringify(acts)).not.toContain('password');
  });

  test('are released only to the reviewed key', async () => {
    const { vmId } = await givenWithheld();
    const release = releaseSecrets(admin, { vmId, thumbprint: newThumbprint() });
    expect(await outcomeOf(release)).toBe('precondition_failed key_changed');
    expect((await getGoalState(admin, { vmId })).extensions).toEqual([]);
  });

  test('of two admins who release at the same time, the second changes nothing', async () => {
    const { vmId } = await givenWithheld();
    const found = await Promise.all([releaseSecrets(admin, { vmId }), releaseSecrets(admin, { vmId })]);
    expect(found.map(({ extensions: names }) => names.length).sort()).toEqual([0, 2]);
    expect(new Set(found.map(({ incarnation }) => incarnation)).size).toBe(1);
  });

  test('do not exist for a VM without a machine', async () => {
    const vm = await givenVm(admin);
    await declare(vm, 'one');
    expect(await releaseSecrets(admin, { vmId: vm.vmId })).toMatchObject({ thumbprint: null, extensions: [] });
    expect(await outcomeOf(releaseSecrets(admin, { vmId: vm.vmId, thumbprint: newThumbprint() }))).toBe(
      'precondition_failed key_changed',
    );
    expect(await db.transaction(async (tx) => (await withheldSecrets(tx, await lockHead(tx, vm.vmId))).size)).toBe(0);
  });

  test('a renewed key decrypts exactly what the previous key could decrypt', async () => {
    const vm = await givenWithheld();
    await declare(vm, 'three');
    const renewed = await bind(vm.vmId, { kind: 'renewed' });
    const sent = (await getGoalState(admin, { vmId: vm.vmId })).extensions;
    expect(sent.map(({ name }) => name)).toEqual(['probe']);
    expect(opened(Buffer.from(sent[0]?.settings.protectedSettings ?? '', 'base64'), renewed)).toEqual({
      password: 'three',
    });
  });
});

test('resealing changes every sealed secret, in several batches, so the old keys no longer open any secret', async () => {
  const ctx = await testContext({ role: 'operator', services: await testServices() });
  await givenVersion(ctx.db);
  const vms = [await givenVm(ctx), await givenVm(ctx)];
  const values = vms.flatMap(({ vmId }) =>
    Array.from({ length: 251 }, (_, n) => {
      const [id, value] = [randomUUID(), { password: `${n}` }];
      const sealed = seal(ctx.keys.sealing, Buffer.from(JSON.stringify(value)), boundTo(vmId, id));
      const fingerprint = fingerprintOf(ctx, vmId, 'probe', value);
      const entries = { [entryKey(ctx, vmId, 'probe', 'password')]: { at: 'then', by: 'Ada', setBy: 'user:ada' } };
      const facts = { changedAt: ctx.now, changedBy: 'Ada', thumbprint: `${n}`, entries: n === 0 ? null : entries };
      return { vmId, id, name: 'probe', sealed, fingerprint, ...facts };
    }),
  );
  await ctx.db.insert(secrets).values(values);
  // The next secret has no sealed form, so it is not counted.
  await ctx.db.insert(secrets).values(values.slice(0, 1).map((row) => ({ ...row, id: randomUUID(), sealed: null })));
  const keys = deriveKeys(randomBytes(32));
  expect(await ctx.db.transaction((tx) => resealSecrets(tx, ctx.keys, keys))).toBe(502);
  const rows = await ctx.db.select().from(secrets).where(isNotNull(secrets.sealed));
  for (const { vmId, id, sealed, fingerprint, thumbprint, entries } of rows) {
    const bytes = sealed ?? Buffer.alloc(0);
    const value = { password: thumbprint };
    expect(JSON.parse(unseal(keys.sealing, bytes, boundTo(vmId, id)).toString())).toEqual(value);
    expect(fingerprint).toBe(fingerprintOf({ keys }, vmId, 'probe', value));
    const key = entryKey({ keys }, vmId, 'probe', 'password');
    expect(entries).toEqual(thumbprint === '0' ? null : { [key]: { at: 'then', by: 'Ada', setBy: 'user:ada' } });
    expect(() => unseal(ctx.keys.sealing, bytes, boundTo(vmId, id))).toThrow();
  }
  // Resealing again with the old keys fails.
  await expect(ctx.db.transaction((tx) => resealSecrets(tx, ctx.keys, keys))).rejects.toThrow();
});
