import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { units } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type GetUnitInput, getUnitInput } from '../input.ts';
import { waitsForRelease } from '../unit-state/goal-of.ts';
import { slotOfRun } from './confirm-unit.ts';
import { readUnitWork, type UnitWork } from './read-due.ts';
import { findModelUnit } from './shown-run.ts';

/** A hook that is due on a unit. */
export const dueHook = z.object({
  hook: z.string(),
  because: z.string().describe('Why the hook is due, such as `other-settings`.'),
  relation: count.nullable().describe('The id of the relation; null for a hook of the unit.'),
  remoteUnit: z.string().nullable(),
  version: count.nullable().describe('The version of the settings that the hook confirms.'),
  hasFile: z.boolean().describe('A hook without a file counts as done.'),
  waitsFor: z
    .enum(['failing', 'release'])
    .nullable()
    .describe(
      '`failing`: a hook failed, and this one waits for its next attempt. `release`: an admin must release the protected settings first. Null if it runs in its turn.',
    ),
});
export type DueHookView = z.infer<typeof dueHook>;

/** Lists the hooks that are due on a unit, in the order in which its agent runs them (EN-32). Throws 404 `unit_unknown`. */
export async function getDue(ctx: Context, input: GetUnitInput): Promise<{ items: DueHookView[] }> {
  allow(ctx.actor, 'viewer');
  const { id } = await findModelUnit(ctx.db, parse(getUnitInput, input));
  const work = await ctx.db.transaction((tx) => readUnitWork(tx, eq(units.id, id)), {
    ...{ isolationLevel: 'repeatable read', accessMode: 'read only' },
  });
  return { items: work.flatMap(dueOf) };
}

/** Returns the hooks that are due on a unit as the API shows them. */
export function dueOf({ unit, due, failing }: UnitWork): DueHookView[] {
  return due.map(({ hook, because, relation, remoteUnit = null, version, hasFile, kind, settings }) => {
    const isFailing = failing[slotOfRun(relation?.id ?? null)] !== undefined || failing.unit !== undefined;
    return {
      ...{ hook, because, relation: relation?.id ?? null, remoteUnit, hasFile },
      version: version ?? (kind === 'config-changed' ? settings : null),
      waitsFor: waitsForRelease(unit) ? ('release' as const) : isFailing ? ('failing' as const) : null,
    };
  });
}
