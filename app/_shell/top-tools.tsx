'use client';

import { AccountMenu } from './account-menu.tsx';
import { LanguageMenu } from './language-menu.tsx';
import { LiveIndicator } from './live-indicator.tsx';
import { PaletteButton } from './palette/palette-button.tsx';
import { useShell } from './shell-state.ts';
import { ThemeMenu } from './theme-menu.tsx';

/** The tools at the end of every page's top bar. */
export function TopTools() {
  const { languages, theme } = useShell();
  return (
    <div className="flex items-center gap-1">
      <PaletteButton />
      <LiveIndicator />
      <LanguageMenu languages={languages} signedIn />
      <ThemeMenu theme={theme} />
      <div className="sm:hidden">
        <AccountMenu />
      </div>
    </div>
  );
}
