import { beforeAll, expect, test } from 'vitest';
import { agentPresence } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import { getService, readUnitConcerns } from '#server/domain/services/index.ts';
import { ServiceStage } from '#server/domain/services/testing/service-stage.ts';
import { type GivenVm, givenExistingVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { runsLong } from '#server/testing/runs-long.ts';
import { getInstanceView } from '../get-instance-view.ts';
import { heartbeat, status, statusFile } from '../testing/probe.ts';
import { getDeployment } from './get-deployment.ts';

let stage: ServiceStage;
let formula: { formula: string; version: string };

beforeAll(async () => {
  stage = await ServiceStage.open();
  await givenVersion(stage.ctx.db);
  formula = await stage.formula('blog');
});

/** Returns the next number of a sequence that is the same for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed * 7_919;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

/** Lets a machine report something, or an operator change something, at random. */
async function act(ctx: Context, vm: GivenVm, unit: string, random: (below: number) => number): Promise<void> {
  const word = ['success', 'error', 'transitioning', 'warning'][random(4)] ?? 'success';
  const verdict = random(2) === 0 ? 'ready' : 'notready';
  switch (random(5)) {
    case 0: {
      const at = { lastSeenAt: ctx.now, nextExpectedAt: new Date(ctx.now.getTime() + 60_000) };
      const row = { vmId: vm.vmId, ...at };
      await ctx.db.insert(agentPresence).values(row).onConflictDoUpdate({ target: agentPresence.vmId, set: at });
      return;
    }
    case 1:
      await vm.declare('probe', { state: random(4) === 0 ? 'disabled' : 'enabled' });
      return vm.deliver(ctx.now);
    case 2:
      await stage.run({ unit, vmId: vm.vmId }, ['install', 'config-changed', 'start'][random(3)] ?? 'start', random(2));
      return;
    default: {
      await vm.declare('probe');
      await vm.deliver(ctx.now);
      const report = { ...heartbeat(verdict), ...status(statusFile(word)) };
      await ingestReport(await vm.agent(ctx.now), { vmId: vm.vmId, report, receivedAt: ctx.now });
    }
  }
}

test.each(runsLong ? [1, 2, 3] : [1])(
  'JU-45 the view of a deployment and those of its VMs agree, in random state %i',
  async (seed) => {
    const random = numbers(seed);
    const staged = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
    const { newUnits } = await stage.deploy(staged, 'blog', { ...formula, units: 3 });
    const machines = newUnits.flatMap(({ unit, machine }) => (machine === null ? [] : [{ unit, machine }]));
    const cloudService = machines[0]?.machine.cloudService ?? '';
    for (let round = 1; round <= 4; round += 1) {
      const now = new Date(stage.ctx.now.getTime() + round * 45_000);
      const ctx = { ...stage.ctx, now };
      for (const { unit, machine } of machines) {
        const vm = await givenExistingVm(ctx, { vmId: machine.vmId, name: machine.vm });
        await act(ctx, vm, unit, random);
      }
      await foldHealth(ctx, now, { readConcerns: readUnitConcerns });
      const deployment = await getDeployment(ctx, { cloudService, slot: 'production' });
      const { units } = await getService(ctx, { model: staged.model, service: 'blog' });
      expect(deployment.roles).toHaveLength(3);
      for (const role of deployment.roles) {
        const view = await getInstanceView(ctx, { vmId: role.vmId });
        expect([view.health, view.name, view.agent.status]).toEqual([role.health, role.vm, role.agent.status]);
        expect(view.agent.lastSeenAt).toBe(role.agent.lastSeenAt);
        expect(view.extensions.map(({ name }) => name).sort()).toEqual(role.extensions.map(({ name }) => name).sort());
        expect(view.extensions).toMatchObject(role.extensions);
        expect(role.units).toMatchObject(
          units
            .filter(({ vmId }) => vmId === role.vmId)
            .map(({ unit, stage: at, health, cause }) => ({ unit, stage: at, health, cause })),
        );
      }
    }
  },
);
