import { and, desc, eq, gte, isNull, lt, or } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { hookRuns, models, units } from '#db/schema/index.ts';
import type { RunOutcome } from '#server/domain/service-rules/words.ts';

/** A period in which a machine ran a hook of a unit. */
export interface HookSpan {
  from: string;
  /** Null if the hook still runs. */
  to: string | null;
  outcome: RunOutcome;
  model: string;
  unit: string;
  hook: string;
  /** The id of the run. */
  run: string;
  /** Number of merged runs. If it is above 1, the other fields are those of the run with the worst outcome. */
  count: number;
}

/** A run of a hook, with its times. */
export interface HookTimes extends Pick<HookSpan, 'outcome' | 'model' | 'unit' | 'hook' | 'run'> {
  begunAt: Date;
  endedAt: Date | null;
}

/** From the worst outcome to the best. */
const worstFirst: readonly RunOutcome[] = [
  ...(['failed', 'timed-out', 'refused', 'interrupted', 'skipped', 'succeeded', 'running'] as const),
];

/**
 * Returns the spans of one lane of the timeline, oldest first. To limit the number of spans, runs that together are
 * shorter than `slotMs` are merged. A run that has not ended is never merged, so that it is always shown.
 */
export function hookSpansOf(runs: readonly HookTimes[], slotMs: number): HookSpan[] {
  const spans: HookSpan[] = [];
  for (const { begunAt, endedAt, ...run } of runs.toSorted((a, b) => a.begunAt.getTime() - b.begunAt.getTime())) {
    const span = { ...run, from: begunAt.toISOString(), to: endedAt?.toISOString() ?? null, count: 1 };
    const last = spans.at(-1);
    const isNear = last !== undefined && endedAt !== null && endedAt.getTime() - Date.parse(last.from) < slotMs;
    if (!isNear || last.to === null) {
      spans.push(span);
      continue;
    }
    const { from, count } = last;
    const to = last.to > (span.to ?? '') ? last.to : span.to;
    const isWorse = worstFirst.indexOf(span.outcome) < worstFirst.indexOf(last.outcome);
    Object.assign(last, isWorse ? span : {}, { from, to, count: count + 1 });
  }
  return spans;
}

/** Reads the runs of hooks on a VM between two times, at most `limit`, newest first. */
export async function loadHookTimes(
  tx: Transaction,
  { vmId, from, to }: { vmId: string; from: Date; to: Date },
  limit: number,
): Promise<HookTimes[]> {
  const { begunAt, endedAt, outcome, hook, id: run } = hookRuns;
  return tx
    .select({ run, hook, outcome, begunAt, endedAt, unit: units.name, model: models.name })
    .from(hookRuns)
    .innerJoin(units, eq(units.id, hookRuns.unitId))
    .innerJoin(models, eq(models.id, units.modelId))
    .where(and(eq(hookRuns.vmId, vmId), lt(begunAt, to), or(isNull(endedAt), gte(endedAt, from))))
    .orderBy(desc(begunAt))
    .limit(limit);
}
