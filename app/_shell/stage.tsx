import type { ReactNode } from 'react';
import { availableLanguages } from '../_lib/i18n/catalog.ts';
import { words } from '../_lib/i18n/server.ts';
import { reader } from '../_lib/portal.ts';
import { DataProvider } from '../_lib/trpc.tsx';
import { Card } from '../_ui/card.tsx';
import { Toaster } from '../_ui/toast.tsx';
import { LanguageMenu } from './language-menu.tsx';
import { Mark } from './mark.tsx';
import { currentTheme } from './theme.ts';
import { ThemeMenu } from './theme-menu.tsx';

/** A single centered card, for pages outside the shell: sign-in, setup, not found. */
export async function Stage({ children }: { children: ReactNode }) {
  const [person, { t }] = await Promise.all([reader().catch(() => null), words('navigation')]);
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex h-(--topbar) shrink-0 items-center gap-2 px-(--gutter)">
        <Mark className="size-5" />
        <span translate="no" className="text-14 font-semibold tracking-tight">
          Annex
        </span>
        <div className="ms-auto flex items-center gap-1">
          {person === null ? (
            <LanguageMenu languages={availableLanguages()} signedIn={false} />
          ) : (
            <DataProvider>
              <LanguageMenu languages={availableLanguages()} signedIn />
              <Toaster label={t('notices')} />
            </DataProvider>
          )}
          <ThemeMenu theme={await currentTheme()} />
        </div>
      </header>
      <main className="grid flex-1 content-start justify-items-center px-4 pt-[12vh] pb-10">
        <Card className="w-full max-w-[380px]">{children}</Card>
      </main>
    </div>
  );
}
