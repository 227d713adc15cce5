'use client';

import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { type ReactNode, useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { KeysProvider, useKeys } from '../_lib/keys.tsx';
import { mayLeave } from '../_lib/leave.ts';
import { LiveProvider } from '../_lib/live/provider.tsx';
import { DataProvider } from '../_lib/trpc.tsx';
import { Toaster } from '../_ui/toast.tsx';
import { Nav, TabBar } from './nav.tsx';
import { NavigationBar } from './navigation-bar.tsx';
import { PaletteHost } from './palette/palette-host.tsx';
import { places } from './places.ts';
import { type Reader, ReaderProvider, useReader } from './reader.tsx';
import { ShellContext, type ShellState } from './shell-state.ts';
import { useKeptFocus } from './use-kept-focus.ts';

// Pages use these components. They are exported here so that they are part of the layout's script, and not of every
// page's script.
export { LiveBanner } from './live-indicator.tsx';
export { TopTools } from './top-tools.tsx';

const KeysDialog = dynamic(() => import('./keys-dialog.tsx').then((module) => module.KeysDialog), { ssr: false });

export interface ShellProps extends ShellState {
  reader: Reader;
  /** Position of this page's data in the stream of changes. */
  livePosition: string | undefined;
  children: ReactNode;
}

/** Everything around a page that stays during navigation: menu, data, live connection, shortcuts, toasts. */
export function Shell({ reader, languages, theme, livePosition, children }: ShellProps) {
  const { t } = useTranslation('navigation');
  const state = useMemo(() => ({ languages, theme }), [languages, theme]);
  useKeptFocus();
  return (
    <DataProvider>
      <LiveProvider startAt={livePosition}>
        <KeysProvider>
          <ReaderProvider reader={reader}>
            <ShellContext value={state}>
              <a
                href="#main"
                className="sr-only focus:not-sr-only focus:fixed focus:start-3 focus:top-2 focus:z-60 focus:rounded-md focus:bg-brand focus:px-3 focus:py-1.5 focus:text-on-brand"
              >
                {t('skip')}
              </a>
              <div className="grid min-h-dvh grid-cols-[var(--nav)_minmax(0,1fr)] max-lg:grid-cols-[var(--nav-rail)_minmax(0,1fr)] max-sm:block">
                <Nav />
                {children}
              </div>
              <TabBar />
              <NavigationBar />
              <EverywhereKeys />
              <PaletteHost />
              <Toaster label={t('notices')} />
            </ShellContext>
          </ReaderProvider>
        </KeysProvider>
      </LiveProvider>
    </DataProvider>
  );
}

/** Binds `/` to the search field of the page, `g` with a letter to a page, and `?` to the list of shortcuts. */
function EverywhereKeys() {
  const { t } = useTranslation('navigation');
  const reader = useReader();
  const router = useRouter();
  const [listed, setListed] = useState(false);
  useKeys(
    [
      {
        key: '/',
        label: t('keys.search'),
        run(event) {
          const search = document.querySelector<HTMLElement>('[data-page-search]');
          if (search === null) return;
          event.preventDefault();
          search.focus();
        },
      },
      ...places
        .filter((place) => reader.can(place.role))
        .map(({ id, key, href }) => ({
          key: `g ${key}`,
          label: t('keys.goTo', { place: t(id) }),
          run: () => mayLeave(() => router.push(href)),
        })),
      { key: '?', label: t('keys.show'), run: () => setListed(true) },
    ],
    { isEverywhere: true },
  );
  return listed ? <KeysDialog onClose={() => setListed(false)} /> : null;
}
