import { and, desc, eq, ilike, inArray, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { rollouts } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readCursor, writeCursor } from '#server/domain/cursor.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { endedStates } from '#server/domain/rollout-rules/words.ts';
import type { RolloutRow } from './answers.ts';
import { findNeeding } from './count-needing.ts';
import { type ListRolloutsInput, listRolloutsInput } from './input.ts';
import { readRings } from './rows.ts';
import { readRules } from './rules.ts';
import { rowOf } from './show-rollout.ts';

type Filter = Pick<z.output<typeof listRolloutsInput>, 'state' | 'kind' | 'handler' | 'of' | 'q'>;

const hasEnded = sql<boolean>`${inArray(rollouts.state, [...endedStates])}`;

/** Lists rollouts, newest first. With `sort: 'open'`, those that have not ended come first. Throws 400 `cursor_invalid`. */
export async function listRollouts(
  ctx: Context,
  input: ListRolloutsInput = {},
): Promise<{ items: RolloutRow[]; nextCursor: string | null }> {
  allow(ctx.actor, 'viewer');
  const { sort, limit, cursor, needing = false, ...filter } = parse(listRolloutsInput, input);
  const isOpenFirst = sort === 'open';
  const conditions = conditionsOf(filter);
  if (needing) conditions.push(inArray(rollouts.id, await findNeeding(ctx.db)));
  const rows = await ctx.db
    .select()
    .from(rollouts)
    .where(and(...conditions, cursor === undefined ? undefined : afterRow(cursor, isOpenFirst)))
    .orderBy(...(isOpenFirst ? [hasEnded] : []), desc(rollouts.createdAt), desc(rollouts.id))
    .limit(limit + 1);
  const shown = rows.slice(0, limit);
  const [rings, { rules }] = await Promise.all([
    readRings(
      ctx.db,
      shown.map(({ id }) => id),
    ),
    readRules(ctx.db),
  ]);
  const last = shown.at(-1);
  return {
    items: shown.map((row) => rowOf(row, rings.get(row.id) ?? [], rules)),
    nextCursor: rows.length > limit && last ? cursorOf(last) : null,
  };
}

function conditionsOf({ state = [], kind = [], handler, of, q }: Filter): (SQL | undefined)[] {
  return [
    state.length === 0 ? undefined : inArray(rollouts.state, state),
    kind.length === 0 ? undefined : inArray(rollouts.kind, kind),
    handler === undefined ? undefined : eq(rollouts.handler, handler),
    of === undefined ? undefined : eq(rollouts.of, of),
    q === undefined ? undefined : ilike(rollouts.name, `%${q.replaceAll(/[\\%_]/g, '\\$&')}%`),
  ];
}

function cursorOf({ id, state, createdAt }: typeof rollouts.$inferSelect): string {
  const ended: readonly string[] = endedStates;
  return writeCursor([ended.includes(state) ? '1' : '0', createdAt.toISOString(), id]);
}

function afterRow(cursor: string, isOpenFirst: boolean): SQL {
  const [ended, at = '', id = ''] = readCursor(cursor, 3);
  if (!isInstant(at) || !z.uuid().safeParse(id).success) {
    throw new DomainError('bad_request', 'cursor_invalid');
  }
  const older = sql`(${rollouts.createdAt}, ${rollouts.id}) < (${at}::timestamptz, ${id}::uuid)`;
  if (!isOpenFirst) return older;
  const wasEnded = sql`${ended === '1'}::boolean`;
  return sql`(${hasEnded} > ${wasEnded} or (${hasEnded} = ${wasEnded} and ${older}))`;
}

/** Whether this is a time as cursors contain it. `Date` accepts times that PostgreSQL does not. */
const isInstant = (text: string): boolean =>
  /^[1-9]\d{3}-/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text;
