import { and, eq, gte, inArray, lt, lte, notInArray, or, type SQL } from 'drizzle-orm';
import { auditEntries } from '#db/schema/index.ts';
import words from '#locales/en/activity.json' with { type: 'json' };
import { type Actor, hasRole } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import type { ActivityFilter } from '../input.ts';
import { namesContain } from './names-contain.ts';

/**
 * Kinds of targets whose entries every signed-in caller can read. All other entries are visible only to admins and to
 * the actor.
 */
const openKinds = [
  'vm',
  'extension',
  'goal-state',
  'version',
  'handler',
  'publisher',
  'problem',
  'execution',
  'runbook',
  'rollout',
  'model',
  'storage-account',
  'strategy',
  'rollout-rules',
];
/** Kinds whose `before` and `after` values require the operator role, because they contain declarations. */
const declaredKinds = ['vm', 'extension', 'goal-state'];

/** Kinds of actors that act for a person. */
const personKinds = ['user', 'token', 'bootstrap'];
/** Actions of people that change the fleet for everyone. */
const fleetActions = ['version.publish', 'version.withdraw', 'goal-state.revert'];

/** Every action code, taken from the keys of the localized sentences. */
const actionCodes = [
  ...new Set(
    Object.keys(words)
      .filter((key) => key.startsWith('act.'))
      .map((key) => key.slice('act.'.length).replace(/_(zero|one|other)$/, '')),
  ),
];

/** Returns the condition for the entries that this caller can see; undefined if the caller can see all. */
export function visibleTo(actor: Actor): SQL | undefined {
  if (hasRole(actor, 'admin')) return undefined;
  return or(inArray(auditEntries.targetKind, openKinds), isOwn(actor));
}

const isOwn = (actor: Actor): SQL | undefined =>
  and(eq(auditEntries.actorKind, actor.kind), eq(auditEntries.actorId, actor.id));

type Row = Pick<typeof auditEntries.$inferSelect, 'targetKind' | 'actorKind' | 'actorId'>;

/** Whether the caller can see an entry's `before` and `after` values. */
export function maySeeContents(actor: Actor, row: Row): boolean {
  if (declaredKinds.includes(row.targetKind)) return hasRole(actor, 'operator');
  return openKinds.includes(row.targetKind) || maySeeAddress(actor, row);
}

/**
 * Whether the caller can see the IP address and the client of an entry. Only admins see the addresses and clients of
 * other actors.
 */
export function maySeeAddress(actor: Actor, row: Row): boolean {
  return hasRole(actor, 'admin') || (row.actorKind === actor.kind && row.actorId === actor.id);
}

/** Converts the filter to a condition on the entries that the caller can see. */
export async function conditionOf(ctx: Context, filter: ActivityFilter): Promise<SQL | undefined> {
  const { vmId, actor, action, target, q, from, to, kind, upTo } = filter;
  const [actorKind, actorId] = split(actor);
  const [targetKind, targetId] = split(target);
  return and(
    visibleTo(ctx.actor),
    vmId === undefined ? undefined : eq(auditEntries.vmId, vmId),
    actorKind === undefined ? undefined : eq(auditEntries.actorKind, actorKind),
    actorId === undefined ? undefined : eq(auditEntries.actorId, actorId),
    action === undefined ? undefined : inArray(auditEntries.action, codesOf(action)),
    targetKind === undefined ? undefined : eq(auditEntries.targetKind, targetKind),
    targetId === undefined ? undefined : eq(auditEntries.targetId, targetId),
    kind === 'people' ? inArray(auditEntries.actorKind, personKinds) : undefined,
    kind === 'fleet'
      ? or(notInArray(auditEntries.actorKind, personKinds), inArray(auditEntries.action, fleetActions))
      : undefined,
    q === undefined || q === '' ? undefined : await namesContain(ctx, q),
    from === undefined ? undefined : gte(auditEntries.at, new Date(from)),
    to === undefined ? undefined : lt(auditEntries.at, new Date(to)),
    upTo === undefined ? undefined : lte(auditEntries.id, upTo),
  );
}

/** Splits `kind:id`; the id may be absent. */
function split(reference: string | undefined): [string?, string?] {
  if (reference === undefined) return [];
  const colon = reference.indexOf(':');
  return colon < 0 ? [reference] : [reference.slice(0, colon), reference.slice(colon + 1)];
}

/** Returns the matching action codes: the code itself, or all actions of a noun such as `vm`. */
function codesOf(action: string): string[] {
  return [action, ...actionCodes.filter((code) => code.startsWith(`${action}.`))];
}
