'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Search } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Form } from '#app/_ui/form.tsx';
import { Input } from '#app/_ui/input.tsx';

export interface SearchOutputProps {
  vmId: string;
  outputId: string;
  label: string;
  /** Shows the page that contains this row. */
  onChoose(row: number): void;
}

/** Searches the whole output, not only the page shown. */
export function SearchOutput({ vmId, outputId, label, onChoose }: SearchOutputProps) {
  const { t } = useTranslation('outputs');
  const trpc = useTRPC();
  const [typed, setTyped] = useState('');
  const [search, setSearch] = useState<{ q: string; row: number } | null>(null);
  const found = useQuery({
    ...trpc.outputs.search.queryOptions({ vmId, outputId, q: search?.q ?? ' ', row: search?.row ?? 0 }),
    enabled: search !== null,
    placeholderData: keepPreviousData,
  });
  const next = found.data?.next ?? null;
  return (
    <search className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <Form
        className="flex flex-wrap items-center gap-2"
        onSubmit={() => setSearch(typed.trim() === '' ? null : { q: typed.trim(), row: 0 })}
      >
        <Input
          type="search"
          aria-label={t('search.label', { label })}
          placeholder={t('search')}
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            if (event.target.value === '') setSearch(null);
          }}
          className="w-64 max-w-full"
          before={<Search aria-hidden className="size-3.5 shrink-0 text-ink-2" />}
        />
        <Button type="submit" busy={search !== null && found.isFetching}>
          {t('search.act')}
        </Button>
        {search !== null && found.data ? (
          <span role="status" className="text-12 text-ink-2">
            {found.data.found.length === 0
              ? t('search.none')
              : next === null && search.row === 0
                ? t('search.found', { count: found.data.found.length })
                : t('search.some', { count: found.data.found.length })}
          </span>
        ) : null}
      </Form>
      {search !== null && found.error && !found.data ? (
        <QueryError error={found.error} onRetry={found.refetch} at={new Date(found.errorUpdatedAt)} />
      ) : null}
      {search !== null && found.data && found.data.found.length > 0 ? (
        <ol className="max-h-48 overflow-auto rounded-md py-1 shadow-hair">
          {found.data.found.map(({ row, text }) => (
            <li key={row}>
              <button
                type="button"
                onClick={() => onChoose(row)}
                className="flex min-h-6 w-full gap-3 px-3 text-start hover:bg-hover focus-visible:bg-hover"
              >
                <span className="min-w-10 shrink-0 text-end text-11 leading-6 text-ink-3 tabular-nums">{row + 1}</span>{' '}
                <span translate="no" className="mono-11 truncate leading-6">
                  {text}
                </span>
              </button>
            </li>
          ))}
          {next === null ? null : (
            <li className="px-2 pt-1">
              <Button size="sm" variant="ghost" onClick={() => setSearch({ q: search.q, row: next })}>
                {t('search.on', { line: next + 1 })}
              </Button>
            </li>
          )}
        </ol>
      ) : null}
    </search>
  );
}
