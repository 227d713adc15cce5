import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { hookRuns } from '#db/schema/index.ts';
import { negotiate, type ReaderWishes } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { localizedMessage } from '#server/domain/localization/index.ts';
import { parse } from '#server/domain/parse.ts';
import { findRun } from './find-run.ts';
import { type GetRunInput, getRunInput } from './input.ts';
import { effectsOf, runEffects } from './run-effects.ts';
import { readFormula, sayMessages } from './run-messages.ts';
import { type HookRun, hookRun, runCause, runOf, selectRuns } from './shown-run.ts';

/** A run with its chain of causes, what it read and stored, and its reason in the reader’s language. */
export const hookRunDetails = hookRun.extend({
  causes: z
    .array(runCause)
    .describe('The chain of causes, nearest first. The last one names the act of an operator, if it is known.'),
  message: localizedMessage
    .nullable()
    .describe('The reason in the language of the caller; null if the hook gave none.'),
  relationId: count.nullable().describe('The id of the relation that agents and hooks use, such as 3 in `db:3`.'),
  ...runEffects.shape,
});
export type HookRunDetails = z.infer<typeof hookRunDetails>;

/**
 * Maximum number of causes that are followed. Two services that change each other's settings cause each other without
 * end.
 */
const maxCauses = 20;

/** Returns a run with its chain of causes (EN-78). Throws 404 `unit_unknown` | `run_unknown`. */
export async function getRun(ctx: Context, input: GetRunInput, reader: ReaderWishes = {}): Promise<HookRunDetails> {
  allow(ctx.actor, 'viewer');
  const { unit, row, run } = await findRun(ctx, parse(getRunInput, input));
  const { reason } = run;
  const say =
    reason &&
    (await sayMessages(ctx.db, await readFormula(ctx.db, unit, run.formulaVersion), [reason], negotiate(reader)));
  const effects = await effectsOf(ctx.db, row);
  return {
    ...run,
    causes: await causesOf(ctx, run),
    message: reason && say ? say(reason) : null,
    ...effects,
    relationId: row.relationId,
  };
}

async function causesOf({ db }: Pick<Context, 'db'>, { cause }: HookRun): Promise<HookRunDetails['causes']> {
  const causes: HookRunDetails['causes'] = [];
  let next = cause;
  while (next !== null && causes.length < maxCauses) {
    causes.push(next);
    const { run: before } = next;
    if (before === undefined) break;
    const [found] = await selectRuns(db).where(and(eq(hookRuns.vmId, before.vmId), eq(hookRuns.id, before.id)));
    next = found === undefined ? null : runOf(found).cause;
  }
  return causes;
}
