import { and, desc, sql } from 'drizzle-orm';
import { auditEntries, type Door } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type ActivityFilterInput, activityFilter } from '../input.ts';
import { conditionOf, maySeeContents } from './activity-filter.ts';
import { columns } from './columns.ts';
import { findTargets } from './find-targets.ts';
import { rowOf } from './list-activity.ts';

/** An entry in an exported file. */
export interface ExportedAct {
  id: number;
  at: string;
  actorKind: string;
  actorId: string;
  actorName: string;
  door: Door | null;
  address: string | null;
  client: string | null;
  action: string;
  targetKind: string;
  targetId: string;
  targetName: string;
  vmId: string | null;
  vmName: string | null;
  requestId: string;
  position: number | null;
  hash: string | null;
  /** Null if absent or hidden from this caller. */
  before: unknown;
  after: unknown;
}

/** Number of entries per chunk. Only one chunk is in memory at a time. */
const atOnce = 500;

/** Yields all matching entries in chunks, newest first. The first chunk is yielded even if nothing matches. */
export async function* readActivity(ctx: Context, input: ActivityFilterInput): AsyncGenerator<ExportedAct[], void> {
  allow(ctx.actor, 'viewer');
  const filter = parse(activityFilter, input);
  const { before, after, requestId, position, hash } = auditEntries;
  const matches = await conditionOf(ctx, filter);
  let last: { at: Date; id: number } | undefined;
  do {
    const rows = await ctx.db
      .select({ ...columns, before, after, requestId, position, hash })
      .from(auditEntries)
      .where(
        and(
          matches,
          last &&
            sql`(${auditEntries.at}, ${auditEntries.id}) < (${last.at.toISOString()}::timestamptz, ${last.id}::bigint)`,
        ),
      )
      .orderBy(desc(auditEntries.at), desc(auditEntries.id))
      .limit(atOnce);
    const targets = await findTargets(ctx, rows);
    yield rows.map((row) => {
      const { actor, target, vm, door, address, client } = rowOf(ctx, row, targets);
      const sees = maySeeContents(ctx.actor, row);
      return {
        id: row.id,
        at: row.at.toISOString(),
        actorKind: actor.kind,
        actorId: actor.id,
        actorName: actor.name,
        door,
        address,
        client,
        action: row.action,
        targetKind: target.kind,
        targetId: target.id,
        targetName: target.name,
        vmId: row.vmId,
        vmName: vm?.name ?? null,
        requestId: row.requestId,
        position: row.position,
        hash: row.hash,
        before: sees ? row.before : null,
        after: sees ? row.after : null,
      };
    });
    last = rows.length < atOnce ? undefined : rows.at(-1);
  } while (last !== undefined);
}
