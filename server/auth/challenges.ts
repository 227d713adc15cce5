import { randomBytes } from 'node:crypto';
import { and, eq, gt, lt, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { authChallenges } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { seal, sha256Hex, unseal } from '#server/platform/keys.ts';

/**
 * The data that each kind of challenge stores for checking the response. `passkey`, `factor` and `factor-passkey` are
 * for signing in; `provider` is for signing in or connecting an account. The other kinds are for adding a factor or
 * confirming the member's identity within a session.
 */
export interface ChallengeData {
  passkey: { challenge: string };
  factor: { userId: string; passwordDigest: string };
  'factor-passkey': { challenge: string };
  provider: {
    state: string;
    nonce: string;
    verifier: string;
    next: string;
    invitation: string | null;
    /** Id of the session whose member connects a provider account; absent for a sign-in. */
    connect?: string;
  };
  'new-passkey': { challenge: string };
  'new-totp': { secret: string };
  'confirm-passkey': { challenge: string };
}

export type ChallengeKind = keyof ChallengeData;

type Db = Pick<Transaction, 'insert' | 'update' | 'delete'>;

/** Lifetime in seconds: long enough to fetch a phone, short enough for a page that is left open. */
export const challengeLife = 10 * 60;

const digestOf = (kind: ChallengeKind, token: string): string => sha256Hex(`${kind} ${token}`);

/**
 * Creates a challenge and returns the token that the response must present. By default, this is a new token, which the
 * browser gets as a cookie. Within a session, callers pass the session's id instead, so a session has at most one open
 * challenge of each kind.
 */
export async function openChallenge<Kind extends ChallengeKind>(
  { db, keys }: Pick<Services, 'keys'> & { db: Db },
  kind: Kind,
  data: ChallengeData[Kind],
  now: Date,
  token: string = randomBytes(32).toString('base64url'),
): Promise<string> {
  await db.delete(authChallenges).where(lt(authChallenges.expiresAt, now));
  const digest = digestOf(kind, token);
  const row = {
    asked: seal(keys.challenge, Buffer.from(JSON.stringify(data)), digest),
    tries: 0,
    expiresAt: new Date(now.getTime() + challengeLife * 1_000),
  };
  await db
    .insert(authChallenges)
    .values({ digest, ...row })
    .onConflictDoUpdate({ target: authChallenges.digest, set: row });
  return token;
}

/**
 * Removes and returns a challenge, so that only one of two concurrent responses gets it. Returns null if no challenge
 * is open.
 */
export async function takeChallenge<Kind extends ChallengeKind>(
  { db, keys }: Pick<Services, 'keys'> & { db: Db },
  kind: Kind,
  token: string | null,
  now: Date,
): Promise<ChallengeData[Kind] | null> {
  if (token === null) return null;
  const digest = digestOf(kind, token);
  const [row] = await db.delete(authChallenges).where(eq(authChallenges.digest, digest)).returning();
  if (!row || row.expiresAt <= now) return null;
  return JSON.parse(unseal(keys.challenge, row.asked, digest).toString()) as ChallengeData[Kind];
}

/** Counts an attempt and returns the challenge. Returns null if no challenge is open or no attempts are left. */
export async function tryChallenge<Kind extends ChallengeKind>(
  { db, keys }: Pick<Services, 'keys'> & { db: Db },
  kind: Kind,
  token: string | null,
  now: Date,
  maxTries: number,
): Promise<ChallengeData[Kind] | null> {
  if (token === null) return null;
  const digest = digestOf(kind, token);
  const [row] = await db
    .update(authChallenges)
    .set({ tries: sql`${authChallenges.tries} + 1` })
    .where(
      and(eq(authChallenges.digest, digest), gt(authChallenges.expiresAt, now), lt(authChallenges.tries, maxTries)),
    )
    .returning();
  return row ? (JSON.parse(unseal(keys.challenge, row.asked, digest).toString()) as ChallengeData[Kind]) : null;
}
