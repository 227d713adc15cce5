import Bowser from 'bowser';
import { desc, eq } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { type SignInMethod, sessions } from '#db/schema/index.ts';
import { idleLife } from '../session.ts';

/** A browser in which a member is signed in. */
export interface SignedInBrowser {
  id: string;
  /** The browser's name and major version, such as "Firefox 141"; null if unknown. */
  browser: string | null;
  /** The operating system, such as "macOS"; null if unknown. */
  system: string | null;
  /** IP address from which the member signed in. */
  address: string | null;
  method: SignInMethod;
  createdAt: Date;
  /** Time of the last call, accurate to five minutes. */
  lastUsedAt: Date;
  /** Whether this is the caller's session. */
  isThis: boolean;
}

/** Returns the valid sessions of a member, most recently used first. */
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

/** Returns the browser's name and major version, and the operating system's name, from the user agent string. */
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
