import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { bindCertificate } from './begin.ts';
import { completeRemoval } from './complete-removal.ts';
import { fetchGoalState } from './fetch-goal-state.ts';
import { getExtension } from './get-extension.ts';
import { getGoalState } from './get-goal-state.ts';
import { listGoalStates } from './list-goal-states.ts';
import { planExtension } from './plan-extension.ts';
import { removeExtension } from './remove-extension.ts';
import { revertGoalState } from './revert-goal-state.ts';
import { setExtension } from './set-extension.ts';

const probe = 'Acme.Lab.Probe';
let ctx: Context;
let certificate: { pem: string; thumbprint: string };
let count = 0;

beforeAll(async () => {
  ctx = await testContext({ role: 'operator', services: await testServices() });
  await givenVersion(ctx.db, { handler: probe, version: '1.0.0.0' });
  await givenVersion(ctx.db, { handler: probe, version: '1.1.0.0' });
  await givenVersion(ctx.db, { handler: probe, version: '2.0', state: 'draft' });
  await givenVersion(ctx.db, { handler: probe, version: '0.9', state: 'withdrawn' });
  await givenVersion(ctx.db, { handler: 'Acme.Lab.Many', version: '1.0', supportsMultipleExtensions: true });
  await givenVersion(ctx.db, { handler: 'Acme.Lab.Many', version: '1.1', supportsMultipleExtensions: true });
  await givenVersion(ctx.db, {
    handler: 'Acme.Lab.Strict',
    settingsSchema: {
      publicSettings: { type: 'object', properties: { port: { type: 'integer', minimum: 5 } }, required: ['port'] },
      protectedSettings: { type: 'object', properties: { password: { type: 'string', minLength: 8 } } },
    },
  });
  await givenVersion(ctx.db, {
    handler: 'Acme.Lab.Strict',
    version: '1.1.0.0',
    settingsSchema: { publicSettings: {}, protectedSettings: { type: 'object', required: ['token'] } },
  });
  const pem = execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', '/dev/null', '-days', '2', '-subj', '/CN=vm'],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  ).toString();
  certificate = { pem, thumbprint: 'AB' };
});

async function newVm(): Promise<string> {
  count += 1;
  return (await registerVm(ctx, { name: `vm-${count}` })).id;
}

const goal = (change: Record<string, unknown> = {}) => ({
  handler: probe,
  version: '1.0.0.0',
  state: 'enabled' as const,
  ...change,
});
const settings = (publicSettings: Record<string, unknown>, protectedSettings?: unknown) => ({
  settings: { publicSettings, ...(protectedSettings !== undefined && { protectedSettings }) },
});
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'accepted',
    (error: { kind: string; code: string; faults: { path: string; code: string }[] }) => ({
      kind: error.kind,
      code: error.code,
      faults: error.faults.map((fault) => `${fault.path} ${fault.code}`),
    }),
  );

test.each([
  ['a number beyond ±2^53', { n: [1e300] }, '/settings/publicSettings/n/0', 'json_number'],
  ['a NUL', { a: 'x\u0000' }, '/settings/publicSettings/a', 'json_character'],
  ['65 levels', JSON.parse(`{"a":${'['.repeat(64)}${']'.repeat(64)}}`), '/settings/publicSettings', 'json_too_deep'],
])('settings with %s are rejected at every entry point', async (_, publicSettings, path, code) => {
  const refused = setExtension(ctx, { vmId: await newVm(), name: 'odd', goal: goal({ settings: { publicSettings } }) });
  await expect(refused).rejects.toMatchObject({ kind: 'unprocessable', faults: [{ path, code }] });
});

