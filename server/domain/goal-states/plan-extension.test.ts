import { and, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { agents, handlerVersions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { bindCertificate } from './begin.ts';
import { fetchGoalState } from './fetch-goal-state.ts';
import { getExtension } from './get-extension.ts';
import { listGoalStates } from './list-goal-states.ts';
import { planExtension } from './plan-extension.ts';
import { planRemoval, removeExtension } from './remove-extension.ts';
import { planRevert, revertGoalState } from './revert-goal-state.ts';
import { setExtension } from './set-extension.ts';

const probe = 'Acme.Lab.Probe';
const many = 'Acme.Lab.Many';
const strict = 'Acme.Lab.Strict';
let ctx: Context;
let count = 0;

beforeAll(async () => {
  ctx = await testContext({ role: 'operator', services: await testServices() });
  for (const version of ['1.0.0.0', '1.1.0.0']) {
    await givenVersion(ctx.db, { handler: probe, version });
    await givenVersion(ctx.db, { handler: many, version, supportsMultipleExtensions: true });
  }
  await givenVersion(ctx.db, {
    handler: strict,
    settingsSchema: {
      publicSettings: { type: 'object', properties: { port: { type: 'integer', minimum: 5 } }, required: ['port'] },
      protectedSettings: { type: 'object', properties: { password: { type: 'string', minLength: 8 } } },
    },
  });
});

async function newVm(): Promise<string> {
  count += 1;
  return (await registerVm(ctx, { name: `plan-${count}` })).id;
}

const goal = (change: Record<string, unknown> = {}) => ({
  handler: probe,
  version: '1.0.0.0',
  state: 'enabled' as const,
  ...change,
});
const withSettings = (publicSettings: Record<string, unknown>, protectedSettings?: Record<string, unknown> | null) => ({
  settings: { publicSettings, ...(protectedSettings !== undefined && { protectedSettings }) },
});
const deliver = (vmId: string) => fetchGoalState(ctx.db, vmId, ctx.now);
const withdraw = (version: string) =>
  ctx.db
    .update(handlerVersions)
    .set({ state: 'withdrawn' })
    .where(and(eq(handlerVersions.handler, probe), eq(handlerVersions.version, version)));

describe('what a plan shows', () => {
  test('a new extension: numbers, commands with their timeouts, nothing written', async () => {
    const vmId = await newVm();
    const plan = await planExtension(ctx, { vmId, name: 'probe', goal: goal({ timeouts: { install: 60 } }) });
    expect(plan).toMatchObject({
      incarnation: { before: 1, after: 2 },
      extensions: [
        { name: 'probe', effect: 'sequence', version: '1.0.0.0', sequenceNumber: { before: null, after: 1 } },
      ],
      steps: [
        { extension: 'probe', command: 'install', version: '1.0.0.0', seconds: 60 },
        { extension: 'probe', command: 'enable', version: '1.0.0.0', seconds: 300 },
      ],
      others: [],
      faults: [],
    });
    expect(plan.warnings.map(({ code }) => code)).toEqual(['plan_machine_absent', 'plan_settings_unchecked']);
    await expect(getExtension(ctx, { vmId, name: 'probe' })).rejects.toMatchObject({ code: 'extension_absent' });
    expect((await listGoalStates(ctx, { vmId })).items).toHaveLength(1);
  });

  test('a change: each field before and after, which other extensions run again, and which of these wait', async () => {
    const vmId = await newVm();
    await setExtension(ctx, { vmId, name: 'probe', goal: goal(withSettings({ a: 1, gone: true, deep: { x: 'y' } })) });
    await setExtension(ctx, { vmId, name: 'alone', goal: goal({ handler: many }) });
    await setExtension(ctx, { vmId, name: 'behind', goal: goal({ handler: many, dependsOn: ['probe'] }) });
    await setExtension(ctx, { vmId, name: 'last', goal: goal({ handler: many, dependsOn: ['behind'] }) });
    await deliver(vmId);
    const plan = await planExtension(ctx, {
      vmId,
      name: 'probe',
      goal: goal({ version: '1.1', ...withSettings({ a: 2, deep: { x: 'z' }, new: [1] }), timeouts: { enable: 9 } }),
    });
    expect(plan.extensions[0]?.changes).toEqual([
      { path: '/version', before: '1.0.0.0', after: '1.1.0.0' },
      { path: '/requestedVersion', before: '1.0.0.0', after: '1.1.0.0' },
      { path: '/timeouts/enable', before: 300, after: 9 },
      { path: '/settings/publicSettings/a', before: 1, after: 2 },
      { path: '/settings/publicSettings/gone', before: true },
      { path: '/settings/publicSettings/deep/x', before: 'y', after: 'z' },
      { path: '/settings/publicSettings/new', after: [1] },
    ]);
    expect(plan.steps.map(({ command, version }) => `${command} ${version}`)).toEqual([
      'disable 1.0.0.0',
      'update 1.1.0.0',
      'uninstall 1.0.0.0',
      'enable 1.1.0.0',
    ]);
    expect(plan.others).toEqual([
      { name: 'alone', command: 'enable', waits: false },
      { name: 'behind', command: 'enable', waits: true },
      { name: 'last', command: 'enable', waits: true },
    ]);
  });

  test.each([
    ['UpdateWithInstall', 'reference', true],
    ['UpdateWithoutInstall', 'reference', false],
    [undefined, 'reference', false],
    [undefined, 'stock', true],
    ['UpdateWithoutInstall', 'stock', false],
  ] as const)(
    'of an update with updateMode %s on the %s agent: install runs again: %s',
    async (updateMode, kind, runs) => {
      const handler = `Acme.Lab.Update${count}`;
      for (const version of ['1.0', '1.1']) await givenVersion(ctx.db, { handler, version, updateMode });
      const vmId = await newVm();
      if (kind === 'stock') {
        const agent = { name: 'WALinuxAgent', version: '2.15', os: {}, certificate: '', thumbprint: '', keyHash: vmId };
        await ctx.db.insert(agents).values({ ...agent, vmId, kind, credentialHash: vmId, enrolledAt: ctx.now });
      }
      await setExtension(ctx, { vmId, name: 'probe', goal: goal({ handler, version: '1.0' }) });
      await deliver(vmId);
      const plan = await planExtension(ctx, { vmId, name: 'probe', goal: goal({ handler, version: '1.1' }) });
      const install = runs ? ['install 1.1'] : [];
      const planned = ['disable 1.0', 'update 1.1', 'uninstall 1.0', ...install, 'enable 1.1'];
      expect(plan.steps.map(({ command, version }) => `${command} ${version}`)).toEqual(planned);
    },
  );

  test('the same declaration again: no change, and nothing to apply', async () => {
    const vmId = await newVm();
    await setExtension(ctx, { vmId, name: 'probe', goal: goal() });
    const plan = await planExtension(ctx, { vmId, name: 'probe', goal: goal() });
    expect(plan).toMatchObject({ incarnation: { before: 2, after: 2 }, steps: [], others: [], planHash: null });
    expect(plan.extensions).toMatchObject([{ effect: 'none', changes: [], protectedSettings: 'none' }]);
  });

  test('every fault by path, and no hash', async () => {
    const vmId = await newVm();
    await setExtension(ctx, { vmId, name: 'probe', goal: goal({ dependsOn: [] }) });
    await setExtension(ctx, { vmId, name: 'behind', goal: goal({ handler: many, dependsOn: ['probe'] }) });
    const faultsOf = async (change: Record<string, unknown>, name = 'probe') => {
      const plan = await planExtension(ctx, { vmId, name, goal: goal(change) });
      expect(plan.planHash).toBeNull();
      return plan.faults.map(({ path, code }) => `${path} ${code}`);
    };
    expect(await faultsOf({ version: '9', dependsOn: ['behind'] })).toEqual(['/version version_unknown']);
    expect(await faultsOf({ dependsOn: ['behind', 'nobody'] })).toEqual([
      '/dependsOn/1 dependency_unknown',
      '/dependsOn dependency_circle',
    ]);
    expect(await faultsOf({ handler: strict, ...withSettings({ port: 1 }, { password: 'x' }) }, 'strict')).toEqual([
      '/settings/publicSettings/port setting_minimum',
      '/settings/protectedSettings/password protected_setting',
    ]);
  });

  test('settings that are nested too deeply are a fault, not an internal error', async () => {
    const vmId = await newVm();
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`) as Record<string, unknown>;
    const asked = { vmId, name: 'probe', goal: goal(withSettings(deep)) };
    const fault = { path: '/goal/settings/publicSettings', code: 'json_too_deep', params: { limit: 1_000 } };
    for (const act of [planExtension, setExtension]) {
      await expect(act(ctx, asked)).rejects.toMatchObject({ kind: 'unprocessable', faults: [fault] });
    }
  });

  test('only operators can plan', async () => {
    const viewer = await testContext({ role: 'viewer', services: ctx });
    await expect(planExtension(viewer, { vmId: await newVm(), name: 'a', goal: goal() })).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });
});

describe('AZ-C2 protected settings in a plan', () => {
  const secret = 'sesame-8f2c41d0c5';

  test('are added, replaced, kept or removed, and never shown', async () => {
    const vmId = await newVm();
    const plan = async (protectedSettings?: Record<string, unknown> | null) => {
      const found = await planExtension(ctx, { vmId, name: 'probe', goal: goal(withSettings({}, protectedSettings)) });
      expect(JSON.stringify(found)).not.toContain(secret);
      return found.extensions[0]?.protectedSettings;
    };
    expect(await plan()).toBe('none');
    expect(await plan({ secret })).toBe('added');
    await setExtension(ctx, { vmId, name: 'probe', goal: goal(withSettings({}, { secret })) });
    expect(await plan()).toBe('kept');
    expect(await plan(null)).toBe('removed');
    expect(await plan({ secret: `${secret}2` })).toBe('replaced');
  });

  test('a plan does not reveal whether guessed values equal the stored values', async () => {
    const vmId = await newVm();
    await setExtension(ctx, { vmId, name: 'probe', goal: goal(withSettings({}, { secret })) });
    const planOf = async (value: string) => {
      const plan = await planExtension(ctx, {
        vmId,
        name: 'probe',
        goal: goal(withSettings({}, { secret: value })),
      });
      return { ...plan, planHash: plan.planHash?.length };
    };
    expect(await planOf(secret)).toEqual(await planOf('wrong'));
  });

  test('two plans of the same change have different hashes, and both are valid', async () => {
    const vmId = await newVm();
    const input = { vmId, name: 'probe', goal: goal(withSettings({}, { secret })) };
    const [one, other] = [await planExtension(ctx, input), await planExtension(ctx, input)];
    expect(one.planHash).not.toBe(other.planHash);
    await setExtension(ctx, { ...input, plan: other.planHash ?? '' });
    await expect(setExtension(ctx, { ...input, plan: one.planHash ?? '' })).rejects.toMatchObject(movedOn);
  });

  test('the hash is bound to the given values', async () => {
    const vmId = await newVm();
    const input = (value: string) => ({ vmId, name: 'probe', goal: goal(withSettings({}, { secret: value })) });
    const { planHash } = await planExtension(ctx, input(secret));
    await expect(setExtension(ctx, { ...input('other'), plan: planHash ?? '' })).rejects.toMatchObject(movedOn);
  });
});

const movedOn = { kind: 'precondition_failed', code: 'plan_moved_on' };

describe('applying a plan', () => {
  test('the applied change has the planned numbers', async () => {
    const vmId = await newVm();
    const input = { vmId, name: 'probe', goal: goal(withSettings({ a: 1 }, { b: 2 })) };
    const plan = await planExtension(ctx, input);
    const done = await setExtension(ctx, { ...input, plan: plan.planHash ?? '' });
    expect(done).toMatchObject({
      incarnation: plan.incarnation.after,
      sequenceNumber: plan.extensions[0]?.sequenceNumber.after,
      version: plan.extensions[0]?.version,
    });
  });

  test.each<[string, (vmId: string) => Promise<unknown>, Record<string, unknown>]>([
    ['the goal state moved on', (vmId) => setExtension(ctx, { vmId, name: 'x', goal: goal({ handler: many }) }), {}],
    ['another goal is sent', async () => undefined, { state: 'disabled' }],
    ['other settings are sent', async () => undefined, withSettings({ a: 2 })],
    ['the version was withdrawn', () => withdraw('1.1.0.0'), {}],
  ])('rejected when %s', async (_, meanwhile, change) => {
    const vmId = await newVm();
    const sent = { version: '1.1.0.0', ...withSettings({ a: 1 }) };
    const { planHash } = await planExtension(ctx, { vmId, name: 'probe', goal: goal(sent) });
    await meanwhile(vmId);
    const applied = setExtension(ctx, {
      vmId,
      name: 'probe',
      goal: goal({ ...sent, ...change }),
      plan: planHash ?? '',
    });
    await expect(applied).rejects.toMatchObject(movedOn);
    await expect(getExtension(ctx, { vmId, name: 'probe' })).rejects.toMatchObject({ code: 'extension_absent' });
  });

  test.each(['', 'x', 'A'.repeat(59)].filter(Boolean))('an invented hash %j is rejected', async (plan) => {
    const vmId = await newVm();
    await expect(setExtension(ctx, { vmId, name: 'probe', goal: goal(), plan })).rejects.toMatchObject(movedOn);
  });

  test('a hash is valid for its VM and name only', async () => {
    const [vmId, otherVm] = [await newVm(), await newVm()];
    const plan = (await planExtension(ctx, { vmId, name: 'probe', goal: goal() })).planHash ?? '';
    for (const place of [
      { vmId: otherVm, name: 'probe' },
      { vmId, name: 'other' },
    ]) {
      await expect(setExtension(ctx, { ...place, goal: goal(), plan })).rejects.toMatchObject(movedOn);
    }
  });

  test('of two operators who apply the same plan concurrently, one succeeds', async () => {
    const vmId = await newVm();
    const input = { vmId, name: 'probe', goal: goal(withSettings({ a: 1 })) };
    const plan = (await planExtension(ctx, input)).planHash ?? '';
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => setExtension(ctx, { ...input, plan })));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(movedOn);
    }
    expect((await listGoalStates(ctx, { vmId })).items).toHaveLength(2);
  });
});

describe('extensions of one handler take a version together', () => {
  test('in one goal state, each with its own sequence number', async () => {
    const vmId = await newVm();
    for (const name of ['a', 'b', 'c']) {
      await setExtension(ctx, { vmId, name, goal: goal({ handler: many, ...withSettings({ name }) }) });
    }
    await deliver(vmId);
    const input = { vmId, name: 'b', goal: goal({ handler: many, version: '1.1', ...withSettings({ name: 'b' }) }) };
    expect((await planExtension(ctx, input)).faults.map(({ code }) => code)).toEqual(['version_shared']);
    const plan = await planExtension(ctx, { ...input, siblings: true });
    expect(plan.faults).toEqual([]);
    expect(plan.extensions.map(({ name, version }) => `${name} ${version}`)).toEqual([
      'b 1.1.0.0',
      'a 1.1.0.0',
      'c 1.1.0.0',
    ]);
    const done = await setExtension(ctx, { ...input, siblings: true, plan: plan.planHash ?? '' });
    expect(done).toMatchObject({ name: 'b', sequenceNumber: 2, incarnation: 5 });
    for (const name of ['a', 'c']) {
      expect(await getExtension(ctx, { vmId, name })).toMatchObject({
        version: '1.1.0.0',
        sequenceNumber: 2,
        publicSettings: { name },
      });
    }
  });
});

describe('removals and reverts are planned by the same rules', () => {
  async function twoStates(): Promise<string> {
    const vmId = await newVm();
    await setExtension(ctx, { vmId, name: 'probe', goal: goal(withSettings({ a: 1 }, { secret: 1 })) });
    await setExtension(ctx, { vmId, name: 'probe', goal: goal(withSettings({ a: 2 }, { secret: 2 })) });
    await setExtension(ctx, { vmId, name: 'many', goal: goal({ handler: many }) });
    const { certificate: pem } = newKeyPair();
    const own = { kind: 'issued' as const, issuer: { key: 'user:test-operator', isAdmin: false }, sameKey: false };
    await ctx.db.transaction((tx) => bindCertificate(tx, ctx, vmId, { pem, thumbprint: 'AB' }, own));
    await deliver(vmId);
    return vmId;
  }

  test('a revert applies the planned changes and removals', async () => {
    const vmId = await twoStates();
    const plan = await planRevert(ctx, { vmId, incarnation: 2 });
    expect(plan.incarnation).toEqual({ before: 5, after: 6 });
    expect(plan.extensions).toMatchObject([
      {
        name: 'probe',
        protectedSettings: 'replaced',
        sequenceNumber: { before: 2, after: 3 },
        changes: [{ path: '/settings/publicSettings/a', before: 2, after: 1 }],
      },
      { name: 'many', state: 'uninstall', sequenceNumber: { before: 1, after: 2 } },
    ]);
    expect(plan.steps.map(({ extension, command }) => `${extension} ${command}`)).toEqual([
      'many disable',
      'many uninstall',
      'probe enable',
    ]);
    const input = { vmId, incarnation: 2, plan: plan.planHash ?? '' };
    expect(await revertGoalState(ctx, input)).toMatchObject({ incarnation: 6 });
    await expect(revertGoalState(ctx, input)).rejects.toMatchObject({ code: 'uninstalling' });
  });

  test('a revert to the current contents changes nothing', async () => {
    const vmId = await twoStates();
    expect(await planRevert(ctx, { vmId, incarnation: 4 })).toMatchObject({
      incarnation: { before: 5, after: 5 },
      extensions: [],
      planHash: null,
    });
  });

  test.each([
    [false, 'uninstall', ['disable', 'uninstall']],
    [true, 'dropped', []],
  ] as const)('a removal, by force: %s', async (force, state, commands) => {
    const vmId = await twoStates();
    const plan = await planRemoval(ctx, { vmId, name: 'many', force });
    expect(plan.extensions).toMatchObject([{ name: 'many', state }]);
    expect(plan.steps.map(({ command }) => command)).toEqual(commands);
    const input = { vmId, name: 'many', force };
    // The hash of one change is invalid for another change.
    await expect(removeExtension(ctx, { ...input, force: !force, plan: plan.planHash ?? '' })).rejects.toMatchObject(
      movedOn,
    );
    await removeExtension(ctx, { ...input, plan: plan.planHash ?? '' });
  });

  test('the plan also rejects the removal of an extension that others depend on', async () => {
    const vmId = await twoStates();
    await setExtension(ctx, { vmId, name: 'behind', goal: goal({ handler: many, dependsOn: ['probe'] }) });
    await expect(planRemoval(ctx, { vmId, name: 'probe' })).rejects.toMatchObject({ code: 'extension_needed' });
  });
});

describe('warnings', () => {
  test('a lower version, a disabled dependency, and dependents of a disabled extension', async () => {
    const vmId = await newVm();
    await setExtension(ctx, { vmId, name: 'probe', goal: goal({ version: '1.0' }) });
    await setExtension(ctx, {
      vmId,
      name: 'many',
      goal: goal({ handler: many, version: '1.1', dependsOn: ['probe'] }),
    });
    await deliver(vmId);
    const codes = async (name: string, change: Record<string, unknown>) =>
      (await planExtension(ctx, { vmId, name, goal: goal(change) })).warnings
        .map(({ code, path }) => `${path} ${code}`)
        .filter((code) => !code.includes('machine_absent') && !code.includes('unchecked'));
    expect(await codes('probe', { state: 'disabled' })).toEqual(['/state plan_dependants_wait']);
    expect(await codes('many', { handler: many, version: '1.0', dependsOn: ['probe'] })).toEqual([
      '/version plan_lower_version',
    ]);
    await setExtension(ctx, { vmId, name: 'probe', goal: goal({ version: '1.0', state: 'disabled' }) });
    expect(await codes('many', { handler: many, version: '1.1', dependsOn: ['probe'] })).toEqual([
      '/dependsOn/0 plan_dependency_disabled',
    ]);
  });
});
