import type pg from 'pg';
import { listExecutions } from '#server/domain/executions/index.ts';
import { alternate, type Bench, type Figure, figureOf, median } from '../sections/section.ts';
import { planSha256, systemContext, vmIdOf } from './bench-plan.ts';

const manyPast = 50_000;
const fewPast = 50;
const listsPerRound = 40;

/** Measures the first page of a VM's executions: with many past executions, against a few. */
export async function lists({ deployment, rounds }: Bench): Promise<Figure> {
  const client = deployment.services.db.$client;
  const [many, few] = [await givenPast(client, 1, manyPast), await givenPast(client, 2, fewPast)];
  await client.query('vacuum analyze executions');
  const ctx = systemContext(deployment.services);
  const measure = async (vmId: string): Promise<number> => {
    const taken: number[] = [];
    for (let n = 0; n < listsPerRound; n += 1) {
      const began = performance.now();
      await listExecutions(ctx, { vmId, limit: 50 });
      taken.push(performance.now() - began);
    }
    return median(taken);
  };
  const measured = await alternate(
    rounds,
    () => measure(many),
    () => measure(few),
  );
  return figureOf(
    {
      what: `First page of a VM with ${manyPast} past executions, p50`,
      unit: 'ms',
      against: `with ${fewPast}`,
      target: { kind: 'at most', value: 1.5, of: 'ratio' },
    },
    measured,
  );
}

/** Gives the n-th VM this many past executions. Returns the id of the VM. */
async function givenPast(client: pg.Pool, n: number, count: number): Promise<string> {
  const vmId = await vmIdOf(client, n);
  await client.query('delete from executions where vm_id = $1', [vmId]);
  await client.query(
    `insert into executions (vm_id, id, plan_id, stamp, turn, state, name, version, plan_sha256, channel, queued_at,
       queued_by, valid_until, timeout_seconds, concluded_at, error_code)
     select $1, p.id, p.id, n, n, 'succeeded', 'Bench', '', $2, 'https', now(), 'bench', now(), 3600, now(), 0
       from generate_series(1, $3::int) n, lateral (select gen_random_uuid() as id, n as of_n) p`,
    [vmId, planSha256, count],
  );
  return vmId;
}
