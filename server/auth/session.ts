import { createHmac, timingSafeEqual } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { sessions, users } from '#db/schema/index.ts';
import type { Actor } from '#server/domain/actor.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Services } from '#server/domain/context.ts';
import { sessionCookie } from './sign-in.ts';

const minute = 60_000;

/** A session ends after 12 hours without a call, and after 30 days in any case (sign-in.ts). */
export const idleLife = 12 * 60 * minute;

/** Use is written down at most this often. */
const touchEvery = 5 * minute;

/** Somebody who is signed in on a browser. */
export interface Session {
  id: string;
  actor: Actor;
  email: string;
}

/** Who is signed in with the cookie of these headers; null for nobody. One query, and a write every five minutes. */
export async function readSession(services: Services, headers: Headers, now: Date): Promise<Session | null> {
  const token = cookieToken(services, headers);
  return token === null ? null : sessionOf(services, eq(sessions.token, token), now);
}

/** The same session later, as it stands now; null when it ended meanwhile. */
export async function rereadSession(services: Services, id: string, now: Date): Promise<Session | null> {
  return sessionOf(services, eq(sessions.id, id), now, false);
}

/** Ends the session of these headers, if there is one; live connections that hang on it hear of it and end too. */
export async function endSession(services: Services, headers: Headers): Promise<void> {
  const token = cookieToken(services, headers);
  if (token === null) return;
  await services.db.transaction(async (tx) => {
    const [ended] = await tx.delete(sessions).where(eq(sessions.token, token)).returning({ userId: sessions.userId });
    if (ended) await recordChange(tx, 'member', ended.userId);
  });
}

async function sessionOf(
  { db }: Services,
  which: ReturnType<typeof eq>,
  now: Date,
  isUse = true,
): Promise<Session | null> {
  const [row] = await db
    .select({ session: sessions, user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(which);
  if (!row) return null;
  const idle = now.getTime() - row.session.updatedAt.getTime();
  if (row.session.expiresAt <= now || idle > idleLife) {
    await db.delete(sessions).where(eq(sessions.id, row.session.id));
    return null;
  }
  if (isUse && idle > touchEvery) {
    await db
      .update(sessions)
      .set({ updatedAt: sql`greatest(${sessions.updatedAt}, ${now.toISOString()}::timestamptz)` })
      .where(eq(sessions.id, row.session.id));
  }
  const { id, name, email, role, namespaces } = row.user;
  return { id: row.session.id, actor: { kind: 'user', id, name, role, namespaces }, email };
}

/** The token in the session cookie, where its signature holds: `<token>.<base64 of HMAC-SHA256>`, URL-encoded. */
function cookieToken({ config, keys }: Services, headers: Headers): string | null {
  const prefix = `${sessionCookie(config.url)}=`;
  const cookie = (headers.get('cookie') ?? '')
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(prefix));
  if (cookie === undefined) return null;
  const value = decode(cookie.slice(prefix.length));
  const dot = value.lastIndexOf('.');
  if (dot < 1) return null;
  const token = value.slice(0, dot);
  const signed = Buffer.from(value.slice(dot + 1), 'base64');
  const expected = createHmac('sha256', keys.session.toString('base64url')).update(token).digest();
  return signed.length === expected.length && timingSafeEqual(signed, expected) ? token : null;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
