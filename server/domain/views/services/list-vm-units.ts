import { negotiate } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { listUnitsOfVm } from '#server/domain/services/index.ts';
import { type VmUnitsInput, vmUnitsInput } from '../input.ts';
import { readHookReasons } from './read-hook-reasons.ts';
import type { HookReasonText } from './service-state.ts';

type VmUnit = Awaited<ReturnType<typeof listUnitsOfVm>>['items'][number];

/** A unit on a VM, with the reason why the hook that is the cause of its health failed, in the reader's language. */
export interface ReadVmUnit extends VmUnit {
  reason: HookReasonText | null;
}

/** Lists the units on a VM by name, each with its hooks that are due and the reason of its failure. */
export async function listVmUnits(ctx: Context, input: VmUnitsInput): Promise<{ items: ReadVmUnit[] }> {
  allow(ctx.actor, 'viewer');
  const { vmId, ...reader } = parse(vmUnitsInput, input);
  const { items } = await listUnitsOfVm(ctx, { vmId });
  const failed = items.flatMap((unit) => {
    const failure = unit.failing.find(({ hook }) => hook === unit.hook);
    return failure === undefined ? [] : [{ unit: unit.unit, vmId, run: failure.run, formula: unit.formula }];
  });
  if (failed.length === 0) return { items: items.map((unit) => ({ ...unit, reason: null })) };
  const reasons = await ctx.db.transaction((tx) => readHookReasons(tx, failed, negotiate(reader)));
  const reasonOf = new Map(failed.map(({ unit, run }) => [unit, reasons.get(run) ?? null]));
  return { items: items.map((unit) => ({ ...unit, reason: reasonOf.get(unit.unit) ?? null })) };
}