describe('AZ-C4 sequence numbers and incarnations', () => {
  test('a change raises both, a repeated request neither, a timeout only the incarnation', async () => {
    const vmId = await newVm();
    const set = (change?: Record<string, unknown>) => setExtension(ctx, { vmId, name: 'probe', goal: goal(change) });
    expect(await set()).toMatchObject({ sequenceNumber: 1, incarnation: 2, version: '1.0.0.0', state: 'enabled' });
    expect(await set()).toMatchObject({ sequenceNumber: 1, incarnation: 2 });
    expect(await set(settings({ a: 1 }))).toMatchObject({ sequenceNumber: 2, incarnation: 3 });
    expect(await set({ ...settings({ a: 1 }), timeouts: { enable: 9 } })).toMatchObject({
      sequenceNumber: 2,
      incarnation: 4,
    });
    expect(await set({ ...settings({ a: 1 }), state: 'disabled' })).toMatchObject({ sequenceNumber: 3 });
    expect(await set({ ...settings({ a: 1 }), version: '1.1' })).toMatchObject({
      sequenceNumber: 4,
      version: '1.1.0.0',
    });
  });

  test('numbers continue after an uninstall', async () => {
    const vmId = await newVm();
    await setExtension(ctx, { vmId, name: 'probe', goal: goal() });
    await fetchGoalState(ctx.db, vmId, ctx.now);
    const removal = await removeExtension(ctx, { vmId, name: 'probe' });
    expect(removal).toMatchObject({ state: 'uninstall', sequenceNumber: 2 });
    expect(await refusal(setExtension(ctx, { vmId, name: 'probe', goal: goal() }))).toMatchObject({
      kind: 'conflict',
      code: 'uninstalling',
    });
    await ctx.db.transaction(async (tx) => {
      expect(await completeRemoval(tx, ctx, vmId, 'probe', 1)).toMatchObject({ removed: false });
      expect(await completeRemoval(tx, ctx, vmId, 'probe', 2)).toMatchObject({ removed: true });
    });
    expect(await setExtension(ctx, { vmId, name: 'probe', goal: goal() })).toMatchObject({ sequenceNumber: 3 });
  });

  test('undelivered extensions are dropped immediately, delivered extensions only with force', async () => {
    const vmId = await newVm();
    await setExtension(ctx, { vmId, name: 'probe', goal: goal() });
    expect(await removeExtension(ctx, { vmId, name: 'probe' })).toMatchObject({ state: 'removed' });
    await setExtension(ctx, { vmId, name: 'probe', goal: goal() });
    await fetchGoalState(ctx.db, vmId, ctx.now);
    expect(await removeExtension(ctx, { vmId, name: 'probe', force: true })).toMatchObject({ state: 'removed' });
    expect((await getGoalState(ctx, { vmId })).extensions).toEqual([]);
  });
});

describe('rejected declarations', () => {
  test('invalid versions, by path', async () => {
    const vmId = await newVm();
    const set = (version: string) => refusal(setExtension(ctx, { vmId, name: 'probe', goal: goal({ version }) }));
    expect(await set('9')).toMatchObject({ kind: 'unprocessable', faults: ['/version version_unknown'] });
    expect(await set('2.0')).toMatchObject({ kind: 'unprocessable', faults: ['/version version_draft'] });
    expect(await set('0.9')).toMatchObject({ kind: 'unprocessable', faults: ['/version version_withdrawn'] });
  });

  test('another handler under the same name, or a second extension of a single-extension handler', async () => {
    const vmId = await newVm();
    await setExtension(ctx, { vmId, name: 'probe', goal: goal() });
    expect(
      await refusal(
        setExtension(ctx, { vmId, name: 'probe', goal: goal({ handler: 'Acme.Lab.Many', version: '1.0' }) }),
      ),
    ).toMatchObject({ kind: 'conflict', code: 'handler_fixed' });
    expect(await refusal(setExtension(ctx, { vmId, name: 'second', goal: goal() }))).toMatchObject({
      faults: ['/handler single_extension'],
    });
    const many = { handler: 'Acme.Lab.Many', version: '1.0' };
    await setExtension(ctx, { vmId, name: 'm1', goal: goal(many) });
    await setExtension(ctx, { vmId, name: 'm2', goal: goal(many) });
    expect(
      await refusal(setExtension(ctx, { vmId, name: 'm3', goal: goal({ ...many, version: '1.1' }) })),
    ).toMatchObject({ faults: ['/version version_shared'] });
  });

  test('missing and circular dependencies, and removing a dependency', async () => {
    const vmId = await newVm();
    const many = { handler: 'Acme.Lab.Many', version: '1.0' };
    expect(
      await refusal(setExtension(ctx, { vmId, name: 'a', goal: goal({ ...many, dependsOn: ['ghost'] }) })),
    ).toMatchObject({ faults: ['/dependsOn/0 dependency_unknown'] });
    await setExtension(ctx, { vmId, name: 'a', goal: goal(many) });
    await setExtension(ctx, { vmId, name: 'b', goal: goal({ ...many, dependsOn: ['a'] }) });
    expect(
      await refusal(setExtension(ctx, { vmId, name: 'a', goal: goal({ ...many, dependsOn: ['b'] }) })),
    ).toMatchObject({ faults: ['/dependsOn dependency_circle'] });
    expect(await refusal(removeExtension(ctx, { vmId, name: 'a' }))).toMatchObject({ code: 'extension_needed' });
  });

  test('AZ-C1 settings that violate the schema, by path; protected settings without their values', async () => {
    const vmId = await newVm();
    const strict = { handler: 'Acme.Lab.Strict', ...settings({ port: 2 }, { password: 'hunter2' }) };
    const refused = await setExtension(ctx, { vmId, name: 's', goal: goal(strict) }).catch((error) => error);
    expect(refused.faults.map((fault: { path: string }) => fault.path)).toEqual([
      '/settings/publicSettings/port',
      '/settings/protectedSettings/password',
    ]);
    expect(JSON.stringify(refused)).not.toContain('hunter2');
    expect((await getGoalState(ctx, { vmId })).extensions).toEqual([]);
  });

  test('AZ-C1 required protected settings that are neither given nor kept', async () => {
    const vmId = await newVm();
    const token = { handler: 'Acme.Lab.Strict', version: '1.1.0.0' };
    const set = (change = {}) => refusal(setExtension(ctx, { vmId, name: 's', goal: goal({ ...token, ...change }) }));
    expect(await set()).toMatchObject({ faults: ['/settings/protectedSettings/token protected_setting'] });
    expect(await set(settings({}, { token: 'given' }))).toBe('accepted');
    expect(await set({ state: 'disabled' })).toBe('accepted');
  });

  test('a stale If-Match, and a caller without the role', async () => {
    const vmId = await newVm();
    await setExtension(ctx, { vmId, name: 'probe', goal: goal() });
    expect(
      await refusal(setExtension(ctx, { vmId, name: 'probe', goal: goal({ state: 'disabled' }), ifMatch: 1 })),
    ).toMatchObject({ kind: 'precondition_failed', code: 'goal_state_moved_on' });
    const viewer = await testContext({ role: 'viewer', services: ctx });
    expect(await refusal(setExtension(viewer, { vmId, name: 'probe', goal: goal() }))).toMatchObject({
      kind: 'forbidden',
    });
  });

  test('of two changes to the same goal state, one succeeds and the other gets 412', async () => {
    const vmId = await newVm();
    await setExtension(ctx, { vmId, name: 'probe', goal: goal() });
    const apply = (n: number) =>
      refusal(setExtension(ctx, { vmId, name: 'probe', goal: goal(settings({ n })), ifMatch: 2 }));
    const results = await Promise.all([apply(1), apply(2)]);
    expect(results.filter((result) => result === 'accepted')).toHaveLength(1);
    expect(results.filter((result) => result !== 'accepted')).toMatchObject([{ code: 'goal_state_moved_on' }]);
  });
});

