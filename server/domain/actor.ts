import type { Role } from '#db/schema/auth.ts';

export type { Role } from '#db/schema/auth.ts';

import { DomainError } from '#server/domain/error.ts';

/** Who asks. `id` is stable and safe to store; `name` is what people read in the activity. */
export interface Actor {
  kind: 'user' | 'token' | 'bootstrap' | 'agent' | 'system' | 'anonymous';
  id: string;
  name: string;
  /** Null for nobody, and for a person who must set up a second factor before anything else. */
  role: Role | null;
  /** Publisher namespaces that this actor belongs to; counts for the role `publisher` only. */
  namespaces: readonly string[];
  /** The language that a signed-in person chose for the account; API tokens and agents have none. */
  language?: string | undefined;
}

const includes: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ['viewer'],
  operator: ['viewer', 'operator'],
  publisher: ['viewer', 'publisher'],
  admin: ['viewer', 'operator', 'publisher', 'admin'],
};

/** Whether the actor has this role, by itself or by one that includes it. */
export function hasRole(actor: Actor, role: Role): boolean {
  return actor.role !== null && includes[actor.role].includes(role);
}

/** Refuses with 401 where nobody is signed in, with 403 where the role is missing. */
export function allow(actor: Actor, role: Role): void {
  if (actor.kind === 'anonymous') throw new DomainError('unauthenticated', 'unauthenticated');
  if (actor.role === null) throw new DomainError('forbidden', 'factor_required');
  if (!hasRole(actor, role)) throw new DomainError('forbidden', 'forbidden', { params: { role } });
}

/** Refuses a publisher outside its own namespaces; an admin publishes everywhere. */
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
