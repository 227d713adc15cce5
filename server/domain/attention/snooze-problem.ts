import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { maxSnoozeDays, type SnoozeProblemInput, snoozeProblemInput } from './input.ts';
import type { Mark } from './mark.ts';
import { findProblem, writeMark } from './write-mark.ts';

const dayMs = 86_400_000;

/**
 * Snoozes a problem. The snooze ends at `until` or, without `until`, when the problem affects more VMs or other
 * versions than it does now. Throws 404 `problem_unknown`, 422 `snooze_until_past` | `snooze_until_far`.
 */
export async function snoozeProblem(ctx: Context, input: SnoozeProblemInput): Promise<Mark> {
  allow(ctx.actor, 'operator');
  const { key, until: end } = parse(snoozeProblemInput, input);
  const until = end ? new Date(end) : null;
  if (until !== null) rejectUnfitEnd(until, ctx.now);
  return ctx.db.transaction(async (tx) => {
    const problem = await findProblem(tx, key);
    const columns = {
      ...{ snoozedAt: ctx.now, snoozedBy: ctx.actor.name, snoozedUntil: until },
      ...{ snoozedVms: problem.vms, snoozedVersions: problem.versions },
    };
    return writeMark(tx, ctx, problem, columns, { action: 'attention.snooze' });
  });
}

function rejectUnfitEnd(until: Date, now: Date): void {
  const latest = now.getTime() + maxSnoozeDays * dayMs;
  const code = until <= now ? 'snooze_until_past' : until.getTime() > latest ? 'snooze_until_far' : null;
  if (code === null) return;
  throw new DomainError('unprocessable', 'invalid', {
    faults: [{ path: '/until', code, params: { days: maxSnoozeDays } }],
  });
}
