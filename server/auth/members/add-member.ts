import { v7 as uuid } from 'uuid';
import type { Transaction } from '#db/client.ts';
import { accounts, type Role, users } from '#db/schema/index.ts';
import type { Actor } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { namespacesOf } from './member.ts';

/** A new member. The password is hashed beforehand, because hashing takes too long for a transaction. */
export interface NewMember {
  name: string;
  email: string;
  /** Hash of the password; null if the member signs in through the OpenID provider. */
  passwordHash: string | null;
  role: Role;
  namespaces: readonly string[];
}

/**
 * Creates a member, stores the password hash (unless null), and records the change and an activity log entry, in the
 * caller's transaction. No other function creates members. `by` is the actor, by default the new member. Throws
 * `email_taken`.
 */
export async function addMember(tx: Transaction, ctx: Context, member: NewMember, by?: Actor): Promise<Actor> {
  const { name, email, passwordHash, role } = member;
  const actor: Actor = { kind: 'user', id: uuid(), name, role, namespaces: namespacesOf(role, member.namespaces) };
  const times = { createdAt: ctx.now, updatedAt: ctx.now };
  const inserted = await tx
    .insert(users)
    .values({ id: actor.id, name, email, role, namespaces: [...actor.namespaces], ...times })
    .onConflictDoNothing({ target: users.email })
    .returning({ id: users.id });
  if (inserted.length === 0) {
    throw new DomainError('conflict', 'email_taken', { faults: [{ path: '/email', code: 'email_taken' }] });
  }
  if (passwordHash !== null) {
    await tx.insert(accounts).values({
      id: uuid(),
      userId: actor.id,
      accountId: actor.id,
      providerId: 'credential',
      password: passwordHash,
      ...times,
    });
  }
  await recordAudit(
    tx,
    { ...ctx, actor: by ?? actor },
    {
      action: 'member.join',
      target: { kind: 'member', id: actor.id },
      after: { name, email, role, namespaces: actor.namespaces },
      details: { name, role },
    },
  );
  await recordChange(tx, 'member', actor.id);
  return actor;
}
