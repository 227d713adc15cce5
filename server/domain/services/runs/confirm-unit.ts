import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { units } from '#db/schema/index.ts';
import { confirmHook } from '#protocol/confirm-hook.ts';
import { unitLimits } from '#protocol/unit-state.ts';
import type { Context } from '#server/domain/context.ts';
import type { FailingHook, SkippedHook } from '#server/domain/service-rules/stored.ts';
import { enterRelations } from '../relations/index.ts';
import type { UnitRow } from './find-unit.ts';
import { hookKind } from './hook-kind.ts';

/** A hook that ended with 0, or that counts as done. */
export interface ConfirmedRun {
  hook: string;
  relationId: number | null;
  formula: string;
  /** The version of the service's settings that `config-changed` confirms. */
  settings: number;
  /** The public address that `config-changed` confirms. */
  address?: string | null | undefined;
  run: { vmId: string; id: string } | null;
  /** Set if an operator or a removal skipped the hook after failures. */
  skippedBy?: string;
}

/** Returns the part of `failing` that a hook belongs to. */
export const slotOfRun = (relationId: number | null): string => (relationId === null ? 'unit' : String(relationId));

/** Returns the record of a unit after a confirmed hook. */
export function confirmed(unit: UnitRow, hook: ConfirmedRun, now: Date): UnitRow {
  const { [slotOfRun(hook.relationId)]: failure, ...failing } = unit.failing;
  const kind = hookKind(hook.hook);
  const { address } = hook;
  const due = {
    ...{ kind, hook: hook.hook, formula: hook.formula, settings: hook.settings },
    ...(address !== undefined && { address }),
  };
  const {
    relations: _,
    failing: __,
    skipped: ___,
    ...record
  } = kind === null || hook.relationId !== null
    ? { ...unit.record, relations: {}, failing: {}, skipped: [] }
    : confirmHook(
        { ...unit.record, relations: {}, failing: {}, skipped: [] },
        { ...due, kind, because: 'new-unit', hasFile: true },
      );
  const others = unit.skipped.filter((mark) => mark.hook !== hook.hook);
  const mark: SkippedHook[] =
    hook.skippedBy === undefined
      ? []
      : [{ hook: hook.hook, formula: hook.formula, at: now.toISOString(), by: hook.skippedBy }];
  const enteredAt = kind === 'start' ? (unit.enteredAt ?? now) : unit.enteredAt;
  const resolutions = unit.resolutions.filter(({ run }) => run !== failure?.run);
  return { ...unit, record, failing, skipped: [...others, ...mark].slice(-unitLimits.hooks), enteredAt, resolutions };
}

/** Returns the record of a unit after a failed attempt of a hook. */
export function failed(
  unit: UnitRow,
  relationId: number | null,
  failure: Omit<FailingHook, 'since'>,
  now: Date,
): UnitRow {
  const before = unit.failing[slotOfRun(relationId)];
  const goesOn = before?.hook === failure.hook && before.remoteUnit === failure.remoteUnit && failure.failures > 1;
  const since = goesOn ? before.since : now.toISOString();
  return { ...unit, failing: { ...unit.failing, [slotOfRun(relationId)]: { ...failure, since } } };
}

/**
 * Stores the new record of a unit. A unit whose `start` ended for the first time enters its relations (EN-34).
 */
export async function storeUnit(
  tx: Transaction,
  ctx: Context,
  { before, after, run }: { before: UnitRow; after: UnitRow; run: ConfirmedRun['run'] },
): Promise<void> {
  const { record, failing, skipped, enteredAt, resolutions } = after;
  await tx.update(units).set({ record, failing, skipped, enteredAt, resolutions }).where(eq(units.id, after.id));
  if (before.enteredAt !== null || after.enteredAt === null || after.life === 'dying') return;
  await enterRelations(tx, ctx, after.id, run);
}
