import { eq, sql } from 'drizzle-orm';
import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Transaction } from '#db/client.ts';
import {
  agents,
  cloudServices,
  holds,
  services as modelServices,
  models,
  units,
  vmConcerns,
  vmRoles,
  vms,
} from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { FleetFilter } from '#server/domain/fleet/index.ts';
import { type GivenExtension, type GivenRow, idOf, insertFleet } from '#server/domain/fleet/testing/insert-fleet.ts';
import type { ValueOf } from '#server/domain/fleet-field.ts';
import { beginGoalStates, setExtension } from '#server/domain/goal-states/index.ts';
import type { Selection } from '#server/domain/rollout-rules/stored.ts';
import { allFleetFields } from '#server/domain/views/fleet-fields.ts';
import { listFleet } from '#server/domain/views/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { longTest } from '#server/testing/long.ts';
import type { StoredRollout } from '../rows.ts';
import { definitionOf, givenPlanning, membersOf, rowOf } from '../testing/given-draft.ts';
import { evaluateMembers } from './evaluate-members.ts';
import { planRollout } from './plan-rollout.ts';
import { readCandidates } from './read-candidates.ts';
import type { PlanServices } from './snapshot.ts';

type Field = (typeof allFleetFields)[number];

const minuteMs = 60_000;
const now = new Date('2026-03-01T12:00:00Z');
const ago = (minutes: number) => new Date(now.getTime() - minutes * minuteMs);
const text = (minutes: number) => ago(minutes).toISOString();
const rollout = '00000000-0000-7000-8000-000000000001';
const cloudService = 'juju-prod-k3j9x0a1bz';

/**
 * A value for every field of the filter. Each of them selects some VMs of the fleet and not all. A field without a value
 * does not compile.
 */
const samples: { [F in Field as F['name']]: ValueOf<F['value']> } = {
  q: 'db',
  health: ['healthy', 'failed'],
  tags: [{ name: 'env', value: 'prod' }, { name: 'site' }],
  notTags: [{ name: 'env', value: 'test' }],
  handler: 'Acme.Lab.Probe',
  notHandler: 'Acme.Lab.Mount',
  otherHandler: 'Acme.Lab.Mount',
  version: '1.0.*',
  olderThan: '1.1',
  running: '0.9.0.0',
  extension: 'probe',
  state: ['failed', 'healthy'],
  worst: ['no'],
  cause: ['exit'],
  command: 'enable',
  hasCommand: ['yes'],
  exitCode: 51,
  formula: 'Acme.Lab.blog',
  unitState: ['failed'],
  unitCause: ['exit'],
  hook: 'install',
  hookExitCode: 3,
  messageId: 'M1',
  hasMessage: ['yes'],
  overdue: ['yes'],
  stateAfter: text(30),
  stateBefore: text(30),
  silentMinutes: 10,
  silentAfter: text(30),
  silentBefore: text(30),
  sinceAfter: text(30),
  sinceBefore: text(30),
  became: ['failed'],
  left: ['healthy'],
  changedAfter: text(30),
  changedBefore: text(30),
  held: ['yes'],
  agentOutdated: ['yes'],
  event: `failed:${text(20).slice(0, 16)}Z`,
  silence: ['alone'],
  updateAvailable: ['yes'],
  rollout,
  step: ['failed'],
  model: 'prod',
  cloudService,
  availabilitySet: `${cloudService}/juju`,
  instanceId: `${cloudService}-jujuq7f2m0c4xd`,
  unitOf: 'Acme.Lab.blog',
};
const names = Object.keys(samples) as (keyof typeof samples)[];
const filterOf = (...fields: readonly string[]) =>
  Object.fromEntries(fields.map((name) => [name, samples[name as keyof typeof samples]]));

/** VMs on which the change does something. */
const changing = new Set<string>();
let services: PlanServices;
let ctx: Context;

