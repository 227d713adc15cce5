import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { isUnitName } from '#protocol/unit-names.ts';
import { allow } from '#server/domain/actor.ts';
import { count, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { readModel } from '#server/domain/topology/index.ts';
import { findRelation } from './find-relation.ts';
import { getRelationInput } from './input.ts';
import { isMemberSql } from './relation-view.ts';

const listSeenInput = getRelationInput.extend({ unit: z.string().refine(isUnitName, 'unit_name_form') });
export type ListSeenInput = z.input<typeof listSeenInput>;

/** Why a unit has not confirmed a version. */
const reasons = ['running', 'failing', 'silent', 'waiting'] as const;

/** Who has confirmed the settings of one unit. */
export const nodeReaders = z
  .object({
    unit: z.string(),
    version: count,
    readers: z.array(
      z.object({
        unit: z.string(),
        version: count.nullable().describe('The version that the unit confirmed last; null if it confirmed none.'),
        at: time.nullable(),
        confirmed: z.boolean().describe('Whether the unit confirmed the current version.'),
        why: z
          .enum(reasons)
          .nullable()
          .describe(
            'Why not: its hook runs, a hook of this relation fails, its agent does not respond, or the hook waits for its turn.',
          ),
      }),
    ),
  })
  .meta({ id: 'NodeReaders' });
export type NodeReaders = z.infer<typeof nodeReaders>;

/**
 * Lists the units that read the settings of a unit, with the version that each confirmed, and why one is behind
 * (EN-73). Throws 404 `model_unknown` | `relation_unknown` | `node_unknown`.
 */
export async function listSeen(ctx: Context, input: ListSeenInput): Promise<NodeReaders> {
  allow(ctx.actor, 'viewer');
  const { model: name, number, unit } = parse(listSeenInput, input);
  const model = await readModel(ctx.db, name);
  const { id } = await findRelation(ctx.db, model.id, number);
  const { rows } = await ctx.db.execute<{ version: number; readers: NodeReaders['readers'] | null }>(sql`
    select m.version, (
      select json_agg(json_build_object('unit', u.name, 'version', s.version, 'at', s.at,
          'confirmed', s.version is not distinct from m.version,
          'why', case when s.version is not distinct from m.version then null
            when exists (select from hook_runs r where r.vm_id = u.vm_id and r.unit_id = u.id and r.outcome = 'running'
              and r.relation_id = p.relation_id and r.remote_unit_id = m.unit_id) then 'running'
            when u.failing ? p.relation_id::text then 'failing'
            when h.health = 'unresponsive' then 'silent'
            else 'waiting' end) order by u.service_id, u.number)
        from relation_units p join units u on u.id = p.unit_id
        left join relation_seen s on s.relation_id = p.relation_id and s.unit_id = p.unit_id
          and s.remote_unit_id = m.unit_id
        left join vm_health h on h.vm_id = u.vm_id
       where p.relation_id = m.relation_id and ${isMemberSql} and p.state = 'in') as readers
      from relation_units m join units o on o.id = m.unit_id
     where m.relation_id = ${id} and o.name = ${unit} and m.state = 'in'`);
  const [row] = rows;
  if (row === undefined) throw new DomainError('not_found', 'node_unknown');
  const readers = (row.readers ?? []).map((one) => ({
    ...one,
    at: one.at === null ? null : new Date(one.at).toISOString(),
  }));
  return { unit, version: row.version, readers };
}
