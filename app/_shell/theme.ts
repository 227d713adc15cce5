import { cookies } from 'next/headers';
import { cookieNames } from '../_lib/cookies.ts';

export type Theme = 'system' | 'light' | 'dark';

/** Returns the reader's choice; by default the system's theme. */
export async function currentTheme(): Promise<Theme> {
  const choice = (await cookies()).get(cookieNames.theme)?.value;
  return choice === 'light' || choice === 'dark' ? choice : 'system';
}
