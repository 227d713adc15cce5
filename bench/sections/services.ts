import { vmIdOf } from '../executions/bench-plan.ts';
import { flushes } from '../services/flushes.ts';
import { looks } from '../services/looks.ts';
import { modelPage } from '../services/model-page.ts';
import { notifiedPolls } from '../services/notified-polls.ts';
import { unitRows } from '../services/unit-rows.ts';
import { World } from '../services/world.ts';
import { callOnce } from './held.ts';
import type { Bench, Figure } from './section.ts';

/** Number of VMs with units, if the fleet has as many. */
const most = 1_000;

/** Measures units and relations: flushes, what agents hear of them and look at, and the guest side. */
export async function services(bench: Bench): Promise<Figure[]> {
  const { deployment, agents } = bench;
  const client = deployment.services.db.$client;
  const world = await World.create(deployment.services);
  const numbers = new Map<string, number>();
  for (let n = 1; n <= Math.min(most, agents.count); n += 1) numbers.set(await vmIdOf(client, n), n);
  const vmIds = [...numbers.keys()];
  await callOnce(deployment, agents);
  return [
    ...(await flushes(bench, world, vmIds)),
    await notifiedPolls(bench, world, vmIds, numbers),
    ...(await looks(bench, world, vmIds, numbers)),
    ...(await unitRows(bench)),
    await modelPage(bench, world, vmIds),
  ];
}
