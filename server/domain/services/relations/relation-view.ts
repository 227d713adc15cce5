import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database, Transaction } from '#db/client.ts';
import { allow } from '#server/domain/actor.ts';
import { count, isoOrNull, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { lives, sides } from '#server/domain/service-rules/words.ts';
import { readModel } from '#server/domain/topology/index.ts';
import type { RelationRow } from './create-relation.ts';
import { findRelation } from './find-relation.ts';
import { type GetRelationInput, getRelationInput, type ListRelationsInput, listRelationsInput } from './input.ts';

/** The states of a relation. */
const relationStates = ['settled', 'behind', 'failing', 'ending', 'ended'] as const;

/** A relation as the API returns it. */
export const relation = z
  .object({
    number: z.number().int(),
    id: z.number().int().describe('The id that agents and hooks use, such as 3 in `db:3`.'),
    interface: z.string(),
    life: z.enum(lives),
    state: z
      .enum(relationStates)
      .describe(
        '`failing`: a hook of the relation fails. `behind`: a unit has not confirmed the current settings of a member. `ending`: units run their last hooks for the relation.',
      ),
    endpoints: z.array(z.object({ side: z.enum(sides), service: z.string(), name: z.string() })),
    units: count.describe('Number of units that take part.'),
    behind: count.describe('Number of units that have not confirmed the current settings of some member.'),
    failing: count.describe('Number of units whose hook of this relation fails.'),
    clock: count.describe('Increases with every join, change and departure.'),
    busy: z
      .boolean()
      .describe('Whether the relation changed more than 60 times within a minute. Agents then learn of changes later.'),
    movedAt: time,
    createdAt: time,
    createdBy: z.string(),
    endingSince: time.nullable(),
    endedAt: time.nullable(),
  })
  .meta({ id: 'Relation' });
export type Relation = z.infer<typeof relation>;

/** Lists the relations of a model that have not ended, by number. Throws 404 `model_unknown`. */
export async function listRelations(ctx: Context, input: ListRelationsInput): Promise<{ items: Relation[] }> {
  allow(ctx.actor, 'viewer');
  const { model: name } = parse(listRelationsInput, input);
  const { id } = await readModel(ctx.db, name);
  return { items: await readRelations(ctx, sql`r.model_id = ${id} and r.removed_at is null`) };
}

/** Reads one relation, even one that has ended. Throws 404 `model_unknown` | `relation_unknown`. */
export async function getRelation(ctx: Context, input: GetRelationInput): Promise<Relation> {
  allow(ctx.actor, 'viewer');
  const { model: name, number } = parse(getRelationInput, input);
  const model = await readModel(ctx.db, name);
  return showRelation(ctx, await findRelation(ctx.db, model.id, number));
}

/** Returns a relation as the API shows it. */
export async function showRelation(
  ctx: { db: Database | Transaction; now: Date },
  { id }: Pick<RelationRow, 'id'>,
): Promise<Relation> {
  const [shown] = await readRelations(ctx, sql`r.id = ${id}`);
  if (shown === undefined) throw new Error('the relation was not read');
  return shown;
}

/** SQL: whether `m` is a member that the unit `p` of the same relation sees. */
export const isMemberSql = sql.raw(
  `m.relation_id = p.relation_id and m.unit_id <> p.unit_id and (p.side = 'peer' or m.side <> p.side) and m.state = 'in'`,
);

interface Row extends Record<string, unknown> {
  row: {
    id: number;
    number: number;
    interface: string;
    life: Relation['life'];
    clock: number;
  } & Record<'moved_at' | 'created_at' | 'created_by', string> &
    Record<'dying_at' | 'removed_at', string | null>;
  endpoints: Relation['endpoints'];
  units: number;
  behind: number;
  failing: number;
  busy: boolean;
}

async function readRelations(
  { db, now }: { db: Database | Transaction; now: Date },
  condition: SQL,
): Promise<Relation[]> {
  const { rows } = await db.execute<Row>(sql`
    select to_json(r) as row, e.list as endpoints, c.units, c.behind, c.failing,
      exists (select from relation_log l where l.relation_id = r.id and l.clock = r.clock - 60
        and l.at > ${now.toISOString()}::timestamptz - interval '1 minute') as busy
      from relations r
      cross join lateral (
        select json_agg(json_build_object('side', n.side, 'service', s.name, 'name', n.name) order by n.side desc) as list
          from relation_endpoints n join services s on s.id = n.service_id where n.relation_id = r.id
      ) e
      cross join lateral (
        select count(*)::int as units, count(*) filter (where u.failing ? p.relation_id::text)::int as failing,
          count(*) filter (where exists (
            select from relation_units m
              left join relation_seen s on s.relation_id = m.relation_id and s.unit_id = p.unit_id
                and s.remote_unit_id = m.unit_id
             where ${isMemberSql} and s.version is distinct from m.version))::int as behind
          from relation_units p join units u on u.id = p.unit_id where p.relation_id = r.id and p.state = 'in'
      ) c
     where ${condition} order by r.number`);
  return rows.map(({ row, ...counts }) => ({
    ...{ number: row.number, id: row.id, interface: row.interface, life: row.life, clock: row.clock, ...counts },
    state: stateOf(row, counts),
    ...{ movedAt: iso(row.moved_at), createdAt: iso(row.created_at), createdBy: row.created_by },
    endingSince: isoOrNull(dateOf(row.dying_at)),
    endedAt: isoOrNull(dateOf(row.removed_at)),
  }));
}

const iso = (text: string): string => new Date(text).toISOString();
const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text));

function stateOf(
  { life, removed_at }: Row['row'],
  { failing, behind }: Pick<Row, 'failing' | 'behind'>,
): Relation['state'] {
  if (removed_at !== null) return 'ended';
  if (failing > 0) return 'failing';
  if (life === 'dying') return 'ending';
  return behind > 0 ? 'behind' : 'settled';
}
