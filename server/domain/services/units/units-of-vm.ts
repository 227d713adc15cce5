import { and, eq, isNull } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { hookRuns, models, units } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { type DueHookView, dueOf } from '../runs/get-due.ts';
import { readUnitWork } from '../runs/read-due.ts';
import { readUnitViews, type UnitView } from './unit-view.ts';

const unitsOfVmInput = z.object({ vmId });

/** A unit on a VM, with its model, the hook that runs, and the hooks that are due. */
export interface VmUnit extends UnitView {
  model: string;
  /** The unit’s place in the order of the VM’s work. */
  turn: number;
  running: { run: string; hook: string; remoteUnit: string | null; begunAt: string; timeoutSeconds: number } | null;
  due: DueHookView[];
}

/** Lists the units on a VM by name, with the hooks that are due in the order in which they run. */
export async function listUnitsOfVm(ctx: Context, input: z.input<typeof unitsOfVmInput>): Promise<{ items: VmUnit[] }> {
  allow(ctx.actor, 'viewer');
  const parsed = parse(unitsOfVmInput, input);
  const ofVm = and(eq(units.vmId, parsed.vmId), isNull(units.removedAt));
  const views = await readUnitViews(ctx, ofVm);
  if (views.length === 0) return { items: [] };
  const rows = await ctx.db
    .select({ unit: units.name, turn: units.turn, model: models.name, run: hookRuns, remoteUnit: remote.name })
    .from(units)
    .innerJoin(models, eq(models.id, units.modelId))
    .leftJoin(hookRuns, and(eq(hookRuns.vmId, units.vmId), eq(hookRuns.unitId, units.id), isRunning))
    .leftJoin(remote, eq(remote.id, hookRuns.remoteUnitId))
    .where(ofVm);
  const facts = new Map(rows.map((row) => [row.unit, row]));
  const work = await ctx.db.transaction((tx) => readUnitWork(tx, eq(units.vmId, parsed.vmId)), {
    ...{ isolationLevel: 'repeatable read', accessMode: 'read only' },
  });
  const due = new Map(work.map((one) => [one.unit.name, dueOf(one)]));
  const items = views.map((view): VmUnit => {
    const { model = '', turn = 0, run = null, remoteUnit = null } = facts.get(view.unit) ?? {};
    const running = run && {
      ...{ run: run.id, hook: run.hook, remoteUnit, begunAt: run.begunAt.toISOString() },
      timeoutSeconds: run.timeoutSeconds,
    };
    return { ...view, model, turn, running, due: due.get(view.unit) ?? [] };
  });
  return { items };
}

const remote = alias(units, 'remote');
const isRunning = eq(hookRuns.outcome, 'running');
