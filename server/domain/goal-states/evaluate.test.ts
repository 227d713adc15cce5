import { and, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Transaction } from '#db/client.ts';
import { goalStates } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { bindCertificate } from './begin.ts';
import { type DeclaredVm, loadDeclaredVms, loadVersions, type VersionLookup } from './declared-vm.ts';
import { evaluateChange, evaluateVm, type VmChange } from './evaluate.ts';
import { type LiveHead, readHead } from './publish.ts';
import { resolveTargets } from './resolve-targets.ts';

let services: Services;
let ctx: Context;
/** VMs that differ: their extension is new, enabled with a secret, disabled, or at another version. */
let vms: GivenVm[];

const handler = 'Acme.Lab.Probe';
const goal = {
  handler,
  version: '1.1',
  state: 'enabled' as const,
  autoUpgradeMinorVersion: false,
  dependsOn: [],
  timeouts: {},
  settings: { publicSettings: { level: 'info' } },
};

beforeAll(async () => {
  services = await testServices();
  for (const version of ['1.0.0.0', '1.1.0.0']) await givenVersion(services.db, { version });
  ctx = await testContext({ services, role: 'operator' });
  vms = await Promise.all(Array.from({ length: 4 }, () => givenVm(services)));
  for (const [index, vm] of vms.entries()) {
    const key = { pem: newKeyPair().certificate, thumbprint: `${index}` };
    await services.db.transaction((tx) => bindCertificate(tx, ctx, vm.vmId, key, { kind: 'renewed' }));
    if (index > 0) await vm.declare('probe', { settings: { publicSettings: {}, protectedSettings: { key: index } } });
    if (index === 2) await vm.declare('probe', { state: 'disabled', settings: { publicSettings: {} } });
    if (index === 3) await vm.declare('probe', { version: '1.1.0.0', settings: { publicSettings: { level: 'info' } } });
    if (index > 1) await vm.deliver();
  }
});

const kinds = ['set', 'remove', 'force', 'retry', 'revert'] as const;

async function changeOf(kind: (typeof kinds)[number], { vmId }: GivenVm): Promise<VmChange> {
  if (kind === 'remove' || kind === 'force') return { kind: 'remove', name: 'probe', force: kind === 'force' };
  if (kind === 'retry') return { kind, name: 'probe', seen: undefined };
  if (kind === 'set') {
    const options = { siblings: false, changes: undefined };
    return { kind, targets: await resolveTargets(ctx, vmId, 'probe', goal, options), compares: true };
  }
  const [old] = await services.db
    .select()
    .from(goalStates)
    .where(and(eq(goalStates.vmId, vmId), eq(goalStates.incarnation, 3)));
  return { kind, contents: old?.contents ?? [] };
}

/** Returns the result of an evaluation or, if it fails, the error code. */
async function outcome(evaluate: () => unknown): Promise<unknown> {
  try {
    return await evaluate();
  } catch (error) {
    return (error as { code: string }).code;
  }
}

async function loadAll(tx: Transaction, some: readonly GivenVm[]): Promise<[DeclaredVm[], VersionLookup]> {
  const heads: LiveHead[] = [];
  for (const { vmId } of some) heads.push(await readHead(tx, vmId));
  const secretIds = (await tx.select().from(goalStates)).flatMap(({ contents }) =>
    contents.flatMap(({ secretId }) => secretId ?? []),
  );
  const versions = ['1.0', '1.1'].map((version) => ({ handler, version }));
  return [await loadDeclaredVms(tx, heads, secretIds), await loadVersions(tx, versions)];
}

describe.each(kinds)('a change of kind %s', (kind) => {
  test('has the same effect on a VM alone and among others, and evaluating it runs no statement', async () => {
    const changes = await Promise.all(vms.map((vm) => changeOf(kind, vm)));
    const [loaded, versions] = await services.db.transaction((tx) => loadAll(tx, vms));
    const effects = new Set<string>();
    for (const [index, vm] of vms.entries()) {
      const [declared, change] = [loaded[index], changes[index]];
      if (!declared || !change) throw new Error('the VM was not loaded');
      let among: unknown;
      const statements = await statementsOf(async () => {
        among = await outcome(() => evaluateChange(ctx, declared, versions, change));
      });
      const alone = await services.db.transaction(async (tx) =>
        outcome(async () => evaluateVm(tx, ctx, await readHead(tx, vm.vmId), change)),
      );
      expect(among).toEqual(alone);
      expect(statements).toEqual([]);
      effects.add(typeof alone === 'string' ? alone : JSON.stringify((alone as { moves: unknown }).moves));
    }
    expect(effects.size).toBeGreaterThan(1);
  });
});

test('the number of statements that load VMs does not depend on their number', async () => {
  const loading = (some: readonly GivenVm[]) =>
    services.db.transaction(async (tx) => {
      const heads: LiveHead[] = [];
      for (const { vmId } of some) heads.push(await readHead(tx, vmId));
      return statementsOf(() => loadDeclaredVms(tx, heads));
    });
  expect(await loading(vms)).toEqual(await loading(vms.slice(1, 3)));
  expect(await loading(vms.slice(1, 2))).toHaveLength(4);
});

test('a version is found in any spelling, and only with its handler', async () => {
  const named = [
    { handler, version: '1' },
    { handler, version: '1.1' },
    { handler: 'Acme.Lab.Other', version: '1.0' },
    { handler, version: '9.0' },
    { handler, version: 'one' },
  ];
  const versions = await services.db.transaction((tx) => loadVersions(tx, named));
  expect(named.map((goal) => versions(goal)?.version ?? null)).toEqual(['1.0.0.0', '1.1.0.0', null, null, null]);
  const none = await statementsOf(() => services.db.transaction((tx) => loadVersions(tx, named.slice(4))));
  expect(none).toEqual([]);
});
