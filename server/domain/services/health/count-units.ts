import { sql } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { units } from '#db/schema/index.ts';
import type { VmHealth } from '#server/domain/verdicts/words.ts';
import { readUnitHealth } from './read-unit-health.ts';

/** Numbers of units by health. A health that no unit has is absent. */
export type UnitCounts = Partial<Record<VmHealth, number>>;

interface Row extends Record<string, unknown> {
  modelId: string;
  /** Null for units that must be evaluated. */
  health: VmHealth | null;
  ids: string[] | null;
  n: number;
}

/**
 * Counts the units of all models by health. What the worker stored about the worst unit of each VM is enough for VMs
 * with one unit and for healthy VMs; only units that share a VM with a unit that is not healthy are evaluated.
 */
export async function countUnits(db: Database, now: Date): Promise<Map<string, UnitCounts>> {
  return db.transaction(
    async (tx) => {
      const { rows } = await tx.execute<Row>(sql`
        with present as (
          select u.id, u.model_id, case
              when c.vm_id is null then case when u.agent_since is null then 'unknown' else 'healthy' end
              when count(*) over (partition by u.vm_id) = 1 then c.health end as health
            from units u left join vm_concerns c on c.vm_id = u.vm_id and c.source = 'units'
           where u.removed_at is null
        )
        select model_id as "modelId", health, count(*)::int as n, array_agg(id) filter (where health is null) as ids
          from present group by 1, 2`);
      const counts = new Map<string, UnitCounts>();
      const add = (modelId: string, health: VmHealth, n: number) => {
        const known = counts.get(modelId) ?? {};
        counts.set(modelId, { ...known, [health]: (known[health] ?? 0) + n });
      };
      const open = rows.flatMap(({ ids }) => ids ?? []);
      for (const { modelId, health, n } of rows) if (health !== null) add(modelId, health, n);
      if (open.length === 0) return counts;
      const among = sql`${units.id} = any(${sql.param(open)}::uuid[])`;
      for (const { unit, health } of await readUnitHealth(tx, among, now)) add(unit.modelId, health, 1);
      return counts;
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  );
}
