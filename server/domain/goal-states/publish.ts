import { and, eq, gt, sql } from 'drizzle-orm';
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
import { recordChanges } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { showRejection } from '#server/domain/vms/index.ts';
import { tell } from '#server/platform/wakes/index.ts';
import { etagOf, type PackageFacts, packageKey, renderGoalState, type SealedFacts } from './goal-state.ts';
import { ofVms } from './of-vms.ts';

export type Head = typeof goalStateHeads.$inferSelect;
export type ExtensionRow = typeof extensions.$inferSelect;

/** Channel for the ids of VMs whose goal state or hold changed, or that were deleted. The gateways listen to it. */
export const goalStatesChannel = 'annex_goal_states';

/** The reason for a goal state. */
export interface Cause {
  action: string;
  extension?: string;
  incarnation?: number;
  /** The rollout that caused it. */
  rollout?: string;
}

/** The head of a VM that exists. */
export type LiveHead = Head & { decommissioning: boolean };

const selectHead = (tx: Transaction, vmId: string) =>
  tx
    .select({ head: goalStateHeads, deletedAt: vms.deletedAt, decommissioningAt: vms.decommissioningAt })
    .from(goalStateHeads)
    .innerJoin(vms, eq(vms.id, goalStateHeads.vmId))
    .where(eq(goalStateHeads.vmId, vmId));

/** Locks a VM's declarations until the commit. Throws `vm_unknown` if the VM does not exist or was deleted. */
export async function lockHead(tx: Transaction, vmId: string): Promise<LiveHead> {
  await tx.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vmId)).for('update');
  // A separate statement, because the locking statement does not see a deletion that was committed while it waited.
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

/** Publishes the goal state of one VM, as `publishGoalStates` does. Returns the new incarnation. */
export async function publishGoalState(tx: Transaction, ctx: Context, head: Head, cause: Cause): Promise<number> {
  await publishGoalStates(tx, ctx, [head], cause);
  return head.incarnation + 1;
}

/** A rendered goal state. */
interface Rendered {
  head: Head;
  incarnation: number;
  turn: number;
  etag: string;
  text: string;
  contents: ExtensionContents[];
}

/**
 * The only function that creates goal states. It renders the current declarations of the VMs, stores them in the
 * history, makes them the current goal states and, with the commit, wakes the gateways. Each goal state gets the VM's
 * next turn, unless a renewed certificate changes only the encryption of secrets. The number of statements does not
 * depend on the number of VMs. The caller holds the locks of the heads.
 */
export async function publishGoalStates(
  tx: Transaction,
  ctx: Context,
  heads: readonly Head[],
  cause: Cause,
): Promise<void> {
  if (heads.length === 0) return;
  const vmIds = heads.map(({ vmId }) => vmId);
  const contents = await loadContents(tx, vmIds);
  const all = [...contents.values()].flat();
  const packages = await loadPackages(tx, all);
  const sealed = await loadSealed(tx, vmIds, all);
  const rendered = heads.map((head): Rendered => {
    const { vmId } = head;
    const incarnation = head.incarnation + 1;
    const declared = contents.get(vmId) ?? [];
    const render = (turn: number) => renderGoalState({ vmId, incarnation, turn }, declared, packages, sealed);
    const turn = (cause.action === 'certificate.renew' ? keptTurn(head, render) : null) ?? nextTurn(head);
    return { head, incarnation, turn, etag: etagOf(ctx.epoch, incarnation), text: render(turn), contents: declared };
  });
  await rejectTooManyBytes(tx, ctx, heads);
  await storeGoalStates(tx, ctx, rendered, cause);
  await recordChanges(tx, 'vm', vmIds);
  await tell(tx, goalStatesChannel, vmIds);
}

async function storeGoalStates(
  tx: Transaction,
  ctx: Context,
  rendered: readonly Rendered[],
  cause: Cause,
): Promise<void> {
  const ids = rendered.map(({ head }) => head.vmId);
  const vmIds = sql.param(ids);
  const incarnations = sql.param(rendered.map(({ incarnation }) => incarnation));
  const etags = sql.param(rendered.map(({ etag }) => etag));
  const texts = sql.param(rendered.map(({ text }) => text));
  const contents = sql.param(rendered.map((each) => JSON.stringify(each.contents)));
  const turns = sql.param(rendered.map(({ turn }) => turn));
  const now = ctx.now.toISOString();
  await tx.execute(sql`
    insert into goal_states (vm_id, incarnation, etag, text, contents, cause, published_at, published_by)
    select r.vm_id, r.incarnation, r.etag, r.text, r.contents::json, ${JSON.stringify(cause)}::jsonb, ${now}::timestamptz,
           ${ctx.actor.name}
      from unnest(${vmIds}::uuid[], ${incarnations}::int[], ${etags}::text[], ${texts}::text[], ${contents}::text[])
        as r(vm_id, incarnation, etag, text, contents)`);
  await tx.execute(sql`
    update goal_state_heads h
       set incarnation = r.incarnation, turn = r.turn, etag = r.etag, text = r.text, published_at = ${now}::timestamptz
      from unnest(${vmIds}::uuid[], ${incarnations}::int[], ${turns}::bigint[], ${etags}::text[], ${texts}::text[])
        as r(vm_id, incarnation, turn, etag, text)
     where h.vm_id = r.vm_id and ${ofVms(sql.raw('h.vm_id'), ids)}`);
}

