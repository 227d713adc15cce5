import { and, desc, eq } from 'drizzle-orm';
import { rollouts } from '#db/schema/index.ts';
import { publishVersion } from '#server/domain/localization/index.ts';
import { testContext } from '#server/testing/context.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { startAutomatic } from '../automatic/start-automatic.ts';
import { findRolloutWork } from '../engine/due.ts';
import { checkRollout } from '../planning/check-rollout.ts';
import { findUnplanned, planRollout } from '../planning/plan-rollout.ts';
import type { StoredRollout } from '../rows.ts';
import { type RolloutStage, rolloutStage } from './rollout-stage.ts';

/** A handler of its own, whose versions the test publishes. */
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
    await publishVersion(publisher, { handler: given.handler ?? tool, version });
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

  return { ...stage, publish, givenTools, work, automatics, automatic, reported };
}

export type AutomaticStage = Awaited<ReturnType<typeof automaticStage>> & RolloutStage;
