import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { isSecretKey } from '#protocol/secret-keys.ts';
import { allow, hasRole } from '#server/domain/actor.ts';
import { count, pageOf, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { readCursor, writeCursor } from '#server/domain/cursor.ts';
import { DomainError } from '#server/domain/error.ts';
import { fitList } from '#server/domain/list-bytes.ts';
import { parse } from '#server/domain/parse.ts';
import type { NodeDelta } from '#server/domain/service-rules/stored.ts';
import { relationEventKinds } from '#server/domain/service-rules/words.ts';
import { readModel } from '#server/domain/topology/index.ts';
import { findRelation, maskedKeys } from './find-relation.ts';
import { type RelationLogInput, relationLogInput } from './input.ts';
import { type NodeRef, openValue, valueBytes } from './sealed-node.ts';

const value = z.object({
  bytes: count,
  value: z.string().nullable().describe('The JSON text; null if it is masked, or the caller may not read values.'),
});

/** One event of a relation. */
const relationEvent = z.object({
  clock: count,
  at: time,
  unit: z.string(),
  kind: z.enum(relationEventKinds),
  version: count.describe('The version of the unit’s settings after the event.'),
  run: z
    .object({ vmId: z.string(), id: z.string(), hook: z.string(), number: count })
    .nullable()
    .describe('The run of the hook that caused the event.'),
  changes: z.array(
    z.object({
      key: z.string(),
      masked: z.boolean(),
      before: value.nullable().describe('Null if the key was added.'),
      after: value.nullable().describe('Null if the key was removed.'),
    }),
  ),
});
type RelationEvent = z.infer<typeof relationEvent>;

export const relationEvents = pageOf(relationEvent).meta({ id: 'RelationEvents' });

interface Row extends Record<string, unknown> {
  clock: string;
  at: string;
  unitId: string;
  unit: string;
  kind: RelationEvent['kind'];
  version: number;
  delta: NodeDelta;
  run: RelationEvent['run'];
}

/**
 * Lists the events of a relation, newest first. Only operators see values, except those of masked keys. Throws
 * 400 `cursor_invalid`, 404 `model_unknown` | `relation_unknown`.
 */
export async function listRelationEvents(
  ctx: Context,
  input: RelationLogInput,
): Promise<z.infer<typeof relationEvents>> {
  allow(ctx.actor, 'viewer');
  const { model: name, number, cursor, limit } = parse(relationLogInput, input);
  const model = await readModel(ctx.db, name);
  const { id: relationId } = await findRelation(ctx.db, model.id, number);
  const masked = await maskedKeys(ctx.db, relationId);
  const before = cursor === undefined ? null : readClock(cursor);
  const { rows } = await ctx.db.execute<Row>(sql`
    select l.clock, l.at, l.unit_id as "unitId", u.name as unit, l.kind, l.version, l.delta,
      case when r.id is null then null
        else json_build_object('vmId', r.vm_id, 'id', r.id, 'hook', r.hook, 'number', r.number) end as run
      from relation_log l join units u on u.id = l.unit_id
      left join hook_runs r on r.vm_id = l.run_vm and r.id = l.run_id
     where l.relation_id = ${relationId} and (${before}::bigint is null or l.clock < ${before}::bigint)
     order by l.clock desc limit ${limit + 1}`);
  const isOpen = (key: string) => hasRole(ctx.actor, 'operator') && !isSecretKey(key, masked);
  const events = rows.slice(0, limit).map(({ unitId, delta, ...row }): RelationEvent => {
    const show = (key: string, sealed: string | null) =>
      sealed === null ? null : shownValue(ctx, { relationId, unitId }, key, sealed, isOpen(key));
    const changes = Object.entries(delta)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, [was, is]]) => ({
        ...{ key, masked: isSecretKey(key, masked), before: show(key, was), after: show(key, is) },
      }));
    return { ...row, clock: Number(row.clock), at: new Date(row.at).toISOString(), changes };
  });
  const { kept } = fitList(events);
  const last = kept.at(-1);
  const hasMore = last !== undefined && (kept.length < events.length || rows.length > limit);
  return { items: kept, nextCursor: hasMore ? writeCursor([String(last.clock)]) : null };
}

function shownValue({ keys }: Pick<Context, 'keys'>, node: NodeRef, key: string, sealed: string, isOpen: boolean) {
  return { bytes: valueBytes(sealed), value: isOpen ? openValue(keys, node, key, sealed) : null };
}

function readClock(cursor: string): string {
  const [clock = ''] = readCursor(cursor, 1);
  if (!/^\d{1,15}$/.test(clock)) throw new DomainError('bad_request', 'cursor_invalid');
  return clock;
}
