import Bowser from 'bowser';
import { desc, eq } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { type SignInMethod, sessions } from '#db/schema/index.ts';
import { idleLife } from '../session.ts';

/** A browser with a session. */
export interface SignedInBrowser {
  id: string;
  /** "Firefox 141"; null if unknown. */
  browser: string | null;
  /** "macOS"; null if unknown. */
  system: string | null;
  /** Where the sign-in came from. */
  address: string | null;
  method: SignInMethod;
  createdAt: Date;
  /** Within five minutes. */
  lastUsedAt: Date;
  /** The caller's session. */
  isThis: boolean;
}

/** The valid sessions of a person, the last used first. */
export async function browsersOf(
  db: Database,
  userId: string,
  now: Date,
  thisId: string | null,
): Promise<SignedInBrowser[]> {
  const rows = await db.select().from(sessions).where(eq(sessions.userId, userId)).orderBy(desc(sessions.updatedAt));
  return rows
    .filter(({ expiresAt, updatedAt }) => expiresAt > now && now.getTime() - updatedAt.getTime() <= idleLife)
    .map((row) => ({
      id: row.id,
      ...namesOf(row.userAgent),
      address: row.ipAddress,
      method: row.method,
      createdAt: row.createdAt,
      lastUsedAt: row.updatedAt,
      isThis: row.id === thisId,
    }));
}

/** Name and major version of a user agent, and its system. */
export function namesOf(userAgent: string | null): { browser: string | null; system: string | null } {
  if (userAgent === null || userAgent === '') return { browser: null, system: null };
  const { browser, os } = Bowser.parse(userAgent);
  const major = browser.version?.split('.')[0];
  const name = browser.name === undefined || browser.name === '' ? null : browser.name;
  return {
    browser: name === null ? null : [name, major].filter((part) => part !== undefined && part !== '').join(' '),
    system: os.name === undefined || os.name === '' ? null : os.name,
  };
}
