import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { rolloutRings } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { overrule } from '#server/domain/rollout-rules/gates.ts';
import type { GateName } from '#server/domain/rollout-rules/words.ts';
import { actOn, recordAct } from './act-on.ts';
import type { RolloutView } from './answers.ts';
import { approvalsNeeded, isRejected } from './approvals.ts';
import { type ResumeRolloutInput, resumeRolloutInput } from './input.ts';
import { changeRollout, ringsOf, type StoredRing, type StoredRollout } from './rows.ts';
import { readRules } from './rules.ts';
import { requireKept } from './secrets.ts';
import { withdrawnVersion } from './withdrawn-version.ts';

/**
 * Resumes a paused rollout. After a gate halted, the caller overrules each halting verdict by name and gives a reason:
 * the error gate counts from zero, the comparison begins a new series, and the success gate of that ring is waived.
 * After the database was restored, a worker first checks whether the members that wait are still what the plan said.
 * Throws 404 `rollout_unknown`, 409 `rollout_state` | `verdicts_open` | `version_withdrawn` | `approval_missing`
 * | `rollout_secrets_gone`.
 */
export async function resumeRollout(ctx: Context, input: ResumeRolloutInput): Promise<RolloutView> {
  allow(ctx.actor, 'operator');
  const { id, overrule = [], reason = null } = parse(resumeRolloutInput, input);
  return actOn(ctx, id, 'resume', async (tx, row) => {
    const rings = await ringsOf(tx, id);
    const halts = haltsOf(rings);
    const open = halts.filter((halt) => !overrule.some(({ ring, gate }) => ring === halt.ring && gate === halt.gate));
    if (open.length > 0 || (halts.length > 0 && reason === null)) throw verdictsOpen(open.length > 0 ? open : halts);
    await requirePublished(tx, row);
    requireKept(row);
    await requireApproved(tx, row);
    for (const ring of rings) await overruleRing(tx, ring);
    const resumed = await changeRollout(tx, row, {
      state:
        row.epoch !== ctx.epoch ? 'checking' : rings.every(({ state }) => state === 'passed') ? 'keeping' : 'running',
      ...{ pausedBy: null, why: [], next: null, progressAt: ctx.now, dueAt: ctx.now },
    });
    await recordAct(tx, ctx, row, 'rollout.resume', { reason, overruled: halts.map(named) });
    return resumed;
  });
}

interface Halt {
  ring: number;
  name: string;
  gate: GateName;
}

const haltsOf = (rings: readonly StoredRing[]): Halt[] =>
  rings.flatMap(({ ring, plan, verdicts }) =>
    verdicts
      .filter(({ verdict }) => verdict === 'halt')
      .map(({ gate }) => ({ ring, name: plan?.name ?? String(ring + 1), gate })),
  );

const named = ({ name, gate }: Halt): string => `${name}: ${gate}`;

const verdictsOpen = (open: readonly Halt[]): DomainError =>
  new DomainError('conflict', 'verdicts_open', { params: { verdicts: open.map(named).join(', ') } });

/** Requires the approvals that an edit while paused invalidated, and that no one rejected the plan since. */
async function requireApproved(tx: Transaction, row: StoredRollout): Promise<void> {
  const { rules } = await readRules(tx);
  const isMissing = row.authors.approveAgain === true && approvalsNeeded(rules, row) > 0;
  if (isMissing || isRejected(row)) throw new DomainError('conflict', 'approval_missing');
}

/** Rejects a resume while the version that the rollout declares or runs is withdrawn. */
async function requirePublished(tx: Transaction, { definition }: StoredRollout): Promise<void> {
  const params = await withdrawnVersion(tx, definition);
  if (params !== null) throw new DomainError('conflict', 'version_withdrawn', { params });
}

/** Reopens a halted ring. Its gates count from the current numbers, as far as they were overruled. */
async function overruleRing(tx: Transaction, row: StoredRing): Promise<void> {
  const halted = new Set(row.verdicts.filter(({ verdict }) => verdict === 'halt').map(({ gate }) => gate));
  if (halted.size === 0 && row.state !== 'halted') return;
  await tx
    .update(rolloutRings)
    .set({
      state: row.state === 'halted' ? 'open' : row.state,
      verdicts: row.verdicts.filter(({ verdict }) => verdict !== 'halt'),
      overruled: overrule(row, [...halted]),
    })
    .where(and(eq(rolloutRings.rolloutId, row.rolloutId), eq(rolloutRings.ring, row.ring)));
}