describe('AZ-C2 custody of protected settings', () => {
  const own = { kind: 'issued' as const, issuer: { key: 'user:test-operator', isAdmin: false }, sameKey: false };
  const secret = { password: 'correct horse battery' };

  test('the database never stores them in plain text, and equal settings change nothing', async () => {
    const vmId = await newVm();
    const set = (value?: Record<string, unknown> | null) =>
      setExtension(ctx, { vmId, name: 'probe', goal: goal(settings({}, value)) });
    expect(await set(secret)).toMatchObject({ sequenceNumber: 1 });
    await ctx.db.transaction((tx) => bindCertificate(tx, ctx, vmId, certificate, own));
    expect(await set({ ...secret })).toMatchObject({ sequenceNumber: 1 });
    expect(await set()).toMatchObject({ sequenceNumber: 1 });
    expect(await set({ password: 'another' })).toMatchObject({ sequenceNumber: 2 });
    expect(await set(null)).toMatchObject({ sequenceNumber: 3 });
    const { rows: tables } = await ctx.db.$client.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    );
    expect(tables.length).toBeGreaterThan(10);
    for (const { name } of tables) {
      const { rows } = await ctx.db.$client.query(`select t::text as row from "${name}" t`);
      const text = JSON.stringify(rows);
      for (const form of [secret.password, Buffer.from(secret.password).toString('hex')]) {
        expect(text.includes(form), name).toBe(false);
      }
    }
  });

  test.each<[unknown, unknown]>([
    ['a connection string', 'another connection string'],
    ['', ' '],
    [[{ key: 'first' }], [{ key: 'second' }]],
    [[], {}],
    [false, true],
    [0, 1],
  ])('they can be any JSON value: %j, then %j', async (first, second) => {
    const vmId = await newVm();
    const { key, certificate: pem } = newKeyPair();
    await ctx.db.transaction((tx) => bindCertificate(tx, ctx, vmId, { pem, thumbprint: 'EF' }, own));
    const set = (value: unknown) => setExtension(ctx, { vmId, name: 'probe', goal: goal(settings({}, value)) });
    const plan = async (value: unknown) => {
      const { extensions } = await planExtension(ctx, { vmId, name: 'probe', goal: goal(settings({}, value)) });
      return extensions[0]?.protectedSettings;
    };
    expect(await plan(first)).toBe('added');
    expect(await set(first)).toMatchObject({ sequenceNumber: 1 });
    expect(await set(first)).toMatchObject({ sequenceNumber: 1 });
    expect(await plan(second)).toBe('replaced');
    expect(await set(second)).toMatchObject({ sequenceNumber: 2 });
    const [sent] = (await getGoalState(ctx, { vmId })).extensions;
    const sealed = Buffer.from(sent?.settings.protectedSettings ?? '', 'base64');
    const opened = execFileSync('openssl', ['cms', '-decrypt', '-inform', 'DER', '-inkey', key], { input: sealed });
    expect(JSON.parse(opened.toString())).toEqual(second);
    expect(await set(null)).toMatchObject({ sequenceNumber: 3 });
  });

  test('a value that is not an object is rejected if the schema requires one', async () => {
    const vmId = await newVm();
    const strict = { handler: 'Acme.Lab.Strict', ...settings({ port: 7 }, 'long enough') };
    expect(await refusal(setExtension(ctx, { vmId, name: 's', goal: goal(strict) }))).toMatchObject({
      faults: ['/settings/protectedSettings protected_setting'],
    });
  });

  test('a new certificate raises the incarnation but no sequence number', async () => {
    const vmId = await newVm();
    await setExtension(ctx, { vmId, name: 'probe', goal: goal(settings({}, secret)) });
    expect((await getGoalState(ctx, { vmId })).extensions).toEqual([]);
    await ctx.db.transaction((tx) => bindCertificate(tx, ctx, vmId, certificate, own));
    const { incarnation, extensions } = await getGoalState(ctx, { vmId });
    expect(incarnation).toBe(3);
    expect(extensions).toMatchObject([
      { sequenceNumber: 1, settings: { protectedSettingsCertThumbprint: certificate.thumbprint } },
    ]);
  });

  test('kept secrets need the same protected schema in the new version', async () => {
    const vmId = await newVm();
    const strict = { handler: 'Acme.Lab.Strict', ...settings({ port: 7 }, { password: 'long enough' }) };
    await setExtension(ctx, { vmId, name: 's', goal: goal(strict) });
    expect(
      await refusal(
        setExtension(ctx, {
          vmId,
          name: 's',
          goal: goal({ handler: 'Acme.Lab.Strict', version: '1.1.0.0', ...settings({ port: 7 }) }),
        }),
      ),
    ).toMatchObject({ faults: ['/settings/protectedSettings secrets_required'] });
  });

  test('with ANNEX_CUSTODY=vm, a new machine gets no protected settings, and the editor shows this', async () => {
    const custody = await testContext({
      role: 'operator',
      services: { ...ctx, config: { ...ctx.config, custody: 'vm' } },
    });
    const vmId = await newVm();
    await custody.db.transaction((tx) => bindCertificate(tx, custody, vmId, certificate, own));
    await setExtension(custody, { vmId, name: 'probe', goal: goal(settings({}, secret)) });
    expect((await getGoalState(custody, { vmId })).extensions).toHaveLength(1);
    await custody.db.transaction((tx) => bindCertificate(tx, custody, vmId, { ...certificate, thumbprint: 'CD' }, own));
    expect((await getGoalState(custody, { vmId })).extensions).toHaveLength(0);
    expect((await getExtension(custody, { vmId, name: 'probe' })).protectedSettings?.needsSecrets).toBe(true);
    await setExtension(custody, { vmId, name: 'probe', goal: goal(settings({}, secret)) });
    expect((await getGoalState(custody, { vmId })).extensions).toHaveLength(1);
  });
});

