import type { Role } from '#db/schema/auth.ts';

export type { Role } from '#db/schema/auth.ts';

import { DomainError } from '#server/domain/error.ts';

/** The caller of a verb. `id` is stable and safe to store; `name` is what the activity log shows. */
export interface Actor {
  kind: 'user' | 'token' | 'bootstrap' | 'agent' | 'system' | 'anonymous';
  id: string;
  name: string;
  /** Null for anonymous callers, for agents, and for members who must set up a second factor first. */
  role: Role | null;
  /** Publisher namespaces of this actor, used only for the role `publisher`. */
  namespaces: readonly string[];
  /** Whether the actor has the grant `scripts`. Check rights with `hasScripts`: admins have them without the grant. */
  scripts?: boolean;
  /** The language that a signed-in member chose for the account. API tokens and agents have none. */
  language?: string | undefined;
}

const includes: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ['viewer'],
  operator: ['viewer', 'operator'],
  publisher: ['viewer', 'publisher'],
  admin: ['viewer', 'operator', 'publisher', 'admin'],
};

/** Whether the actor has this role, directly or through a role that includes it. */
export function hasRole(actor: Actor, role: Role): boolean {
  return actor.role !== null && includes[actor.role].includes(role);
}

/** Rejects with 401 if the caller is not signed in, and with 403 if the caller lacks the role. */
export function allow(actor: Actor, role: Role): void {
  if (actor.kind === 'anonymous') throw new DomainError('unauthenticated', 'unauthenticated');
  if (actor.role === null) throw new DomainError('forbidden', 'factor_required');
  if (!hasRole(actor, role)) throw new DomainError('forbidden', 'forbidden', { params: { role } });
}

/**
 * Whether the actor has the rights of the grant `scripts`: admins, and operators and publishers with the grant. They
 * may write runbooks and, if they are operators or admins, run any execution plan.
 */
export function hasScripts(actor: Actor): boolean {
  return actor.role === 'admin' || (canHoldScripts(actor.role) && actor.scripts === true);
}

/** Whether the grant `scripts` can be given to this role. Viewers cannot have it, and admins do not need it. */
export function canHoldScripts(role: Role | null): boolean {
  return role === 'operator' || role === 'publisher';
}

/** Rejects a caller without the rights of the grant `scripts`. */
export function allowScripts(actor: Actor): void {
  allow(actor, 'viewer');
  if (!hasScripts(actor)) throw new DomainError('forbidden', 'scripts_forbidden');
}

/** Rejects a caller who has neither this role nor the rights of the grant `scripts`. */
export function allowRoleOrScripts(actor: Actor, role: Role): void {
  if (!hasScripts(actor)) allow(actor, role);
}

/** Rejects a caller who may not publish in this namespace. Admins may publish in every namespace. */
export function allowNamespace(actor: Actor, namespace: string): void {
  allow(actor, 'publisher');
  if (actor.role === 'admin' || actor.namespaces.includes(namespace)) return;
  throw new DomainError('forbidden', 'namespace_forbidden', { params: { namespace } });
}

export const systemActor: Actor = {
  kind: 'system',
  id: 'system',
  name: 'Annex',
  role: 'admin',
  namespaces: [],
};

export const anonymous: Actor = { kind: 'anonymous', id: '', name: '', role: null, namespaces: [] };
