import { writeChoice } from '../_lib/cookies.ts';
import type { Theme } from './theme.ts';

/** Takes effect at once, and is kept in a cookie. Browser only. */
export function setTheme(theme: Theme): void {
  writeChoice('theme', theme);
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
