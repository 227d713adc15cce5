import { and, eq, gt, inArray, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import {
  type ExtensionContents,
  extensions,
  goalStateHeads,
  goalStates,
  handlerVersions,
  secrets,
  vms,
} from '#db/schema/index.ts';
import { afterRollback } from '#db/transaction-hooks.ts';
import { type GoalState, isOnlyResealed, turnOf } from '#protocol/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { showRejection } from '#server/domain/vms/index.ts';
import { tell } from '#server/platform/wakes/index.ts';
import { etagOf, type PackageFacts, packageKey, renderGoalState, type SealedFacts } from './goal-state.ts';

export type Head = typeof goalStateHeads.$inferSelect;
export type ExtensionRow = typeof extensions.$inferSelect;

/** Channel for the ids of VMs whose goal state or hold changed, or that were deleted. The gateways listen to it. */
export const goalStatesChannel = 'annex_goal_states';

/** The reason for a goal state. */
export interface Cause {
  action: string;
  extension?: string;
  incarnation?: number;
}

type LiveHead = Head & { decommissioning: boolean };

const selectHead = (tx: Transaction, vmId: string) =>
  tx
    .select({ head: goalStateHeads, deletedAt: vms.deletedAt, decommissioningAt: vms.decommissioningAt })
    .from(goalStateHeads)
    .innerJoin(vms, eq(vms.id, goalStateHeads.vmId))
    .where(eq(goalStateHeads.vmId, vmId));

/** Locks a VM's declarations until the commit. Throws `vm_unknown` if the VM does not exist or was deleted. */
export async function lockHead(tx: Transaction, vmId: string): Promise<LiveHead> {
  await tx.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vmId)).for('update');
  // A separate statement, because the statement that waited for the lock would see the VM as it was before a deletion.
  return liveHead(await selectHead(tx, vmId));
}

/** Reads the head like `lockHead`, without the lock. */
export async function readHead(tx: Transaction, vmId: string): Promise<LiveHead> {
  return liveHead(await selectHead(tx, vmId));
}

function liveHead([row]: Awaited<ReturnType<typeof selectHead>>): LiveHead {
  if (!row || row.deletedAt) throw new DomainError('not_found', 'vm_unknown');
  return { ...row.head, decommissioning: row.decommissioningAt !== null };
}

/** Rejects with 412 `goal_state_moved_on` if the caller saw another goal state. */
export function requireIncarnation(head: Head, ifMatch: number | undefined): void {
  if (ifMatch === undefined || ifMatch === head.incarnation) return;
  throw new DomainError('precondition_failed', 'goal_state_moved_on', { params: { incarnation: head.incarnation } });
}

/** Loads the extensions of a VM, sorted by name. */
export async function loadExtensions(tx: Transaction, vmId: string): Promise<ExtensionRow[]> {
  return tx.select().from(extensions).where(eq(extensions.vmId, vmId)).orderBy(extensions.name);
}

/**
 * The only function that creates a goal state. It renders the current declarations, stores them in the history, makes
 * them the current goal state and, with the commit, wakes the gateways. The goal state gets the next turn, unless a
 * renewed certificate changes only the encryption of secrets. The caller holds the head's lock. Returns the new
 * incarnation.
 */
export async function publishGoalState(tx: Transaction, ctx: Context, head: Head, cause: Cause): Promise<number> {
  const { vmId } = head;
  const incarnation = head.incarnation + 1;
  const contents = (await loadExtensions(tx, vmId)).map(contentsOf);
  const packages = await loadPackages(tx, contents);
  const sealed = await loadSealed(tx, vmId, contents);
  const render = (turn: number) => renderGoalState({ vmId, incarnation, turn }, contents, packages, sealed);
  const turn = (cause.action === 'certificate.renew' ? keptTurn(head, render) : null) ?? nextTurn(head);
  const text = render(turn);
  await rejectTooManyBytes(tx, ctx, head);
  const etag = etagOf(ctx.epoch, incarnation);
  await tx.insert(goalStates).values({
    vmId,
    incarnation,
    etag,
    text,
    contents,
    cause,
    publishedAt: ctx.now,
    publishedBy: ctx.actor.name,
  });
  await tx
    .update(goalStateHeads)
    .set({ incarnation, turn, etag, text, publishedAt: ctx.now })
    .where(eq(goalStateHeads.vmId, vmId));
  await recordChange(tx, 'vm', vmId);
  await tell(tx, goalStatesChannel, [vmId]);
  return incarnation;
}

