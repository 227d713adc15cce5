import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { allow } from '#server/domain/actor.ts';
import { count, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { lives, participantStates, sides } from '#server/domain/service-rules/words.ts';
import { type GetUnitInput, getUnitInput } from '../input.ts';
import { isMemberSql } from '../relations/index.ts';
import { findModelUnit } from '../runs/shown-run.ts';

/** A relation as a unit sees it. */
const unitRelation = z.object({
  number: count,
  id: count,
  name: z.string().describe('The name in the unit’s formula.'),
  interface: z.string(),
  side: z.enum(sides),
  life: z.enum(lives),
  state: z.enum(participantStates).describe('Whether the unit takes part, leaves, or has left.'),
  service: z.string().describe('The service on the other side; the unit’s own service for peers.'),
  members: count.describe('Number of units of the other side.'),
  behind: count.describe('Number of members whose current settings the unit has not confirmed.'),
  failing: z.string().nullable().describe('The hook of the relation that fails; null if none does.'),
  version: count.describe('The version of the unit’s own settings.'),
  writtenAt: time,
});
export type UnitRelationView = z.infer<typeof unitRelation>;

interface Row extends Record<string, unknown>, Omit<UnitRelationView, 'id' | 'writtenAt'> {
  id: string;
  writtenAt: string;
}

/** Lists the relations in which a unit takes part, by number. Throws 404 `unit_unknown`. */
export async function listUnitRelations(ctx: Context, input: GetUnitInput): Promise<{ items: UnitRelationView[] }> {
  allow(ctx.actor, 'viewer');
  const { id } = await findModelUnit(ctx.db, parse(getUnitInput, input));
  const { rows } = await ctx.db.execute<Row>(sql`
    select r.number, r.id, own.name, r.interface, p.side, r.life, p.state, s.name as service, c.members, c.behind,
        u.failing -> r.id::text ->> 'hook' as failing, p.version, to_json(p.written_at) as "writtenAt"
      from relation_units p
      join units u on u.id = p.unit_id
      join relations r on r.id = p.relation_id
      join relation_endpoints own on own.relation_id = r.id and own.side = p.side
      join relation_endpoints other on other.relation_id = r.id and (p.side = 'peer' or other.side <> p.side)
      join services s on s.id = other.service_id
      cross join lateral (
        select count(*)::int as members, count(*) filter (where seen.version is distinct from m.version)::int as behind
          from relation_units m
          left join relation_seen seen on seen.relation_id = m.relation_id and seen.unit_id = p.unit_id
            and seen.remote_unit_id = m.unit_id
         where ${isMemberSql}
      ) c
     where p.unit_id = ${id} and r.removed_at is null
     order by r.number`);
  return {
    items: rows.map((row) => ({ ...row, id: Number(row.id), writtenAt: new Date(row.writtenAt).toISOString() })),
  };
}
