import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { newPreviewMemory, type Preview } from '#server/domain/goal-states/index.ts';
import type { RolloutPlan } from '#server/domain/rollout-rules/stored.ts';
import type { StoredRollout } from '../rows.ts';
import { previewerOf } from './preview-members.ts';
import { readCandidates, type SelectedVm } from './read-candidates.ts';

/** What the change does to a member. */
export type MemberPreview = Extract<Preview, { outcome: 'change' }>;

/** A VM on which the change does something. */
export interface EvaluatedMember extends Pick<SelectedVm, 'set' | 'silent' | 'isFirst'> {
  vmId: string;
  preview: MemberPreview;
}

/** What a change would do to every selected VM. */
export interface EvaluatedVms extends Pick<RolloutPlan, 'matched' | 'unchanged' | 'refused' | 'uncheckedSettings'> {
  members: EvaluatedMember[];
  /** VMs that a revert leaves alone because someone changed an extension after the step. */
  overtaken: number;
}

/** Number of VMs that a plan names for each code. */
const examples = 5;

/**
 * Evaluates a change on every VM that the rollout selects, in the snapshot of the transaction. `given` are the
 * protected settings of the change. Throws 422 `rollout_too_large`.
 */
export async function evaluateMembers(
  tx: Transaction,
  ctx: Context,
  rollout: StoredRollout,
  given: unknown,
  setTag: string,
): Promise<EvaluatedVms> {
  const memory = newPreviewMemory();
  const preview = await previewerOf(tx, ctx, rollout, { given, memory });
  const refused = new Map<string, { count: number; ids: string[] }>();
  const members: EvaluatedMember[] = [];
  const counts = { matched: 0, unchanged: 0, overtaken: 0 };
  const most = ctx.config.limits.rollouts.members;
  const refuse = (code: string, vmId: string): void => {
    const known = refused.get(code) ?? { count: 0, ids: [] };
    if (known.ids.length < examples) known.ids.push(vmId);
    refused.set(code, { ...known, count: known.count + 1 });
  };
  for await (const candidates of readCandidates(tx, ctx, rollout, setTag)) {
    counts.matched += candidates.length;
    const open = candidates.filter(({ isOvertaken }) => !isOvertaken);
    counts.overtaken += candidates.length - open.length;
    const previews = await preview(open);
    for (const { id, set, silent, isFirst } of open) {
      const preview = previews.get(id) ?? { outcome: 'gone' };
      if (preview.outcome === 'unchanged') counts.unchanged += 1;
      else if (preview.outcome === 'gone') refuse('vm_decommissioning', id);
      else if (preview.outcome === 'refused') refuse(preview.code, id);
      else if (preview.needsRelease) refuse('secrets_need_release', id);
      else members.push({ vmId: id, preview, set, silent, isFirst });
    }
    if (members.length > most) throw new DomainError('unprocessable', 'rollout_too_large', { params: { most } });
  }
  return { ...counts, members, refused: await named(tx, refused), uncheckedSettings: memory.unchecked };
}

/** Adds the names of the VMs that were chosen as examples. */
async function named(
  tx: Transaction,
  refused: ReadonlyMap<string, { count: number; ids: string[] }>,
): Promise<RolloutPlan['refused']> {
  const ids = [...refused.values()].flatMap((one) => one.ids);
  if (ids.length === 0) return {};
  const { rows } = await tx.execute<{ id: string; name: string }>(
    sql`select id, name from vms where id = any(${sql.param(ids)}::uuid[])`,
  );
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return Object.fromEntries(
    [...refused].map(([code, { count, ids }]) => [
      code,
      { count, examples: ids.map((vmId) => ({ vmId, name: names.get(vmId) ?? '' })) },
    ]),
  );
}
