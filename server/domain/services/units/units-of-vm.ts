import { and, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { models, units } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { type DueHookView, dueOf } from '../runs/get-due.ts';
import { readUnitWork } from '../runs/read-due.ts';
import { readUnitViews, type UnitView } from './unit-view.ts';

const unitsOfVmInput = z.object({ vmId });

/** A unit on a VM, with its model and the hooks that are due. */
export interface VmUnit extends UnitView {
  model: string;
  due: DueHookView[];
}

/** Lists the units on a VM by name, with the hooks that are due in the order in which they run. */
export async function listUnitsOfVm(ctx: Context, input: z.input<typeof unitsOfVmInput>): Promise<{ items: VmUnit[] }> {
  allow(ctx.actor, 'viewer');
  const parsed = parse(unitsOfVmInput, input);
  const ofVm = and(eq(units.vmId, parsed.vmId), isNull(units.removedAt));
  const views = await readUnitViews(ctx, ofVm);
  if (views.length === 0) return { items: [] };
  const [model] = await ctx.db
    .select({ name: models.name })
    .from(units)
    .innerJoin(models, eq(models.id, units.modelId))
    .where(ofVm)
    .limit(1);
  const work = await ctx.db.transaction((tx) => readUnitWork(tx, eq(units.vmId, parsed.vmId)), {
    ...{ isolationLevel: 'repeatable read', accessMode: 'read only' },
  });
  const due = new Map(work.map((one) => [one.unit.name, dueOf(one)]));
  const items = views.map((view) => ({ ...view, model: model?.name ?? '', due: due.get(view.unit) ?? [] }));
  return { items };
}