/**
 * Returns the turn after the last used turn. Goal states of the first release have no turn; each of them counts as one
 * turn.
 */
const nextTurn = ({ turn, otherTurn, incarnation }: Head): number => Math.max(turn, otherTurn, incarnation) + 1;

/**
 * Takes the VM's next turn for work other than a goal state, such as an execution. The caller holds the head's lock.
 */
export async function takeTurn(tx: Transaction, head: Head): Promise<number> {
  const turn = nextTurn(head);
  await tx.update(goalStateHeads).set({ otherTurn: turn }).where(eq(goalStateHeads.vmId, head.vmId));
  return turn;
}

/**
 * Returns the turn of the current goal state if the new goal state differs only in the encryption of secrets, because
 * then no handler runs again; otherwise null.
 */
function keptTurn({ text }: Head, render: (turn: number) => string): number | null {
  const before: GoalState = JSON.parse(text);
  const turn = turnOf(before);
  return isOnlyResealed(before, JSON.parse(render(turn))) ? turn : null;
}

/** Maximum number of goal states that are read to count the bytes of the last hour. */
const countedGoalStates = 5_000;

/**
 * Throws 429, and shows the rejection on the VM's page, if too many bytes were added within the last hour. The limit
 * exists because every goal state is kept. Changes by agents and by the portal count toward it, but are not rejected.
 */
async function rejectTooManyBytes(tx: Transaction, ctx: Context, { vmId, incarnation }: Head): Promise<void> {
  if (ctx.actor.kind === 'agent' || ctx.actor.kind === 'system') return;
  const perHour = ctx.config.limits.vm.goalStateBytesPerHour;
  const [sum] = await tx
    .select({
      bytes: sql<string>`coalesce(sum(pg_column_size(${goalStates.text}) + pg_column_size(${goalStates.contents})), 0)`,
    })
    .from(goalStates)
    .where(
      and(
        eq(goalStates.vmId, vmId),
        gt(goalStates.incarnation, incarnation - countedGoalStates),
        gt(goalStates.publishedAt, new Date(ctx.now.getTime() - 3_600_000)),
      ),
    );
  if (Number(sum?.bytes) < perHour) return;
  const seconds = 600;
  afterRollback(tx, () => ctx.db.transaction((after) => showRejection(after, vmId, 'goal_states_exceeded', ctx.now)));
  throw new DomainError('rate_limited', 'goal_states_exceeded', {
    params: { limit: Math.ceil(perHour / 1_048_576), seconds },
    retryAfter: seconds,
  });
}

/** Returns the contents of an extension as the history stores them. */
export function contentsOf(row: ExtensionRow): ExtensionContents {
  return {
    name: row.name,
    handler: row.handler,
    requestedVersion: row.requestedVersion,
    version: row.version,
    state: row.state,
    autoUpgradeMinorVersion: row.autoUpgradeMinorVersion,
    dependsOn: row.dependsOn,
    timeouts: row.timeouts,
    publicSettings: row.publicSettings,
    secretId: row.secretId,
    sequenceNumber: row.sequenceNumber,
  };
}

async function loadPackages(tx: Transaction, contents: ExtensionContents[]): Promise<Map<string, PackageFacts>> {
  if (contents.length === 0) return new Map();
  const rows = await tx
    .select({
      handler: handlerVersions.handler,
      version: handlerVersions.version,
      sha256: handlerVersions.sha256,
      size: handlerVersions.size,
    })
    .from(handlerVersions)
    .where(
      and(
        inArray(
          handlerVersions.handler,
          contents.map((c) => c.handler),
        ),
        inArray(
          handlerVersions.version,
          contents.map((c) => c.version),
        ),
      ),
    );
  return new Map(rows.map((row) => [packageKey(row.handler, row.version), row]));
}

async function loadSealed(
  tx: Transaction,
  vmId: string,
  contents: ExtensionContents[],
): Promise<Map<string, SealedFacts>> {
  const ids = contents.flatMap((c) => c.secretId ?? []);
  if (ids.length === 0) return new Map();
  const rows = await tx
    .select({ id: secrets.id, cms: secrets.cms, thumbprint: secrets.thumbprint })
    .from(secrets)
    .where(and(eq(secrets.vmId, vmId), inArray(secrets.id, ids)));
  return new Map(
    rows.flatMap(({ id, cms, thumbprint }) => (cms && thumbprint ? [[id, { cms, thumbprint }] as const] : [])),
  );
}
