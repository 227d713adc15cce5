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
  createdAt: Date;
  /** Time of the last call in any browser, accurate to five minutes; null without a session. */
  lastSeenAt: Date | null;
  passkeys: number;
  /** Whether an authenticator app is set up. */
  totp: boolean;
  /** Whether an account at the OpenID provider is connected. */
  hasProvider: boolean;
}

/**
 * Returns the namespaces to store: none for other roles than publisher, so that a later change of role does not restore
 * old ones.
 */
export function namespacesOf(role: Role, namespaces: readonly string[]): string[] {
  return role === 'publisher' ? [...new Set(namespaces)].toSorted() : [];
}

/** The rights of a member. */
export interface Rights {
  role: Role;
  namespaces: readonly string[];
}

/** Whether `rights` include all of `others`. */
export function includesRights(rights: Rights, others: Rights): boolean {
  if (!hasRole({ kind: 'user', id: '', name: '', ...rights }, others.role)) return false;
  return rights.role === 'admin' || others.namespaces.every((each) => rights.namespaces.includes(each));
}

/**
 * Rejects a change that would leave no administrator. Locks the administrators' rows, so that such changes run one at a
 * time.
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
