import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { type Role, users } from '#db/schema/index.ts';
import { hasRole } from '#server/domain/actor.ts';
import { DomainError } from '#server/domain/error.ts';

/** A person as administrators see them. */
export interface Member {
  id: string;
  name: string;
  email: string;
  role: Role;
  namespaces: string[];
  createdAt: Date;
  /** Last call on any browser, within five minutes; null when signed in nowhere. */
  lastSeenAt: Date | null;
  passkeys: number;
  /** Whether an authenticator app is set up. */
  totp: boolean;
  /** Whether an account at the OpenID provider belongs to this person. */
  hasProvider: boolean;
}

/** Namespaces count for publishers only; with other roles none are kept that would come back unasked. */
export function namespacesOf(role: Role, namespaces: readonly string[]): string[] {
  return role === 'publisher' ? [...new Set(namespaces)].toSorted() : [];
}

/** What a member may do. */
export interface Rights {
  role: Role;
  namespaces: readonly string[];
}

/** Whether these rights include all of the others. */
export function includesRights(rights: Rights, others: Rights): boolean {
  if (!hasRole({ kind: 'user', id: '', name: '', ...rights }, others.role)) return false;
  return rights.role === 'admin' || others.namespaces.every((each) => rights.namespaces.includes(each));
}

/** Refuses what would leave nobody who can administer. Locks the administrators' rows: two at once take turns. */
export async function requireOtherAdmin(tx: Transaction, id: string): Promise<void> {
  const admins = await tx
    .select({ id: users.id })
    .from(users)
    .where(eq(users.role, 'admin'))
    .orderBy(users.id)
    .for('update');
  if (!admins.some((admin) => admin.id !== id)) throw new DomainError('conflict', 'last_admin');
}
