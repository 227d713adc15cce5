import { and, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { extensions, goalStateHeads, handlerVersions, secrets, vms } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { isHandlerVersion } from '#server/domain/packages/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { type GivenVersion, givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { bindCertificate } from './begin.ts';
import { planExtension } from './plan-extension.ts';
import { planRemoval, removeExtension } from './remove-extension.ts';
import { setExtension } from './set-extension.ts';

let services: Services;
let operator: Context;
const schema = { publicSettings: {}, protectedSettings: {} };

beforeAll(async () => {
  services = await testServices();
  operator = await testContext({ services, role: 'operator' });
  const versions: GivenVersion[] = [
    { handler: 'Lab.X', version: '1.0', settingsSchema: schema },
    { handler: 'Lab.X', version: '1.1', settingsSchema: schema },
    { handler: 'Lab.Y', version: '1.0', settingsSchema: schema },
    { handler: 'Lab.Open', version: '1.0' },
    { handler: 'Lab.Reboot', version: '1.0', settingsSchema: schema },
    { handler: 'Lab.Gone', version: '1.0', settingsSchema: schema },
    { handler: 'Lab.Many', version: '1.0', supportsMultipleExtensions: true },
    { handler: 'Lab.Many', version: '1.1', supportsMultipleExtensions: true },
  ];
  for (const version of versions) await givenVersion(services.db, version);
  const [row] = await services.db.select().from(handlerVersions).where(eq(handlerVersions.handler, 'Lab.Reboot'));
  if (!row || !isHandlerVersion(row)) throw new Error('no version');
  const { handlerManifest } = row.manifest;
  const manifest = { ...row.manifest, handlerManifest: { ...handlerManifest, rebootAfterInstall: true } };
  await services.db.update(handlerVersions).set({ manifest }).where(eq(handlerVersions.handler, 'Lab.Reboot'));
});

const goalOf = (more: Record<string, unknown> = {}) => ({
  handler: 'Lab.X',
  version: '1.0',
  state: 'enabled' as const,
  ...more,
});

/** Creates a VM with an enrolled machine. */
async function givenMachine(): Promise<GivenVm> {
  const vm = await givenVm(services);
  const certificate = { pem: newKeyPair().certificate, thumbprint: 'AB' };
  await services.db.transaction((tx) => bindCertificate(tx, operator, vm.vmId, certificate, { kind: 'renewed' }));
  return vm;
}

const planOf = (vm: GivenVm, more?: Record<string, unknown>, name = 'x', siblings = false) =>
  planExtension(operator, { vmId: vm.vmId, name, goal: goalOf(more), siblings });

describe('a plan warns', () => {
  const withdraw = () =>
    services.db.update(handlerVersions).set({ state: 'withdrawn' }).where(eq(handlerVersions.handler, 'Lab.Gone'));
  const declared =
    (more: Record<string, unknown>, name = 'x') =>
    (vm: GivenVm) =>
      vm.declare(name, goalOf(more));
  const delivered = (more: Record<string, unknown>) => async (vm: GivenVm) => {
    await declared(more)(vm);
    await vm.deliver();
  };
  const behind =
    (more: Record<string, unknown> = {}) =>
    async (vm: GivenVm) => {
      await declared({})(vm);
      await declared({ handler: 'Lab.Y', dependsOn: ['x'], ...more }, 'y')(vm);
    };

  test.each<[string, (vm: GivenVm) => Promise<unknown>, Record<string, unknown>, string[]]>([
    ['of nothing', async () => {}, {}, []],
    ['of settings without a schema', async () => {}, { handler: 'Lab.Open' }, ['/settings plan_settings_unchecked']],
    ['of a restart', async () => {}, { handler: 'Lab.Reboot' }, ['/version plan_restarts']],
    ['of no second restart', delivered({ handler: 'Lab.Reboot' }), { handler: 'Lab.Reboot', state: 'disabled' }, []],
    ['of a lower version', delivered({ version: '1.1' }), { version: '1.0' }, ['/version plan_lower_version']],
    ['of no lower version before the delivery', declared({ version: '1.1' }), { version: '1.0' }, []],
    ['of no lower version where it is higher', delivered({ version: '1.0' }), { version: '1.1' }, []],
    [
      'of a withdrawn version in use',
      async (vm) => {
        await declared({ handler: 'Lab.Gone' })(vm);
        await withdraw();
      },
      { handler: 'Lab.Gone', state: 'disabled' },
      ['/version plan_version_withdrawn'],
    ],
    [
      'of a disabled dependency',
      declared({ handler: 'Lab.Y', state: 'disabled' }, 'y'),
      { dependsOn: ['y'] },
      ['/dependsOn/0 plan_dependency_disabled'],
    ],
    [
      'of none while it is disabled itself',
      declared({ handler: 'Lab.Y', state: 'disabled' }, 'y'),
      { dependsOn: ['y'], state: 'disabled' },
      [],
    ],
    ['of waiting dependants', behind(), { state: 'disabled' }, ['/state plan_dependants_wait']],
    ['of none that are disabled', behind({ state: 'disabled' }), { state: 'disabled' }, []],
  ])('%s', async (_, before, change, warnings) => {
    const vm = await givenMachine();
    await before(vm);
    const plan = await planOf(vm, change);
    expect(plan.warnings.map(({ path, code }) => `${path} ${code}`)).toEqual(warnings);
    expect(plan.faults).toEqual([]);
  });

  test('of a missing machine, until one has enrolled', async () => {
    const vm = await givenVm(services);
    expect((await planOf(vm)).warnings).toEqual([{ path: '', code: 'plan_machine_absent' }]);
    expect((await planOf(await givenMachine())).warnings).toEqual([]);
  });

  test('once for extensions of one handler', async () => {
    const vm = await givenMachine();
    for (const name of ['a', 'b', 'c']) await vm.declare(name, goalOf({ handler: 'Lab.Many' }));
    const plan = await planOf(vm, { handler: 'Lab.Many', version: '1.1' }, 'a', true);
    expect(plan.extensions).toHaveLength(3);
    expect(plan.warnings.map(({ code }) => code)).toEqual(['plan_settings_unchecked']);
  });

  test('with the names that its sentence needs', async () => {
    const vm = await givenMachine();
    await behind()(vm);
    expect((await planOf(vm, { state: 'disabled' })).warnings[0]?.params).toEqual({ name: 'x', dependants: 'y' });
    await vm.deliver();
    const other = await givenMachine();
    await delivered({ version: '1.1' })(other);
    expect((await planOf(other)).warnings[0]?.params).toMatchObject({ name: 'x', version: '1.0', from: '1.1' });
  });
});

describe('the rules of siblings', () => {
  test('faults of siblings name the sibling, and nothing is declared', async () => {
    const vm = await givenMachine();
    const { db } = services;
    const checked = { publicSettings: { type: 'object', required: ['port'] }, protectedSettings: {} };
    await givenVersion(db, {
      handler: 'Lab.Pair',
      version: '1.0',
      supportsMultipleExtensions: true,
      settingsSchema: schema,
    });
    await givenVersion(db, {
      handler: 'Lab.Pair',
      version: '2.0',
      supportsMultipleExtensions: true,
      settingsSchema: checked,
    });
    for (const name of ['a', 'b']) await vm.declare(name, goalOf({ handler: 'Lab.Pair' }));
    const settings = { publicSettings: { port: 1 } };
    const goal = goalOf({ handler: 'Lab.Pair', version: '2.0', settings });
    const set = setExtension(operator, { vmId: vm.vmId, name: 'a', goal, siblings: true });
    const fault = '/siblings/b/settings/publicSettings/port setting_required';
    expect(await outcomeOf(set)).toBe(`unprocessable setting_required; ${fault}`);
    const rows = await db.select().from(extensions).where(eq(extensions.vmId, vm.vmId));
    expect(rows.map(({ version }) => version)).toEqual(['1.0', '1.0']);
  });

  test('siblings that are being uninstalled do not change', async () => {
    const vm = await givenMachine();
    for (const name of ['a', 'b']) await vm.declare(name, goalOf({ handler: 'Lab.Many' }));
    await vm.deliver();
    await removeExtension(operator, { vmId: vm.vmId, name: 'b' });
    const plan = await planOf(vm, { handler: 'Lab.Many', state: 'disabled' }, 'a', true);
    expect(plan.extensions.map(({ name }) => name)).toEqual(['a']);
  });
});

describe('a declaration', () => {
  test('of a VM that is being decommissioned is a conflict, in the plan too', async () => {
    const vm = await givenMachine();
    await services.db.update(vms).set({ decommissioningAt: new Date() }).where(eq(vms.id, vm.vmId));
    expect(await outcomeOf(vm.declare('x', goalOf()))).toBe('conflict vm_decommissioning');
    expect(await outcomeOf(planOf(vm))).toBe('conflict vm_decommissioning');
  });

  test('that repeats its requested version does not undo an automatic upgrade', async () => {
    const vm = await givenMachine();
    await vm.declare('x', goalOf());
    await services.db.update(extensions).set({ version: '1.1' }).where(eq(extensions.vmId, vm.vmId));
    const again = await setExtension(operator, { vmId: vm.vmId, name: 'x', goal: goalOf({ state: 'disabled' }) });
    expect(again).toMatchObject({ version: '1.1', requestedVersion: '1.0', state: 'disabled' });
  });

  test('AZ-C2 keeps secrets that are not sent, and does not count equal secrets as changed', async () => {
    const vm = await givenMachine();
    const set = (protectedSettings: unknown) =>
      vm.declare('x', goalOf({ settings: { publicSettings: {}, protectedSettings } }));
    expect(await set({ a: 1 })).toBe(1);
    expect(await set({ a: 1 })).toBe(1);
    expect(await set({ a: 2 })).toBe(2);
    expect(await vm.declare('x', goalOf())).toBe(2);
    const ofVm = eq(secrets.vmId, vm.vmId);
    // Withheld secrets cannot be compared: if the same values are entered again, they replace the withheld values and
    // are delivered.
    const [row] = await services.db.select().from(extensions).where(eq(extensions.vmId, vm.vmId));
    await services.db
      .update(secrets)
      .set({ cms: null, thumbprint: null })
      .where(and(ofVm, eq(secrets.id, row?.secretId ?? '')));
    expect(await set({ a: 2 })).toBe(3);
    const [head] = await services.db.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vm.vmId));
    expect(JSON.parse(head?.text ?? '').extensions).toHaveLength(1);
  });
});

