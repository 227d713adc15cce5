import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { and, eq, ne, sql } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import type { Database, Transaction } from '#db/client.ts';
import { passkeys, type SignInMethod, sessions, signInRules, totpFactors, users } from '#db/schema/index.ts';
import type { Actor } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { readCookie, setCookie } from './cookies.ts';

const minute = 60_000;

/** How long a session lasts without a call, in milliseconds. */
export const idleLife = 12 * 60 * minute;

/** Maximum lifetime of a session in seconds, even if it is in use. */
export const sessionLife = 30 * 24 * 60 * 60;

/** Minimum time between two updates of a session's last use, in milliseconds. */
const touchEvery = 5 * minute;

/** A member's session in a browser. */
export interface Session {
  id: string;
  /**
   * The member as an actor. While the member must set up a second factor, the actor has no role, so that only verbs for
   * the member's own account work.
   */
  actor: Actor;
  email: string;
  method: SignInMethod;
  /** When the member last confirmed their identity. */
  confirmedAt: Date;
  /** Whether the member must set up a second factor, because the portal requires one. */
  needsFactor: boolean;
}

/** How and where a member signs in. */
export interface SignInWay {
  method: SignInMethod;
  /** The second factor, if one was used. */
  factor?: 'totp' | 'recovery-code' | 'passkey' | undefined;
  headers: Headers;
  address: string;
}

/** Starts a session in the caller's transaction. Returns its `Set-Cookie` header. */
export async function startSession(tx: Transaction, ctx: Context, actor: Actor, way: SignInWay): Promise<string> {
  const { now, config, keys } = ctx;
  const token = randomBytes(32).toString('base64url');
  await tx.insert(sessions).values({
    id: uuid(),
    userId: actor.id,
    token,
    method: way.method,
    ipAddress: way.address,
    userAgent: way.headers.get('user-agent')?.slice(0, 500) ?? null,
    expiresAt: new Date(now.getTime() + sessionLife * 1_000),
    createdAt: now,
    updatedAt: now,
    confirmedAt: now,
  });
  await recordAudit(
    tx,
    { ...ctx, actor },
    {
      action: 'member.sign-in',
      target: { kind: 'member', id: actor.id },
      details: { method: way.method, ...(way.factor === undefined ? {} : { factor: way.factor }) },
    },
  );
  await recordChange(tx, 'member', actor.id);
  return setCookie(config, 'session_token', `${token}.${signatureOf(keys, token).toString('base64')}`, sessionLife);
}

/**
 * Returns the session whose cookie is in these headers; null if there is none. Runs one query, plus at most one write
 * every five minutes.
 */
export async function readSession(services: Services, headers: Headers, now: Date): Promise<Session | null> {
  const token = cookieToken(services, headers);
  return token === null ? null : sessionOf(services, eq(sessions.token, token), now);
}

/** Reads a session again. Returns null if it has ended. Does not count as a use of the session. */
export async function rereadSession(services: Services, id: string, now: Date): Promise<Session | null> {
  return sessionOf(services, eq(sessions.id, id), now, false);
}

/**
 * Ends the session whose cookie is in these headers, and the session's live connections. Without a session, does
 * nothing.
 */
export async function endSession(services: Services, headers: Headers): Promise<void> {
  const token = cookieToken(services, headers);
  if (token === null) return;
  await services.db.transaction(async (tx) => {
    const [ended] = await tx.delete(sessions).where(eq(sessions.token, token)).returning({ userId: sessions.userId });
    if (ended) await recordChange(tx, 'member', ended.userId);
  });
}

/**
 * Ends the sessions of a member, except `keptId`. Returns the number of ended sessions. The caller must record the
 * change.
 */
export async function endSessionsOf(tx: Transaction, userId: string, keptId?: string): Promise<number> {
  const which = and(eq(sessions.userId, userId), keptId === undefined ? undefined : ne(sessions.id, keptId));
  return (await tx.delete(sessions).where(which).returning({ id: sessions.id })).length;
}

/** Returns an SQL condition that is true if a member has a factor besides the password. */
const hasFactor = (db: Pick<Database, 'select'>) =>
  sql<boolean>`(exists ${db.select({ one: sql`1` }).from(passkeys).where(eq(passkeys.userId, users.id))}
    or exists ${db.select({ one: sql`1` }).from(totpFactors).where(eq(totpFactors.userId, users.id))})`;

async function sessionOf(
  { db }: Services,
  which: ReturnType<typeof eq>,
  now: Date,
  isUse = true,
): Promise<Session | null> {
  const [row] = await db
    .select({ session: sessions, user: users, requireFactor: signInRules.requireFactor, hasFactor: hasFactor(db) })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoin(signInRules, eq(signInRules.id, 1))
    .where(which);
  if (!row) return null;
  const { session, user } = row;
  const idle = now.getTime() - session.updatedAt.getTime();
  if (session.expiresAt <= now || idle > idleLife) {
    await db.delete(sessions).where(eq(sessions.id, session.id));
    return null;
  }
  if (isUse && idle > touchEvery) {
    await db
      .update(sessions)
      .set({ updatedAt: sql`greatest(${sessions.updatedAt}, ${now.toISOString()}::timestamptz)` })
      .where(eq(sessions.id, session.id));
  }
  const needsFactor = row.requireFactor === true && session.method !== 'provider' && !row.hasFactor;
  const { id, name, email, namespaces, scripts } = user;
  const language = user.language ?? undefined;
  return {
    id: session.id,
    actor: { kind: 'user', id, name, role: needsFactor ? null : user.role, namespaces, scripts, language },
    email,
    method: session.method,
    confirmedAt: session.confirmedAt,
    needsFactor,
  };
}

const signatureOf = (keys: Services['keys'], token: string): Buffer =>
  createHmac('sha256', keys.session.toString('base64url')).update(token).digest();

/**
 * Returns the token in the session cookie; null without a valid signature. The cookie is `<token>.<base64 of
 * HMAC-SHA256>`, URL-encoded.
 */
function cookieToken({ config, keys }: Services, headers: Headers): string | null {
  const value = readCookie(config, headers, 'session_token') ?? '';
  const dot = value.lastIndexOf('.');
  if (dot < 1) return null;
  const token = value.slice(0, dot);
  const signed = Buffer.from(value.slice(dot + 1), 'base64');
  const expected = signatureOf(keys, token);
  return signed.length === expected.length && timingSafeEqual(signed, expected) ? token : null;
}