/** Loads the declared extensions of each VM, sorted by name, as the history stores them. */
async function loadContents(
  tx: Transaction,
  vmIds: readonly string[],
): Promise<ReadonlyMap<string, ExtensionContents[]>> {
  const rows = await tx
    .select()
    .from(extensions)
    .where(ofVms(extensions.vmId, vmIds))
    .orderBy(extensions.vmId, extensions.name);
  const byVm = Map.groupBy(rows, ({ vmId }) => vmId);
  return new Map([...byVm].map(([vmId, declared]) => [vmId, declared.map(contentsOf)]));
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

/** Takes the next turn of each VM, as `takeTurn` does, with one statement. Returns the turns by VM. */
export async function takeTurns(tx: Transaction, heads: readonly Head[]): Promise<ReadonlyMap<string, number>> {
  const turns = new Map(heads.map((head) => [head.vmId, nextTurn(head)]));
  if (heads.length === 0) return turns;
  const vmIds = [...turns.keys()];
  await tx.execute(sql`
    update goal_state_heads h set other_turn = r.turn
      from unnest(${sql.param(vmIds)}::uuid[], ${sql.param([...turns.values()])}::bigint[]) as r(vm_id, turn)
     where h.vm_id = r.vm_id and ${ofVms(sql.raw('h.vm_id'), vmIds)}`);
  return turns;
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
 * Throws 429, and shows the rejection on the VM's page, if too many bytes were added to the history of a VM within the
 * last hour. The limit exists because every goal state is kept. Changes by agents and by the portal count toward it,
 * but are not rejected.
 */
async function rejectTooManyBytes(tx: Transaction, ctx: Context, heads: readonly Head[]): Promise<void> {
  if (ctx.actor.kind === 'agent' || ctx.actor.kind === 'system') return;
  const perHour = ctx.config.limits.vm.goalStateBytesPerHour;
  const [over] = await tx
    .select({ vmId: goalStates.vmId })
    .from(goalStates)
    .innerJoin(goalStateHeads, eq(goalStateHeads.vmId, goalStates.vmId))
    .where(
      and(
        ofVms(
          goalStates.vmId,
          heads.map(({ vmId }) => vmId),
        ),
        sql`${goalStates.incarnation} > ${goalStateHeads.incarnation} - ${countedGoalStates}::int`,
        gt(goalStates.publishedAt, new Date(ctx.now.getTime() - 3_600_000)),
      ),
    )
    .groupBy(goalStates.vmId)
    .having(sql`sum(pg_column_size(${goalStates.text}) + pg_column_size(${goalStates.contents})) >= ${perHour}::bigint`)
    .limit(1);
  if (!over) return;
  const seconds = 600;
  const { vmId } = over;
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

async function loadPackages(
  tx: Transaction,
  contents: readonly ExtensionContents[],
): Promise<Map<string, PackageFacts>> {
  const wanted = new Map(contents.map((each) => [packageKey(each.handler, each.version), each]));
  if (wanted.size === 0) return new Map();
  const handlers = sql.param([...wanted.values()].map(({ handler }) => handler));
  const versions = sql.param([...wanted.values()].map(({ version }) => version));
  const rows = await tx
    .select({
      handler: handlerVersions.handler,
      version: handlerVersions.version,
      sha256: handlerVersions.sha256,
      size: handlerVersions.size,
    })
    .from(handlerVersions)
    .where(
      sql`(${handlerVersions.handler}, ${handlerVersions.version}) in (
        select * from unnest(${handlers}::text[], ${versions}::text[]))`,
    );
  return new Map(rows.map((row) => [packageKey(row.handler, row.version), row]));
}

async function loadSealed(
  tx: Transaction,
  vmIds: readonly string[],
  contents: ExtensionContents[],
): Promise<Map<string, SealedFacts>> {
  const ids = contents.flatMap((c) => c.secretId ?? []);
  if (ids.length === 0) return new Map();
  const rows = await tx
    .select({ id: secrets.id, cms: secrets.cms, thumbprint: secrets.thumbprint })
    .from(secrets)
    .where(and(ofVms(secrets.vmId, vmIds), sql`${secrets.id} = any(${sql.param(ids)}::uuid[])`));
  return new Map(
    rows.flatMap(({ id, cms, thumbprint }) => (cms && thumbprint ? [[id, { cms, thumbprint }] as const] : [])),
  );
}
