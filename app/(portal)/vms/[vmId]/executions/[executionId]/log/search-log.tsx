'use client';

import { useInfiniteQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronUp, Search } from 'lucide-react';
import { type KeyboardEvent, useCallback, useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useKeys } from '#app/_lib/keys.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { IconButton } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Input } from '#app/_ui/input.tsx';
import type { LogCalls } from './log-calls.ts';

/** Delay in milliseconds between the last keystroke and the search. */
const settleMs = 300;

export interface SearchLogProps {
  calls: LogCalls;
  /** Whether the log is still growing. If so, the search runs again when the reader reaches the last match. */
  isLive: boolean;
  onQuery(q: string): void;
  onShow(row: number): void;
}

/** Searches the whole log on the portal once the reader stops typing. */
function useSearch({ calls, isLive, onQuery, onShow }: SearchLogProps) {
  const { t } = useTranslation('executions');
  const [typed, setTyped] = useState('');
  const [q, setQ] = useState('');
  const [at, setAt] = useState<number | null>(null);
  /** The step to take when the search ends, if the reader pressed Enter during the search; null otherwise. */
  const [waiting, setWaiting] = useState<1 | -1 | null>(null);
  const search = useInfiniteQuery({
    queryKey: calls.searchKey(q),
    queryFn: ({ pageParam, signal }) => calls.search({ q, row: pageParam }, { signal }),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next ?? undefined,
    enabled: q !== '',
  });
  const isSearching = typed !== '' && (typed !== q || search.isPending);
  const begin = useCallback(() => {
    setQ(typed);
    onQuery(typed);
  }, [typed, onQuery]);
  useEffect(() => {
    const timer = setTimeout(begin, settleMs);
    return () => clearTimeout(timer);
  }, [begin]);
  const rows = typed === '' || typed !== q ? [] : (search.data?.pages.flatMap((page) => page.found) ?? []);
  const step = (by: 1 | -1) => {
    const next = at === null ? (by === 1 ? 0 : rows.length - 1) : (at + by + rows.length) % rows.length;
    const row = rows[next];
    if (row === undefined) return;
    if (next === rows.length - 1) {
      if (search.hasNextPage) void search.fetchNextPage();
      else if (isLive) void search.refetch();
    }
    setAt(next);
    onShow(row);
  };
  useEffect(() => {
    if (waiting === null || isSearching) return;
    setWaiting(null);
    step(waiting);
  });
  useKeys(
    rows.length === 0
      ? []
      : [
          { key: 'n', label: t('log.search.next'), run: () => step(1) },
          { key: 'N', label: t('log.search.previous'), run: () => step(-1) },
        ],
  );
  return {
    ...{ search, typed, isSearching, at, rows, step },
    type(text: string) {
      setTyped(text);
      setAt(null);
      setWaiting(null);
    },
    /** Moves to the next or the previous match, immediately or when the search ends. */
    go(by: 1 | -1) {
      if (!isSearching) return step(by);
      begin();
      setWaiting(by);
    },
  };
}

/** The search field. Enter and `n` move to the next match, Shift+Enter and `N` to the previous match. */
export function SearchLog(props: SearchLogProps) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  const explain = useProblem();
  const { search, typed, isSearching, at, rows, step, type, go } = useSearch(props);
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
    event.preventDefault();
    go(event.shiftKey ? -1 : 1);
  };
  const hasFailed = typed !== '' && search.error !== null && !isSearching && rows.length === 0;
  const all = `${format.number(rows.length)}${search.hasNextPage ? '+' : ''}`;
  return (
    <search className="flex min-w-0 flex-wrap items-center gap-1 max-sm:w-full">
      {/* The count and the buttons have a fixed place, so that the field does not move when the reader types. */}
      <span
        role="status"
        className="w-28 truncate text-12 text-ink-2 tabular-nums max-sm:order-last max-sm:w-20 sm:text-end"
      >
        {typed === '' || hasFailed
          ? ''
          : isSearching
            ? t('log.search.busy')
            : rows.length === 0
              ? t('log.search.none')
              : at === null
                ? t('log.search.found', { count: rows.length, n: all })
                : t('log.search.at', { n: format.number(at + 1), all })}
      </span>
      <Input
        type="search"
        data-page-search=""
        aria-label={t('log.search')}
        placeholder={t('log.search.placeholder')}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        value={typed}
        onChange={(event) => type(event.target.value)}
        onKeyDown={press}
        className="w-56 max-w-full max-sm:flex-1"
        before={<Search aria-hidden className="size-3.5 shrink-0 text-ink-2" />}
      />
      <IconButton size="sm" label={t('log.search.previous')} disabled={rows.length === 0} onClick={() => step(-1)}>
        <ChevronUp aria-hidden />
      </IconButton>
      <IconButton size="sm" label={t('log.search.next')} disabled={rows.length === 0} onClick={() => step(1)}>
        <ChevronDown aria-hidden />
      </IconButton>
      {hasFailed ? (
        <span role="status" className="w-full text-12 text-failed-text">
          {explain(search.error).message}
        </span>
      ) : null}
    </search>
  );
}
