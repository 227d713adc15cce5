import { desc, sql } from 'drizzle-orm';
import { negotiate } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type HookRun, runOf, selectRuns } from '#server/domain/services/index.ts';
import { readModel } from '#server/domain/topology/index.ts';
import { type RecentRunsInput, recentRunsInput } from '../input.ts';
import { readHookReasons, runsSql } from './read-hook-reasons.ts';
import type { HookReasonText } from './service-state.ts';

/** A run of a hook, with its reason in the reader's language. */
export interface RecentRun extends Omit<HookRun, 'reason'> {
  reason: HookReasonText | null;
}

/**
 * Lists the latest runs of hooks in a model, or of one service, newest first. Reads only the latest runs of each unit.
 * Throws 404 `model_unknown` | `service_unknown`.
 */
export async function listRecentRuns(ctx: Context, input: RecentRunsInput): Promise<{ items: RecentRun[] }> {
  allow(ctx.actor, 'viewer');
  const { model: name, service, limit, ...reader } = parse(recentRunsInput, input);
  const { id: modelId } = await readModel(ctx.db, name);
  return ctx.db.transaction(async (tx) => {
    const { rows: found } = await tx.execute<{ id: string; formula: string }>(sql`
      select s.id, s.formula from services s
       where s.model_id = ${modelId} and s.removed_at is null and (${service ?? null}::text is null or s.name = ${service ?? null})`);
    if (service !== undefined && found.length === 0) {
      throw new DomainError('not_found', 'service_unknown', { params: { name: service } });
    }
    const { rows: newest } = await tx.execute<{ vmId: string; run: string; formula: string }>(sql`
      select u.vm_id as "vmId", r.id as run, s.formula from services s join units u on u.service_id = s.id
        cross join lateral (
          select h.id, h.begun_at from hook_runs h where h.vm_id = u.vm_id and h.unit_id = u.id
           order by h.number desc limit ${limit}) r
       where s.id = any(${sql.param(found.map(({ id }) => id))}::uuid[])
       order by r.begun_at desc limit ${limit}`);
    if (newest.length === 0) return { items: [] };
    const runs = await selectRuns(tx).where(runsSql(newest)).orderBy(desc(sql`hook_runs.begun_at`));
    const reasons = await readHookReasons(tx, newest, negotiate(reader));
    return { items: runs.map((run) => ({ ...runOf(run), reason: reasons.get(run.run.id) ?? null })) };
  });
}
