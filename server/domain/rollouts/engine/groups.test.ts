import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { rolloutSteps, rollouts, vms } from '#db/schema/index.ts';
import { type Holder, release, reserve } from '#server/domain/reservations/index.ts';
import { openSteps } from '#server/domain/rollout-rules/words.ts';
import { type Random, randomOf } from '#server/domain/topology-rules/testing/random.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { longTest } from '#server/testing/long.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { abortRollout } from '../abort-rollout.ts';
import { closeRollout } from '../close-rollout.ts';
import { mendReservations } from '../mend-reservations.ts';
import { type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';

const tag = 'availability-set';
const upgrade: Holder = { kind: 'service', id: 'shop' };
let stage: RolloutStage;

beforeEach(async () => {
  stage = await rolloutStage();
});

/** Creates VMs that are roles of one availability set. */
async function givenRoles(count: number, group: string, tags: Record<string, string> = {}): Promise<GivenVm[]> {
  const roles = await stage.givenFleet(count, { tags });
  for (const { vmId } of roles) {
    await stage.db.update(vms).set({ disruptionGroup: group }).where(eq(vms.id, vmId));
  }
  await stage.fold(0);
  return roles;
}

const takeOut = ({ vmId }: GivenVm, group: string, limit: number | null = 1) =>
  stage.db.transaction((tx) => reserve(tx, upgrade, [{ vmId, group }], { tag, limit, now: stage.at(0) }));
const putBack = ({ vmId }: GivenVm) => stage.db.transaction((tx) => release(tx, upgrade, [vmId]));
const inFlight = async (id: string, own: readonly GivenVm[]) => (await stage.vmsIn(id, own, 'inFlight')).length;

describe('JU-22 roles of an availability set', () => {
  test('are changed one at a time, whatever their tags say', async () => {
    const [one, two] = [await givenRoles(2, 'cloud-1/juju', { [tag]: 'web' }), await givenRoles(2, 'cloud-2/juju')];
    const tagged = await stage.givenFleet(2, { tags: { [tag]: 'web' } });
    await stage.fold(0);
    const id = await stage.givenRollout([...one, ...two, ...tagged]);
    await stage.pass(1);
    expect(await Promise.all([one, two, tagged].map((own) => inFlight(id, own)))).toEqual([1, 1, 1]);
    expect((await stage.reservations()).map(([group]) => group)).toEqual(['cloud-1/juju', 'cloud-2/juju', 'web']);
  });

  test('wait while another role is out of service', async () => {
    const [role, broken] = (await givenRoles(2, 'cloud-1/juju')) as [GivenVm, GivenVm];
    await broken.deliver(stage.at(0));
    await stage.report(broken, 0, { status: 'error', version: '1.0.0.0', sequenceNumber: 1 });
    const id = await stage.givenRollout([role]);
    await stage.pass(1);
    expect(await stage.step(id, role)).toMatchObject({ state: 'parked', cause: 'set-busy' });
    await stage.report(broken, 10, { version: '1.0.0.0', sequenceNumber: 1 });
    await stage.look(11);
    expect(await stage.step(id, role)).toMatchObject({ state: 'inFlight' });
  });

  test('wait while the upgrade of a service has one of them', async () => {
    const [one, two] = (await givenRoles(2, 'cloud-1/juju')) as [GivenVm, GivenVm];
    await takeOut(one, 'cloud-1/juju');
    const id = await stage.givenRollout([one, two]);
    await stage.pass(1);
    expect((await stage.steps(id)).map(({ state, cause }) => [state, cause])).toEqual([
      ['parked', 'set-busy'],
      ['parked', 'set-busy'],
    ]);
    await putBack(one);
    await stage.look(2);
    expect(await inFlight(id, [one, two])).toBe(1);
    expect(await takeOut(one, 'cloud-1/juju')).toEqual(new Set());
    expect(await takeOut(two, 'cloud-1/juju')).toEqual(new Set());
  });

  test('are changed together if the operator says so, and the upgrade of a service waits for them', async () => {
    const roles = await givenRoles(3, 'cloud-1/juju');
    const id = await stage.givenRollout(roles.slice(0, 2), { availabilitySets: 'ignore' });
    await stage.pass(1);
    expect(await inFlight(id, roles)).toBe(2);
    expect((await takeOut(roles[2] as GivenVm, 'cloud-1/juju', 2)).size).toBe(0);
    expect((await takeOut(roles[2] as GivenVm, 'cloud-1/juju', 3)).size).toBe(1);
  });
});

describe('JU-22 the VMs of a rollout are released', () => {
  test('when it is aborted', async () => {
    const roles = await givenRoles(2, 'cloud-1/juju');
    const id = await stage.givenRollout(roles);
    await stage.pass(1);
    expect(await stage.reservations()).toHaveLength(1);
    await abortRollout(stage.as(2), { id });
    await stage.look(3);
    await stage.look(4);
    expect(await stage.rollout(id)).toMatchObject({ state: 'aborted' });
    expect(await stage.reservations()).toEqual([]);
  });

  test('when it is closed, including those whose agents may still fetch what was declared', async () => {
    const tags = { [tag]: 'web' };
    const [lost] = (await stage.givenFleet(1, { tags })) as [GivenVm];
    await stage.fold(0);
    const [fine] = (await stage.givenFleet(1)) as [GivenVm];
    const id = await stage.givenRollout([lost, fine], { silent: 'declare' });
    await stage.pass(1);
    await stage.succeed(fine, 10);
    await stage.look(302);
    expect(await stage.step(id, lost)).toMatchObject({ state: 'parked', cause: 'not-fetching' });
    expect(await stage.reservations()).toEqual([['web', lost.vmId, id]]);
    await stage.look(303);
    expect(await stage.rollout(id)).toMatchObject({ state: 'keeping' });
    await closeRollout(stage.as(304), { id });
    await stage.look(305);
    await stage.look(306);
    expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
    expect(await stage.reservations()).toEqual([]);
  });

  test('when their steps end, even if a VM has changed its group', async () => {
    const [vm, old] = (await stage.givenFleet(2, { tags: { [tag]: 'web' } })) as [GivenVm, GivenVm];
    const [next] = (await stage.givenFleet(1, { tags: { [tag]: 'db' } })) as [GivenVm];
    await stage.fold(0);
    const first = await stage.givenRollout([vm]);
    await stage.pass(1);
    await stage.setTags(vm, { [tag]: 'db' });
    const second = await stage.givenRollout([old, next]);
    await stage.pass(2);
    expect((await stage.steps(second)).map(({ cause }) => cause)).toEqual(['set-busy', 'set-busy']);
    await stage.succeed(vm, 3);
    await stage.look(4);
    expect(await stage.step(first, vm)).toMatchObject({ state: 'succeeded' });
    await stage.look(5);
    expect(await inFlight(second, [old, next])).toBe(2);
  });

  test('by the repair, if their steps no longer exist', async () => {
    const [one, two] = (await givenRoles(2, 'cloud-1/juju')) as [GivenVm, GivenVm];
    const id = await stage.givenRollout([one]);
    await stage.pass(1);
    expect(await mendReservations(stage.services)).toBe(0);
    await stage.db.delete(rolloutSteps);
    await takeOut(two, 'cloud-1/juju', null);
    expect(await mendReservations(stage.services)).toBe(1);
    expect(await stage.reservations()).toEqual([['cloud-1/juju', two.vmId, 'shop']]);
    expect(await stage.steps(id)).toEqual([]);
  });
});

test('JU-22 a revert takes over what the reverted rollout has reserved', async () => {
  const [one, two] = (await givenRoles(2, 'cloud-1/juju')) as [GivenVm, GivenVm];
  const of = await stage.givenRollout([one]);
  await stage.pass(1);
  await one.deliver(stage.at(2));
  const id = await stage.givenRollout([one], { kind: 'revert', of, planned: 'revert' });
  await stage.pass(3);
  expect(await stage.step(of, one)).toMatchObject({ state: 'overtaken' });
  expect(await stage.reservations()).toEqual([['cloud-1/juju', one.vmId, id]]);
  expect((await takeOut(two, 'cloud-1/juju')).size).toBe(0);
});

const isOpen = (state: string): boolean => (openSteps as readonly string[]).includes(state);

/** Rollouts and the upgrades of services, which share VMs of three groups. */
class History {
  private readonly random: Random;
  private seconds = 1;
  readonly fleet: [group: string, own: GivenVm[]][];
  readonly ids: string[] = [];

  constructor(seed: number, fleet: History['fleet']) {
    this.random = randomOf(seed);
    this.fleet = fleet;
  }

  async act(): Promise<void> {
    const { random, fleet } = this;
    this.seconds += random.below(200);
    const [group, own] = random.pick(fleet);
    const vm = random.pick(own);
    const kind = random.below(8);
    if (this.ids.length < 2 || kind === 0) await this.begin();
    else if (kind < 3) await takeOut(vm, group);
    else if (kind === 3) await putBack(vm);
    else if (kind < 7) await this.report(own, kind === 6);
    else await abortRollout(stage.as(this.seconds), { id: random.pick(this.ids) }).catch(() => {});
    await stage.look(this.seconds);
  }

  private async begin(): Promise<void> {
    const some = this.fleet.flatMap(([, own]) => own).filter(() => this.random.chance(0.7));
    const change = { publicSettings: { merge: { level: `level-${this.ids.length}` } } };
    if (some.length > 0) this.ids.push(await stage.givenRollout(some, { change, silent: 'declare' }));
  }

  private async report(own: readonly GivenVm[], isFailure: boolean): Promise<void> {
    const open = (await stage.db.select().from(rolloutSteps)).filter(({ state }) => isOpen(state));
    for (const vm of own) {
      await vm.deliver(stage.at(this.seconds));
      const sequenceNumber = open.find(({ vmId }) => vmId === vm.vmId)?.touched[0]?.sequenceNumber;
      const status = isFailure && this.random.chance(0.5) ? 'error' : 'success';
      if (sequenceNumber !== undefined) await stage.report(vm, this.seconds, { status, sequenceNumber });
    }
  }
}

longTest(
  'JU-22 over random histories of rollouts and upgrades, no two VMs of a group are out of service',
  async () => {
    const fleet: History['fleet'] = [
      ['cloud-1/juju', await givenRoles(3, 'cloud-1/juju')],
      ['cloud-2/juju', await givenRoles(2, 'cloud-2/juju', { [tag]: 'web' })],
      ['web', await stage.givenFleet(2, { tags: { [tag]: 'web' } })],
    ];
    await stage.fold(0);
    const history = new History(7, fleet);
    let held = 0;
    for (let count = 0; count < 25; count += 1) {
      await history.act();
      const reserved = await stage.reservations();
      expect(new Set(reserved.map(([group]) => group)).size).toBe(reserved.length);
      const steps = await stage.db.select().from(rolloutSteps);
      const open = steps.filter(({ state }) => isOpen(state));
      const out = new Set([...open.map(({ vmId }) => vmId), ...reserved.map(([, vmId]) => vmId)]);
      for (const [group, own] of fleet) {
        expect(own.filter(({ vmId }) => out.has(vmId)).length, group).toBeLessThanOrEqual(1);
      }
      const ofRollouts = reserved
        .filter(([, , holder]) => holder !== 'shop')
        .map(([, vmId, holder]) => `${vmId} ${holder}`);
      for (const { vmId, rolloutId } of open) expect(ofRollouts).toContain(`${vmId} ${rolloutId}`);
      expect(await mendReservations(stage.services)).toBe(0);
      held += reserved.length;
    }
    expect(held).toBeGreaterThan(12);
  },
  60_000,
);

test('RO-40 a pass takes as many statements for six groups as for two', async () => {
  const counts: number[] = [];
  for (const groups of [2, 6]) {
    const fleet: GivenVm[] = [];
    for (let n = 0; n < groups; n += 1) fleet.push(...(await givenRoles(2, `cloud-${groups}-${n}/juju`)));
    await stage.givenRollout(fleet);
    counts.push((await statementsOf(() => stage.passOnce(groups))).length);
    await stage.pass(groups);
    await stage.db.update(rollouts).set({ dueAt: null });
  }
  expect(counts[1]).toBe(counts[0]);
}, 60_000);