beforeAll(async () => {
  services = { ...(await testServices()), log: pino({ level: 'silent' }) };
  ctx = await testContext({ services, now });
  await insertFleet(services.db, now, fleet);
  for (const handler of ['Acme.Lab.Probe', 'Acme.Lab.Mount']) {
    for (const version of ['1.0.0.0', '1.1.0.0'])
      await givenVersion(services.db, { handler, version, supportsMultipleExtensions: true });
  }
  for (const [place, { extensions }] of fleet.entries()) {
    const vmId = idOf(place);
    await services.db.transaction((tx) => beginGoalStates(tx, ctx, vmId));
    for (const { name, handler = 'Acme.Lab.Probe', version = '1.0.0.0' } of extensions) {
      await setExtension(ctx, { vmId, name, goal: { handler, version, state: 'enabled' } });
      if (handler === 'Acme.Lab.Probe' && version === '1.0.0.0') changing.add(vmId);
    }
  }
  await services.db.insert(holds).values([
    { vmId: idOf(0), since: now, changedAt: now },
    { vmId: idOf(5), since: now, changedAt: now },
  ]);
  await services.db.insert(agents).values(
    [1, 3].map((place) => ({
      ...{ vmId: idOf(place), credentialHash: `c${place}`, certificate: '', thumbprint: '', keyHash: `k${place}` },
      ...{ name: 'annex-agent', version: '0.0.1', os: { name: 'Debian', version: '13' } as never, enrolledAt: now },
    })),
  );
  await givenPlanning(services, {}, { id: rollout, state: 'running', handler: 'Acme.Lab.Other' });
  await services.db.execute(sql`
    insert into rollout_members values (${rollout}, 0, 0, '0', 'f', array[${idOf(0)}, ${idOf(4)}]::uuid[], '\\x0101')`);
  await services.db.execute(sql`
    insert into rollout_steps (vm_id, rollout_id, ring, place, kind, state, updated_at)
    values (${idOf(4)}, ${rollout}, 0, 1, 1, 'failed', now())`);
  await insertRoles([0, 3]);
  await insertUnits([0, 3]);
  const unit = { source: 'units', formula: 'Acme.Lab.blog', health: 'failed' as const, cause: 'exit', since: now };
  await services.db
    .insert(vmConcerns)
    .values([3, 6].map((n) => ({ vmId: idOf(n), subject: `blog/${n}`, ...unit, command: 'install', exitCode: 3 })));
});

/** Makes VMs the machines of a model, all in one cloud service. */
async function insertRoles(places: readonly number[]): Promise<void> {
  const created = { createdAt: now, createdBy: 'Ada' };
  const modelId = rollout;
  await services.db.insert(models).values({
    ...{ id: modelId, name: 'prod', life: 'alive', location: 'Lab', storageAccount: 'labstore', ...created },
    ...{ affinityGroup: 'juju-prod-ag', network: 'juju-prod-vnet', availabilitySetsEnabled: true },
  });
  await services.db
    .insert(cloudServices)
    .values({ name: cloudService, modelId, state: 'ready', nextDeployment: 3, ...created });
  for (const machine of places) {
    const name = machine === places[0] ? 'jujuq7f2m0c4xd' : 'jujua1n8e5v3yk';
    await services.db.insert(vmRoles).values({
      ...{ vmId: idOf(machine), modelId, cloudService, deployment: `${cloudService}-v2`, name, machine },
      ...{ controller: false, availabilitySet: 'juju', hostname: name, userName: 'annex', password: Buffer.of(1) },
      ...{
        size: 'default',
        disks: [],
        networkConfiguration: { network: 'juju-prod-vnet' },
        state: 'ready',
        ...created,
      },
    });
    const instanceId = `${cloudService}-${name}`;
    await services.db
      .update(vms)
      .set({ instanceId })
      .where(eq(vms.id, idOf(machine)));
  }
}

/** Makes VMs have a unit of a service of the model. */
async function insertUnits(places: readonly number[]): Promise<void> {
  const formula = 'Acme.Lab.blog';
  const created = { createdAt: now, createdBy: 'Ada' };
  const version = { formulaVersion: '1.0.0.0', settingsVersion: 1 };
  await givenVersion(services.db, { handler: formula, version: '1.0.0.0' });
  const service = { id: rollout, modelId: rollout, name: 'blog', formula, exposed: false };
  await services.db.insert(modelServices).values({ ...service, life: 'alive', ...version, ...created });
  await services.db.insert(units).values(
    places.map((place, number) => ({
      ...{ id: idOf(place), modelId: rollout, serviceId: rollout, name: `blog/${number}`, number, vmId: idOf(place) },
      ...{ life: 'alive' as const, turn: 1, record: {} as never, ...version, ...created },
    })),
  );
}

const probe = { name: 'probe', version: '1.0.0.0' };
const mount = { name: 'mount', handler: 'Acme.Lab.Mount', version: '1.0.0.0' };
const prod = { env: 'prod', site: 'a' };
const broken = { health: 'failed' as const, cause: 'exit' as const, command: 'enable', exitCode: 51 };

