import { eq } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { apiTokens, users } from '#db/schema/index.ts';
import { type Actor, systemActor } from '#server/domain/actor.ts';

/**
 * The member or other actor responsible for an action. An API token acts for the member who created it; the bootstrap
 * token acts for no member.
 */
export interface Principal {
  /**
   * The same value for all actions of one member and the member's API tokens: `user:<id>`. For actors without a member,
   * the actor itself, such as `token:<id>` or `bootstrap:bootstrap`.
   */
  key: string;
  /**
   * Whether the actor is an admin now. For a token, both the token and the member behind it, if any, must have the
   * role.
   */
  isAdmin: boolean;
}

/** An actor as rows reference it: `kind:id`. */
export const actorRef = ({ kind, id }: Pick<Actor, 'kind' | 'id'>): string => `${kind}:${id}`;

/** Tokens can create tokens. Chains longer than this are not resolved to a member. */
const maxChain = 8;

/** Resolves `kind:id` to the responsible principal. Returns null if `ref` is null. */
export async function findPrincipal(
  tx: Database | Transaction,
  ref: string | null,
  now: Date,
): Promise<Principal | null> {
  if (ref === null) return null;
  const [kind, id] = [ref.slice(0, ref.indexOf(':')), ref.slice(ref.indexOf(':') + 1)];
  if (kind === 'token') return tokenPrincipal(tx, id, now);
  if (kind === 'user') return { key: ref, isAdmin: await isAdminMember(tx, id) };
  return { key: ref, isAdmin: kind === 'bootstrap' || kind === 'system' };
}

async function tokenPrincipal(tx: Database | Transaction, id: string, now: Date): Promise<Principal> {
  const own = { key: actorRef({ kind: 'token', id }), isAdmin: false };
  const token = await findToken(tx, id);
  if (token === undefined) return own;
  const holds = token.role === 'admin' && token.revokedAt === null && !(token.expiresAt && token.expiresAt <= now);
  let { createdBy } = token;
  for (let step = 0; step < maxChain; step += 1) {
    if (memberless.has(createdBy)) return { ...own, isAdmin: holds };
    const creator = await findToken(tx, createdBy);
    if (creator === undefined) {
      return { key: actorRef({ kind: 'user', id: createdBy }), isAdmin: holds && (await isAdminMember(tx, createdBy)) };
    }
    createdBy = creator.createdBy;
  }
  return own;
}

/** Actors that are not members. The tokens that they create belong to no member either. */
const memberless: ReadonlySet<string> = new Set(['bootstrap', systemActor.id]);

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

async function findToken(tx: Database | Transaction, id: string) {
  if (!uuidForm.test(id)) return undefined;
  const [row] = await tx.select().from(apiTokens).where(eq(apiTokens.id, id));
  return row;
}

async function isAdminMember(tx: Database | Transaction, id: string): Promise<boolean> {
  const [member] = await tx.select({ role: users.role }).from(users).where(eq(users.id, id));
  return member?.role === 'admin';
}
