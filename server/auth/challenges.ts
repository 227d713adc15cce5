import { randomBytes } from 'node:crypto';
import { and, eq, gt, lt, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { authChallenges } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { seal, sha256Hex, unseal } from '#server/platform/keys.ts';

/**
 * What can be waited for. `asked` is what the answer is checked against:
 * a passkey for the sign-in, the second factor after a password and its passkey, the OpenID provider's answer, and in a
 * session a new passkey, a new authenticator app, and a passkey that confirms who sits there.
 */
export interface Asked {
  passkey: { challenge: string };
  factor: { userId: string; passwordDigest: string };
  'factor-passkey': { challenge: string };
  provider: {
    state: string;
    nonce: string;
    verifier: string;
    next: string;
    invitation: string | null;
    /** The session that connects an account; absent where someone signs in. */
    connect?: string;
  };
  'new-passkey': { challenge: string };
  'new-totp': { secret: string };
  'confirm-passkey': { challenge: string };
}

export type ChallengeKind = keyof Asked;

type Db = Pick<Transaction, 'insert' | 'update' | 'delete'>;

/** Long enough to fetch a phone, short enough that a forgotten page is no door. Seconds. */
export const challengeLife = 10 * 60;

const digestOf = (kind: ChallengeKind, token: string): string => sha256Hex(`${kind} ${token}`);

/**
 * Asks for something. The answer must come with the same token: a new one that the browser gets as a cookie, or the id
 * of a session, which then waits for one answer of this kind at most. Gives the token.
 */
export async function openChallenge<Kind extends ChallengeKind>(
  { db, keys }: Pick<Services, 'keys'> & { db: Db },
  kind: Kind,
  asked: Asked[Kind],
  now: Date,
  token: string = randomBytes(32).toString('base64url'),
): Promise<string> {
  await db.delete(authChallenges).where(lt(authChallenges.expiresAt, now));
  const digest = digestOf(kind, token);
  const row = {
    asked: seal(keys.challenge, Buffer.from(JSON.stringify(asked)), digest),
    tries: 0,
    expiresAt: new Date(now.getTime() + challengeLife * 1_000),
  };
  await db
    .insert(authChallenges)
    .values({ digest, ...row })
    .onConflictDoUpdate({ target: authChallenges.digest, set: row });
  return token;
}

/** Takes a challenge away and gives what was asked: of two answers one gets it. Null when there is none any more. */
export async function takeChallenge<Kind extends ChallengeKind>(
  { db, keys }: Pick<Services, 'keys'> & { db: Db },
  kind: Kind,
  token: string | null,
  now: Date,
): Promise<Asked[Kind] | null> {
  if (token === null) return null;
  const digest = digestOf(kind, token);
  const [row] = await db.delete(authChallenges).where(eq(authChallenges.digest, digest)).returning();
  if (!row || row.expiresAt <= now) return null;
  return JSON.parse(unseal(keys.challenge, row.asked, digest).toString()) as Asked[Kind];
}

/** Counts a try and gives what was asked, which stays; null when there is none any more or all tries are used up. */
export async function tryChallenge<Kind extends ChallengeKind>(
  { db, keys }: Pick<Services, 'keys'> & { db: Db },
  kind: Kind,
  token: string | null,
  now: Date,
  mostTries: number,
): Promise<Asked[Kind] | null> {
  if (token === null) return null;
  const digest = digestOf(kind, token);
  const [row] = await db
    .update(authChallenges)
    .set({ tries: sql`${authChallenges.tries} + 1` })
    .where(
      and(eq(authChallenges.digest, digest), gt(authChallenges.expiresAt, now), lt(authChallenges.tries, mostTries)),
    )
    .returning();
  return row ? (JSON.parse(unseal(keys.challenge, row.asked, digest).toString()) as Asked[Kind]) : null;
}
