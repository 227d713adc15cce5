import { and, eq } from 'drizzle-orm';
import { type ExtensionContents, goalStates } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { findSecret } from './custody.ts';
import { type ExtensionGoalInput, findVersion, unprocessable } from './declare.ts';
import { effectOf } from './goal-state.ts';
import { type RevertGoalStateInput, revertGoalStateInput } from './input.ts';
import { loadExtensions, lockHead, publishGoalState, requireIncarnation } from './publish.ts';
import { dropExtension, markUninstall } from './remove-extension.ts';
import { writeExtension } from './set-extension.ts';

/**
 * Declares what an earlier goal state declared, as a new incarnation; what differs gets new sequence numbers.
 * Extensions that came later are uninstalled. Throws 404 `vm_unknown` | `goal_state_unknown`, 409 while one is being
 * uninstalled, 412 `goal_state_moved_on`, 422 for withdrawn versions and for secrets that are not held any more.
 */
export async function revertGoalState(
  ctx: Context,
  input: RevertGoalStateInput,
): Promise<{ vmId: string; incarnation: number; revertedTo: number }> {
  allow(ctx.actor, 'operator');
  const { vmId, incarnation: revertedTo, ifMatch } = parse(revertGoalStateInput, input);
  return ctx.db.transaction(async (tx) => {
    const head = await lockHead(tx, vmId);
    if (head.decommissioning) throw new DomainError('conflict', 'vm_decommissioning');
    requireIncarnation(head, ifMatch);
    const [old] = await tx
      .select({ contents: goalStates.contents })
      .from(goalStates)
      .where(and(eq(goalStates.vmId, vmId), eq(goalStates.incarnation, revertedTo)));
    if (!old) {
      throw new DomainError('not_found', 'goal_state_unknown', { params: { incarnation: revertedTo } });
    }
    const present = await loadExtensions(tx, vmId);
    const leaving = present.find((row) => row.state === 'uninstall');
    if (leaving) throw new DomainError('conflict', 'uninstalling', { params: { name: leaving.name } });

    const wanted = old.contents.filter((extension) => extension.state !== 'uninstall');
    const faults: Fault[] = [];
    for (const extension of wanted) {
      const current = present.find((row) => row.name === extension.name);
      if (current && current.handler !== extension.handler) {
        throw new DomainError('conflict', 'handler_fixed', {
          params: { name: current.name, handler: current.handler },
        });
      }
      const version = await findVersion(tx, goalOf(extension));
      if (version.state === 'withdrawn' && current?.version !== version.version) {
        faults.push({
          path: `/extensions/${extension.name}/version`,
          code: 'version_withdrawn',
          params: { handler: version.handler, version: version.version },
        });
      }
      const secret = await findSecret(tx, vmId, extension.secretId);
      if (secret && secret.cms === null && secret.sealed === null) {
        faults.push({ path: `/extensions/${extension.name}/settings/protectedSettings`, code: 'secrets_required' });
      }
    }
    if (faults.length > 0) throw unprocessable(faults);

    let changed = false;
    for (const { sequenceNumber: _, ...declared } of wanted) {
      const current = present.find((row) => row.name === declared.name);
      const effect = effectOf(current, declared);
      if (effect === 'none') continue;
      changed = true;
      await writeExtension(tx, ctx, vmId, declared, current, effect === 'sequence');
    }
    for (const row of present.filter(({ name }) => !wanted.some((extension) => extension.name === name))) {
      changed = true;
      if (row.everDelivered) await markUninstall(tx, ctx, row);
      else await dropExtension(tx, vmId, row.name);
    }
    if (!changed) return { vmId, incarnation: head.incarnation, revertedTo };
    await recordAudit(tx, ctx, {
      action: 'goal-state.revert',
      target: { kind: 'goal-state', id: String(revertedTo) },
      vmId,
      details: { from: head.incarnation, to: revertedTo },
    });
    const incarnation = await publishGoalState(tx, ctx, head, {
      action: 'goal-state.revert',
      incarnation: revertedTo,
    });
    return { vmId, incarnation, revertedTo };
  });
}

const goalOf = (extension: ExtensionContents): ExtensionGoalInput => ({
  handler: extension.handler,
  version: extension.version,
  state: extension.state === 'disabled' ? 'disabled' : 'enabled',
  autoUpgradeMinorVersion: extension.autoUpgradeMinorVersion,
  dependsOn: extension.dependsOn,
  timeouts: extension.timeouts,
  settings: { publicSettings: extension.publicSettings },
});
