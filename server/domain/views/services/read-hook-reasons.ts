import { type SQL, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { hookRuns } from '#db/schema/index.ts';
import { cutText, type WantedLanguage } from '#protocol/index.ts';
import { findMessages, localizeMessage } from '#server/domain/localization/index.ts';
import type { HookReasonText } from './service-state.ts';

/** A run whose reason is wanted, with the formula that has the texts. */
export interface FailedRun {
  vmId: string;
  run: string;
  formula: string;
}

/** SQL for these runs, in a query on `hook_runs`. An id alone names no run, and agents choose it. */
export const runsSql = (runs: readonly Pick<FailedRun, 'vmId' | 'run'>[]): SQL => sql`
  (hook_runs.vm_id, hook_runs.id) in (select * from unnest(${sql.param(runs.map(({ vmId }) => vmId))}::uuid[],
    ${sql.param(runs.map(({ run }) => run))}::uuid[]))`;

/** Maximum UTF-8 bytes of a reason. */
const maxReasonBytes = 1_024;

/**
 * Reads why runs failed, in the reader's language, by run. A run without a message has no reason. Runs two statements
 * for any number of runs.
 */
export async function readHookReasons(
  tx: Transaction,
  failed: readonly FailedRun[],
  wanted: readonly WantedLanguage[],
): Promise<Map<string, HookReasonText>> {
  if (failed.length === 0) return new Map();
  const formulaOf = new Map(failed.map(({ run, formula }) => [run, formula]));
  const rows = await tx
    .select({ run: hookRuns.id, version: hookRuns.formulaVersion, reason: hookRuns.reason })
    .from(hookRuns)
    .where(runsSql(failed));
  const runs = rows.flatMap(({ run, version, reason }) => {
    const handler = formulaOf.get(run);
    return reason === null || handler === undefined ? [] : [{ run, handler, version, reason }];
  });
  const byVersion = Map.groupBy(runs, ({ handler, version }) => `${handler}-${version}`);
  const requested = [...byVersion.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ ...first, ids: [...new Set(group.map(({ reason }) => reason.id))] }];
  });
  const resources = await findMessages(tx, requested, wanted);
  const reasons = runs.flatMap(({ run, handler, version, reason: { id, params } }) => {
    const own = resources.get(`${handler}-${version}`) ?? new Map();
    const found = localizeMessage({ message: { id, params: [...params] }, resources: own, wanted });
    const shown = found && { id, text: cutText(found.text, maxReasonBytes), lang: found.lang };
    return shown === null ? [] : [[run, shown] as const];
  });
  return new Map(reasons);
}
