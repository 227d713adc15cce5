import { and, desc, eq } from 'drizzle-orm';
import { rollouts } from '#db/schema/index.ts';
import { holdVm } from '#server/domain/holds/index.ts';
import { publishVersion } from '#server/domain/localization/index.ts';
import { withdrawVersion } from '#server/domain/packages/index.ts';
import { testContext } from '#server/testing/context.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { abortRollout } from '../abort-rollout.ts';
import { startAutomatic } from '../automatic/start-automatic.ts';
import { whyThisVersion } from '../automatic/why-this-version.ts';
import { approveRollout } from '../decide-rollout.ts';
import { findRolloutWork } from '../engine/due.ts';
import { getRollout } from '../get-rollout.ts';
import { checkRollout } from '../planning/check-rollout.ts';
import { findUnplanned, planRollout } from '../planning/plan-rollout.ts';
import type { StoredRollout } from '../rows.ts';
import { setStrategy } from '../strategies.ts';
import { updateRollout } from '../update-rollout.ts';
import { rolloutStage } from './rollout-stage.ts';

/** The handler whose versions the test publishes. */
export const tool = 'Acme.Lab.Tool';

/** A fleet with extensions that are upgraded automatically, whose worker and time the test moves. */
export async function automaticStage() {
  const stage = await rolloutStage();
  const { services, db, at } = stage;
  const publisher = await testContext({ services, role: 'publisher', namespaces: ['Acme.Lab'] });
  await givenVersion(db, { handler: tool, version: '1.0.0.0', reportHeartbeat: false });

  /** Publishes a version as a publisher does. */
  async function publish(version: string, given: Parameters<typeof givenVersion>[1] = {}): Promise<void> {
    await givenVersion(db, { handler: tool, version, reportHeartbeat: false, state: 'draft', ...given });
    await publishVersion(publisher, { handler: tool, version });
  }

  /** Creates VMs with a healthy extension of the handler. */
  async function givenTools(count: number, goal: Parameters<GivenVm['declare']>[1] = {}): Promise<GivenVm[]> {
    const fleet = await stage.givenFleet(count);
    for (const vm of fleet) {
      await vm.declare('tool', { handler: tool, autoUpgradeMinorVersion: true, ...goal });
      await vm.deliver(at(-50));
      await stage.report(vm, -50, { extension: 'tool', version: goal.version ?? '1.0.0.0', sequenceNumber: 1 });
    }
    return fleet;
  }

  /** Lets the worker do all that is due: start automatic rollouts, plan, check, and move rollouts. */
  async function work(seconds: number): Promise<void> {
    for (let n = 0; n < 20; n += 1) {
      const { upgrades, isUnplanned, at: due } = await findRolloutWork(services, { withUpgrades: true });
      for (const upgrade of upgrades) await startAutomatic(services, upgrade, at(seconds));
      for (const { id, state } of await findUnplanned(services)) {
        await (state === 'planning' ? planRollout : checkRollout)(services, id, at(seconds));
      }
      await stage.pass(seconds);
      if (upgrades.length === 0 && !isUnplanned && (due === null || due > at(seconds))) return;
    }
    throw new Error('the worker does not come to rest');
  }

  /** Returns the automatic rollouts of the handler, the newest first. */
  const automatics = (): Promise<StoredRollout[]> =>
    db
      .select()
      .from(rollouts)
      .where(and(eq(rollouts.kind, 'automatic'), eq(rollouts.handler, tool)))
      .orderBy(desc(rollouts.createdAt), desc(rollouts.id));

  /** Returns the newest automatic rollout. */
  async function automatic(): Promise<StoredRollout> {
    const [row] = await automatics();
    if (row === undefined) throw new Error('there is no automatic rollout');
    return row;
  }

  const reported = (version: string, sequenceNumber: number) => ({ extension: 'tool', version, sequenceNumber });
  /** The agent is healthy with the version, and stays so until the step is decided. */
  async function settle(vm: GivenVm, seconds: number, version: string, sequenceNumber = 2): Promise<void> {
    await stage.succeed(vm, seconds, reported(version, sequenceNumber));
    await stage.look(seconds);
    await stage.look(seconds + 301);
  }
  /** Lets every member of a rollout become healthy, ring by ring. */
  async function finish(id: string, vms: readonly GivenVm[], seconds: number, version: string): Promise<void> {
    for (let n = 0; n <= vms.length; n += 1) {
      const from = seconds + n * 4_000;
      await work(from);
      for (const vm of await stage.vmsIn(id, vms, 'inFlight')) {
        const touched = (await stage.step(id, vm))?.touched[0];
        await settle(vm, from + 1, version, touched?.sequenceNumber);
      }
    }
  }

  const explain = ({ vmId }: GivenVm) => whyThisVersion(stage.operator, { vmId, name: 'tool' });
  /** The requested version and the version in the goal state. */
  async function versionOf(vm: GivenVm): Promise<[string, string]> {
    const { requestedVersion, version } = await explain(vm);
    return [requestedVersion, version];
  }
  /** What keeps the VM from the highest version of its first number. */
  const heldBack = async (vm: GivenVm) => {
    const { candidates } = await explain(vm);
    return candidates.find(({ state, held }) => state === 'published' && held?.code !== 'other-first-number')?.held;
  };

  const admin = await testContext({ services, role: 'admin' });
  const upgradeAtOnce = () => setStrategy(admin, { name: 'at-once', automaticFor: '*' });
  const withdraw = (version: string) => withdrawVersion(publisher, { handler: tool, version, reason: 'defective' });
  const hold = ({ vmId }: GivenVm) => holdVm(stage.operator, { vmId, reason: 'maintenance' });
  const abort = (id: string, seconds: number) => abortRollout(stage.as(seconds), { id });
  const approve = (id: string, plan: string, seconds: number) => approveRollout(stage.as(seconds), { id, plan });
  /** Edits a rollout by changing its definition as the portal returns it. */
  async function edit(id: string, change: object): Promise<string> {
    const { definition, revision } = await getRollout(stage.operator, { id });
    return outcomeOf(updateRollout(stage.operator, { id, revision, definition: { ...definition, ...change } }));
  }
  const upgrades = async () => (await findRolloutWork(services, { withUpgrades: true })).upgrades;
  const start = (version: string, more: Partial<typeof services> = {}) =>
    startAutomatic({ ...services, ...more }, { handler: tool, version }, at(0));
  /** Makes the automatic rollout one of a person that finished, so that the version could be offered again. */
  const forget = (id: string) =>
    db
      .update(rollouts)
      .set({ kind: 'rollout', state: 'finished', endedAt: at(500) })
      .where(eq(rollouts.id, id));

  return {
    ...{ ...stage, publish, withdraw, givenTools, work, automatics, automatic, reported, settle, finish, explain },
    ...{ versionOf, heldBack, upgradeAtOnce, hold, abort, approve, edit, upgrades, start, forget },
  };
}

export type AutomaticStage = Awaited<ReturnType<typeof automaticStage>>;
