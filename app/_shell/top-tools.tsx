'use client';

import { useQueryClient } from '@tanstack/react-query';
import { AccountMenu } from './account-menu.tsx';
import { LanguageMenu } from './language-menu.tsx';
import { LiveIndicator } from './live-indicator.tsx';
import { PaletteButton } from './palette/palette-button.tsx';
import { useShell } from './shell-state.ts';
import { ThemeMenu } from './theme-menu.tsx';

/** What stands at the end of the top bar on every page. */
export function TopTools() {
  const queryClient = useQueryClient();
  const { languages, theme } = useShell();
  return (
    <div className="ms-auto flex shrink-0 items-center gap-1">
      <PaletteButton />
      <LiveIndicator />
      <LanguageMenu
        languages={languages}
        // Messages were worded by the portal in the old language.
        onChange={() => void queryClient.invalidateQueries()}
      />
      <ThemeMenu theme={theme} />
      <div className="sm:hidden">
        <AccountMenu />
      </div>
    </div>
  );
}
