import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { type Role, users } from '#db/schema/index.ts';
import { hasRole } from '#server/domain/actor.ts';
import { DomainError } from '#server/domain/error.ts';

/** A member as administrators see them. */
export interface Member {
  id: string;
  name: string;
  email: string;
  role: Role;
  namespaces: string[];
  /** Whether an operator or publisher has the grant `scripts` (docs/permissions.md). */
  scripts: boolean;
  createdAt: Date;
  /** Time of the last request from any browser, accurate to five minutes; null if the member has no session. */
  lastSeenAt: Date | null;
  passkeys: number;
  totp: boolean;
  /** Whether the member has connected an account at the OpenID provider. */
  hasProvider: boolean;
}

/**
 * Returns the namespaces to store. Only publishers have namespaces, so that a later change of role does not restore old
 * ones.
 */
export function namespacesOf(role: Role, namespaces: readonly string[]): string[] {
  return role === 'publisher' ? [...new Set(namespaces)].toSorted() : [];
}

export interface Rights {
  role: Role;
  namespaces: readonly string[];
}

export function includesRights(rights: Rights, others: Rights): boolean {
  if (!hasRole({ kind: 'user', id: '', name: '', ...rights }, others.role)) return false;
  return rights.role === 'admin' || others.namespaces.every((each) => rights.namespaces.includes(each));
}

/**
 * Throws `last_admin` if there is no other administrator. Locks the administrators' rows, so that concurrent demotions
 * and removals run one at a time.
 */
export async function requireOtherAdmin(tx: Transaction, id: string): Promise<void> {
  const admins = await tx
    .select({ id: users.id })
    .from(users)
    .where(eq(users.role, 'admin'))
    .orderBy(users.id)
    .for('update');
  if (!admins.some((admin) => admin.id !== id)) throw new DomainError('conflict', 'last_admin');
}
