import { cookies } from 'next/headers';
import { cookieNames } from './cookies.ts';

/** Returns the reader's time zone from the cookie if it is valid, otherwise UTC. Server only. */
export async function readerZone(): Promise<string> {
  const wish = (await cookies()).get(cookieNames.timeZone)?.value;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: wish ?? 'UTC' }).resolvedOptions().timeZone;
  } catch {
    return 'UTC';
  }
}