test('a revert declares the old contents with new numbers, and the history keeps everything', async () => {
  const vmId = await newVm();
  await setExtension(ctx, { vmId, name: 'probe', goal: goal(settings({ n: 1 }, { key: 'secret one' })) });
  await setExtension(ctx, { vmId, name: 'probe', goal: goal(settings({ n: 2 }, { key: 'secret two' })) });
  await setExtension(ctx, { vmId, name: 'm', goal: goal({ handler: 'Acme.Lab.Many', version: '1.0' }) });
  expect(await revertGoalState(ctx, { vmId, incarnation: 2 })).toEqual({ vmId, incarnation: 5, revertedTo: 2 });
  const view = await getExtension(ctx, { vmId, name: 'probe' });
  expect(view).toMatchObject({ publicSettings: { n: 1 }, sequenceNumber: 3, incarnation: 5 });
  const { items } = await listGoalStates(ctx, { vmId });
  expect(items.map((item) => item.incarnation)).toEqual([5, 4, 3, 2, 1]);
  expect(items[0]?.extensions.map((extension) => extension.name)).toEqual(['probe']);
  expect(JSON.stringify(items)).not.toContain('secret');
  expect(await refusal(revertGoalState(ctx, { vmId, incarnation: 99 }))).toMatchObject({
    code: 'goal_state_unknown',
  });
});