const fleet: (GivenRow & { extensions: GivenExtension[] })[] = [
  { name: 'db-1', tags: prod, extensions: [probe, { ...mount, since: ago(60) }] },
  { name: 'db-2', tags: { env: 'test' }, extensions: [{ ...probe, version: '1.1.0.0' }] },
  { name: 'web-1', tags: prod, extensions: [{ ...mount, version: '1.1.0.0', messageId: 'M2' }] },
  {
    ...{ name: 'db-3', tags: prod, health: 'failed' as const, since: text(20) },
    extensions: [
      { ...probe, ...broken, running: '0.9.0.0', messageId: 'M1', since: ago(20), deadlineAt: ago(10) },
      { name: 'probe-2', version: '1.0.0.0', since: ago(60) },
    ],
    changes: [
      { at: ago(60), from: 'progressing' as const, to: 'healthy' as const },
      { at: ago(20), from: 'healthy' as const, to: 'failed' as const },
    ],
  },
  {
    ...{ name: 'web-2', tags: {}, health: 'unresponsive' as const, since: text(20), lastSeenAt: ago(20) },
    extensions: [{ ...probe, running: '0.9.0.0', messageId: 'M1' }],
    changes: [{ at: ago(20), from: 'failed' as const, to: 'unresponsive' as const }],
  },
  {
    ...{ name: 'web-3', tags: { env: 'test' }, health: 'unresponsive' as const, since: text(90), lastSeenAt: ago(90) },
    extensions: [probe, mount],
    changes: [{ at: ago(90), from: 'healthy' as const, to: 'unresponsive' as const }],
  },
  {
    ...{ name: 'app-1', tags: prod, health: 'progressing' as const, since: text(60) },
    extensions: [probe, { ...probe, ...broken, name: 'mount-2', handler: 'Acme.Lab.Mount', deadlineAt: ago(5) }],
  },
  { name: 'app-2', tags: {}, extensions: [] },
];

async function listed(filter: object): Promise<string[]> {
  const { items } = await listFleet(ctx, { ...(filter as FleetFilter), limit: 200 });
  return items.map(({ id }) => id);
}

type Snapshot = (
  tx: Transaction,
  row: StoredRollout,
) => Promise<readonly { vmId: string }[] | readonly { id: string }[]>;

/** Runs work in one snapshot for rollouts with these selections. Returns the ids that each finds. */
async function inSnapshot(selections: readonly Selection[], run: Snapshot): Promise<string[][]> {
  const row = { ...(await rowOf(services, rollout)), of: null };
  return services.db.transaction(
    async (tx) => {
      const found: string[][] = [];
      for (const select of selections) {
        const rows = await run(tx, { ...row, definition: definitionOf({ select }) });
        found.push(rows.map((one) => ('id' in one ? one.id : one.vmId)).toSorted());
      }
      return found;
    },
    { isolationLevel: 'repeatable read' },
  );
}

/** Returns the members that each selection would have, without storing the plan. */
const membersIn = (...selections: Selection[]) =>
  inSnapshot(selections, async (tx, row) => (await evaluateMembers(tx, ctx, row, undefined, 'set')).members);

/** Returns the VMs that a plan evaluates for each selection. */
const candidatesIn = (...selections: Selection[]) =>
  inSnapshot(selections, async (tx, row) => (await Array.fromAsync(readCandidates(tx, ctx, row, 'set'))).flat());

const changed = (ids: readonly string[]) => ids.filter((id) => changing.has(id)).toSorted();

describe('RO-1 the members are the VMs of the list on which the change does something', () => {
  test('every field has a value here, and every value selects some VMs', async () => {
    expect(names.toSorted()).toEqual(allFleetFields.map(({ name }) => name).toSorted());
    for (const name of names) {
      const found = await listed(filterOf(name));
      expect([name, found.length > 0, found.length < fleet.length]).toEqual([name, true, true]);
    }
  });

  test.each(names)('for the field %s, and without the VMs that it excludes', async (name) => {
    const include = filterOf(name);
    const shown = await listed(include);
    const id = await givenPlanning(services, { select: { include } });
    expect(await planRollout(services, id, now)).toBe('done');
    const { plan } = await rowOf(services, id);
    const members = await membersOf(services, id);
    expect(members.map(({ vmId }) => vmId).toSorted()).toEqual(changed(shown));
    expect(plan).toMatchObject({ matched: shown.length, unchanged: shown.length - members.length });
    const [left] = await membersIn({ all: true, exclude: include });
    expect(left).toEqual([...changing].filter((vmId) => !shown.includes(vmId)).toSorted());
  });

  longTest('for every pair of fields', { timeout: 120_000 }, async () => {
    for (const [at, name] of names.entries()) {
      const pairs = names.slice(at + 1).map((other) => filterOf(name, other));
      const shown = await Promise.all(pairs.map(listed));
      const found = await candidatesIn(...pairs.map((include) => ({ include })));
      expect(found).toEqual(shown.map((ids) => ids.toSorted()));
    }
  });

  test('for one field without another', async () => {
    const lists = await Promise.all(names.map((name) => listed(filterOf(name))));
    const pairs = names.map((name, at) => [name, names[(at + 7) % names.length] ?? name] as const);
    const found = await membersIn(
      ...pairs.map(([name, other]) => ({ include: filterOf(name), exclude: filterOf(other) })),
    );
    const expected = names.map(
      (_, at) => lists[at]?.filter((id) => !lists[(at + 7) % names.length]?.includes(id)) ?? [],
    );
    expect(found).toEqual(expected.map(changed));
  });

  test('for ids and for all VMs', async () => {
    const ids = [idOf(0), idOf(1), idOf(99)];
    const [some, all] = await membersIn({ ids }, { all: true });
    expect(some).toEqual([idOf(0)]);
    expect(all).toEqual([...changing].toSorted());
  });
});
