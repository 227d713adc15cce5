import { eq, sql } from 'drizzle-orm';
import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import { goalStateHeads, rolloutSteps } from '#db/schema/index.ts';
import type { StepState } from '#server/domain/rollout-rules/words.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { createRevertIn, type RevertTerms } from '../create-revert.ts';
import { givenPlanning, membersOf, ringUpTo, rowOf, setRollout, upgrade } from '../testing/given-draft.ts';
import { planRollout } from './plan-rollout.ts';
import type { PlanServices } from './snapshot.ts';

let services: PlanServices;
/** The reverted rollout, and its VMs by what happened to them. */
let of: string;
const vms: Record<string, GivenVm> = {};
const nameOf = ({ vmId }: { vmId: string }) => Object.entries(vms).find(([, vm]) => vm.vmId === vmId)?.[0];

const steps: Record<string, StepState> = {
  ...{ succeeded: 'succeeded', soaking: 'soaking', failed: 'failed', stuck: 'stuck', late: 'unreached' },
  ...{ recalled: 'recalled', changed: 'succeeded', overtaken: 'overtaken', installed: 'succeeded' },
};

beforeAll(async () => {
  services = { ...(await testServices()), log: pino({ level: 'silent' }) };
  for (const version of ['1.0.0.0', '1.1.0.0', '1.2.0.0']) await givenVersion(services.db, { version });
  for (const name of [...Object.keys(steps), 'queued']) {
    const vm = await givenVm(services, name);
    vms[name] = vm;
    if (name !== 'installed') await vm.declare('probe');
  }
  const select = { ids: Object.values(vms).map(({ vmId }) => vmId) };
  const change = { ...upgrade, extension: 'probe', onAbsent: 'install' as const };
  of = await givenPlanning(services, { select, change, rings: [ringUpTo(5_000), ringUpTo(10_000)] });
  await planRollout(services, of);
  await setRollout(services, of, { state: 'aborting' });
  for (const [name, state] of Object.entries(steps)) await begin(name, state);
  await vms.recalled?.declare('probe');
  for (const name of ['changed', 'overtaken']) await vms[name]?.declare('probe', { version: '1.2.0.0' });
});

/** Publishes the step of a VM. */
async function begin(name: string, state: StepState): Promise<void> {
  const vm = vms[name] as GivenVm;
  const incarnation = async () => {
    const [head] = await services.db.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vm.vmId));
    return head?.incarnation ?? 0;
  };
  const beforeIncarnation = await incarnation();
  const sequenceNumber = await vm.declare('probe', { version: '1.1.0.0' });
  const before = name === 'installed' ? null : { version: '1.0.0.0', sequenceNumber: sequenceNumber - 1 };
  await services.db.insert(rolloutSteps).values({
    ...{ vmId: vm.vmId, rolloutId: of, ring: name === 'failed' ? 0 : 1, place: 0, kind: 1, state },
    touched: [{ name: 'probe', sequenceNumber, before, version: '1.1.0.0' }],
    ...{ beforeIncarnation, incarnation: await incarnation(), updatedAt: new Date() },
  });
}

async function plannedRevert(terms: RevertTerms = {}) {
  const ctx = await testContext({ services, role: 'operator' });
  const row = await rowOf(services, of);
  const { id } = await ctx.db.transaction((tx) => createRevertIn(tx, ctx, row, terms));
  expect(await planRollout(services, id)).toBe('done');
  const members = await membersOf(services, id);
  return { id, row: await rowOf(services, id), members, names: members.map(nameOf) };
}

describe('RO-31 the members of a revert', () => {
  test('are the published steps that were not changed since, the failed ones first', async () => {
    const { row, members, names } = await plannedRevert();
    expect(row).toMatchObject({ state: 'planned', why: [], handler: 'Acme.Lab.Probe' });
    expect(names.slice(0, 2).toSorted()).toEqual(['failed', 'stuck']);
    expect(names.toSorted()).toEqual(['failed', 'installed', 'late', 'soaking', 'stuck', 'succeeded']);
    expect(new Set(members.map(({ kind }) => kind))).toEqual(new Set(['revert']));
    expect(row.plan).toMatchObject({ members: 6, overlaps: [], notRevertible: { overtaken: 2 } });
    expect(row.plan?.rings).toHaveLength(1);
  });

  test('are those of one ring, or only the failed ones', async () => {
    expect((await plannedRevert({ ring: 0 })).names).toEqual(['failed']);
    expect((await plannedRevert({ only: 'failed' })).names.toSorted()).toEqual(['failed', 'stuck']);
  });

  test('start immediately if this was requested', async () => {
    const { row } = await plannedRevert({ start: true });
    expect(row).toMatchObject({ state: 'checking', startedBy: 'Test operator' });
  });

  test('are not those whose earlier version was withdrawn', async () => {
    await services.db.execute(sql`update handler_versions set state = 'withdrawn' where version = '1.0.0.0'`);
    const { row, names } = await plannedRevert();
    await services.db.execute(sql`update handler_versions set state = 'published' where version = '1.0.0.0'`);
    expect(names).toEqual(['installed']);
    expect(row.plan).toMatchObject({ members: 1, refused: { version_withdrawn: { count: 5 } } });
  });
});
