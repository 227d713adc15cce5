'use client';

import { useQuery } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { useFormat } from '#app/_ui/format.ts';
import { LazyMenu } from '../_ui/lazy-menu.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Mark } from './mark.tsx';
import { isAt, type NavigationPlace, places } from './places.ts';
import { useReader } from './reader.tsx';

/** The side menu: 196 px wide. Windows up to 1180 px show only its icons; below 720 px, the tab bar replaces it. */
export function Nav() {
  const { t } = useTranslation('navigation');
  const path = usePathname();
  const reader = useReader();
  return (
    <nav
      aria-label={t('main')}
      className="sticky top-0 row-span-full flex h-dvh flex-col gap-px border-e border-line-subtle bg-canvas px-2 pb-3 max-sm:hidden"
    >
      <Link
        href="/"
        className="mb-1 flex h-(--topbar) shrink-0 items-center gap-[9px] px-2 text-14 font-semibold tracking-tight max-lg:justify-center"
      >
        <Mark className="size-5 shrink-0" />
        <span translate="no" className="max-lg:sr-only">
          Annex
        </span>
      </Link>
      {places
        .filter((place) => reader.can(place.role))
        .map((place) => {
          const Icon = place.icon;
          return (
            <Link
              key={place.id}
              href={place.href}
              title={t(place.id)}
              aria-current={isAt(path, place) ? 'page' : undefined}
              className="group flex h-[30px] shrink-0 items-center gap-[9px] rounded-md px-2 text-ink-2 hover:bg-hover hover:text-ink aria-[current=page]:bg-press aria-[current=page]:font-medium aria-[current=page]:text-ink max-lg:justify-center pointer-coarse:h-(--touch)"
            >
              <Icon
                aria-hidden
                strokeWidth={1.75}
                className="size-4 shrink-0 text-ink-3 group-aria-[current=page]:text-brand-text"
              />
              <span className="truncate max-lg:sr-only">{t(place.id)}</span>
              {place.id === 'attention' ? <OpenProblems /> : null}
              {place.id === 'rollouts' ? <NeedingRollouts /> : null}
            </Link>
          );
        })}
      <div className="mt-auto">
        <AccountMenu showName />
      </div>
    </nav>
  );
}

/** The number of problems that are not snoozed; nothing if there are none. */
function OpenProblems() {
  const { t } = useTranslation('navigation');
  const trpc = useTRPC();
  const format = useFormat();
  const count = useQuery({ ...trpc.attention.count.queryOptions(), enabled: false });
  const { refetch } = count;
  useThrottledReload({ queryKey: trpc.attention.count.queryKey(), refetch, agesMs: 60_000, pauseMs: 5_000 });
  const open = count.data?.open ?? 0;
  if (open === 0) return null;
  return (
    <span className="ms-auto text-12 text-ink-3 tabular-nums max-lg:sr-only">
      <span aria-hidden>{format.number(open)}</span>
      <span className="sr-only">{t('attention.open', { count: open, shown: format.number(open) })}</span>
    </span>
  );
}

/** The number of rollouts that do not continue without a person; nothing if there are none. */
function NeedingRollouts() {
  const { t } = useTranslation('navigation');
  const trpc = useTRPC();
  const format = useFormat();
  const count = useQuery({ ...trpc.rollouts.countNeeding.queryOptions(), enabled: false });
  const { refetch } = count;
  useThrottledReload({ queryKey: trpc.rollouts.countNeeding.queryKey(), refetch, agesMs: 60_000, pauseMs: 5_000 });
  const needing = count.data?.needing ?? 0;
  if (needing === 0) return null;
  return (
    <span className="ms-auto rounded-full bg-warning-tint px-1.5 text-12 text-warning-text tabular-nums shadow-[inset_0_0_0_1px_var(--warning-line)] max-lg:sr-only">
      <span aria-hidden>{format.number(needing)}</span>
      <span className="sr-only">{t('rollouts.needing', { count: needing, shown: format.number(needing) })}</span>
    </span>
  );
}

const tab =
  'grid min-w-0 content-center justify-items-center gap-[3px] px-1 text-11 leading-3 font-medium text-ink-2 aria-[current=page]:text-brand-text';
/** Tabs that would not fit in a language with long words. The menu of the last tab contains them. */
const behindMore: readonly NavigationPlace['id'][] = [
  'models',
  'executions',
  'handlers',
  'rollouts',
  'runbooks',
  'publish',
  'settings',
];

/** The tab bar of narrow pages. */
export function TabBar() {
  const { t } = useTranslation(['navigation', 'common']);
  const path = usePathname();
  const reader = useReader();
  const rest = places.filter((place) => behindMore.includes(place.id) && reader.can(place.role));
  return (
    <nav
      aria-label={t('main')}
      className="fixed inset-x-0 bottom-0 z-40 hidden h-(--tabbar) grid-cols-5 border-t border-line bg-surface max-sm:grid"
    >
      {places
        .filter((place) => !behindMore.includes(place.id) && reader.can(place.role))
        .map((place) => {
          const Icon = place.icon;
          return (
            <Link
              key={place.id}
              href={place.href}
              aria-current={isAt(path, place) ? 'page' : undefined}
              className={tab}
            >
              <Icon aria-hidden strokeWidth={1.75} className="size-5" />
              <span className="max-w-full truncate">
                {t(place.id === 'attention' ? 'navigation:attention.short' : `navigation:${place.id}`)}
              </span>
            </Link>
          );
        })}
      <LazyMenu
        trigger={
          <button
            type="button"
            aria-current={rest.some((place) => isAt(path, place)) ? 'page' : undefined}
            className={tab}
          >
            <Ellipsis aria-hidden strokeWidth={1.75} className="size-5" />
            <span className="max-w-full truncate">{t('common:more')}</span>
          </button>
        }
      >
        {({ MenuItem }) =>
          rest.map(({ id, href, icon: Icon }) => (
            <MenuItem key={id} asChild>
              <Link href={href}>
                <Icon aria-hidden />
                {t(`navigation:${id}`)}
              </Link>
            </MenuItem>
          ))
        }
      </LazyMenu>
    </nav>
  );
}
