import { listServices } from '#server/domain/services/index.ts';
import { systemContext } from '../executions/bench-plan.ts';
import { alternate, type Bench, type Figure, figureOf, median } from '../sections/section.ts';
import type { World } from './world.ts';

const perRound = 40;
const byHand = `select s.*, c.units from services s
  left join (select service_id, count(*)::int as units from units where removed_at is null group by service_id) c
    on c.service_id = s.id
  where s.model_id = $1 and s.removed_at is null order by s.name`;

/** Measures the list of a model's services: 200 services of 1,000 units in all. */
export async function modelPage(bench: Bench, world: World, vmIds: readonly string[]): Promise<Figure> {
  const count = Math.min(200, vmIds.length);
  await world.client.query(
    `with one as (select * from services where model_id = $1 limit 1), added as (
       insert into services (id, model_id, name, life, formula, formula_version, settings_version, exposed, created_at, created_by)
       select gen_random_uuid(), $1, 'page-s' || n, 'alive', one.formula, one.formula_version, 1, false, now(), 'bench'
         from one, generate_series(1, $2::int) n returning id, name)
     insert into units (id, model_id, service_id, name, number, vm_id, life, turn, formula_version, settings_version, record,
       created_at, created_by)
     select gen_random_uuid(), $1, a.id, a.name || '/' || n, n, $3, 'alive', 1, '1.0.0.0', 1, '{}', now(), 'bench'
       from added a, generate_series(0, 4) n`,
    [world.modelId, count, vmIds[0]],
  );
  await world.client.query('analyze');
  const { services } = bench.deployment;
  const timed = async (act: () => Promise<unknown>): Promise<number> => {
    const taken: number[] = [];
    for (let n = 0; n < perRound; n += 1) {
      const began = performance.now();
      await act();
      taken.push(performance.now() - began);
    }
    return median(taken);
  };
  return figureOf(
    {
      ...{ what: `The services of a model: ${count} with ${5 * count} units, p50`, unit: 'ms' },
      ...{ against: 'the same SQL by hand', target: { kind: 'at most', value: 1.5, of: 'ratio' } },
    },
    await alternate(
      bench.rounds,
      () => timed(() => listServices(systemContext(services), { model: 'bench' })),
      () => timed(() => world.client.query({ name: 'bare-services', text: byHand, values: [world.modelId] })),
    ),
  );
}