test.each<[string, boolean, string | null, string, string]>([
  ['of what was delivered', true, null, 'uninstall', 'none'],
  ['of what was delivered, with secrets', true, 'secret', 'uninstall', 'kept'],
  ['of what was never delivered', false, null, 'dropped', 'none'],
  ['of what was never delivered, with secrets', false, 'secret', 'dropped', 'removed'],
])('the plan of a removal %s', async (_, isDelivered, secret, state, protectedSettings) => {
  const vm = await givenMachine();
  await vm.declare('x', goalOf(secret === null ? {} : { settings: { publicSettings: {}, protectedSettings: secret } }));
  if (isDelivered) await vm.deliver();
  const plan = await planRemoval(operator, { vmId: vm.vmId, name: 'x' });
  const after = state === 'dropped' ? 1 : 2;
  expect(plan.extensions).toMatchObject([
    { name: 'x', handler: 'Lab.X', state, protectedSettings, sequenceNumber: { before: 1, after }, effect: 'sequence' },
  ]);
  expect(plan.steps.map(({ command }) => command)).toEqual(isDelivered ? ['disable', 'uninstall'] : []);
  expect(await outcomeOf(removeExtension(operator, { vmId: vm.vmId, name: 'x', plan: plan.planHash ?? '' }))).toBe(
    'done',
  );
});
