'use client';

import type { inferRouterOutputs } from '@trpc/server';
import { X } from 'lucide-react';
import { useEffect, useId, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Input, SearchInput } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import type { AppRouter } from '#server/trpc/root.ts';
import type { ActivityQuery } from './activity-address.ts';
import { useActionWords } from './use-action-words.ts';

export interface ActivityFiltersProps {
  filter: ActivityQuery;
  onChange(filter: ActivityQuery): void;
  facets: inferRouterOutputs<AppRouter>['activity']['facets'];
}

const settleMs = 200;

/** Filters of the list of actions: search, actor, action, and a range of days. */
export function ActivityFilters({ filter, onChange, facets }: ActivityFiltersProps) {
  const { t } = useTranslation('activity');
  const actions = useActionWords();
  const [words, setWords] = useState(filter.q ?? '');
  useEffect(() => {
    if (words === (filter.q ?? '')) return;
    const timer = setTimeout(() => onChange(withoutEmpty({ ...filter, q: words })), settleMs);
    return () => clearTimeout(timer);
  }, [words, filter, onChange]);
  const set = (more: Partial<ActivityQuery>) => onChange(withoutEmpty({ ...filter, ...more }));

  const setDay = (days: Pick<ActivityQuery, 'from' | 'to'>) => {
    const { since: _, ...others } = filter;
    onChange(withoutEmpty({ ...others, ...days }));
  };

  const people = facets.actors.map(({ kind, id, name }) => ({ value: `${kind}:${id}`, label: name, isName: true }));
  const nouns = [...new Set(facets.actions.map(({ action }) => action.split('.')[0] ?? action))].sort();
  const what = nouns.flatMap((noun) => [
    { value: noun, label: actions.noun(noun) },
    ...facets.actions
      .filter(({ action }) => action.startsWith(`${noun}.`))
      .map(({ action }) => ({ value: action, label: `\u2003${actions.act(action)}` })),
  ]);
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <search className="mb-3 flex flex-wrap items-center gap-2">
      <SearchInput
        label={t('filter.words')}
        className="max-sm:w-full"
        value={words}
        maxLength={200}
        onChange={(event) => setWords(event.target.value)}
      />
      <Select
        aria-label={t('filter.who')}
        className="w-44 max-sm:w-auto max-sm:flex-[1_1_40%]"
        value={filter.actor ?? ''}
        onChange={(event) => set({ actor: event.target.value })}
        options={withChosen([{ value: '', label: t('filter.anyone') }, ...people], filter.actor)}
      />
      <Select
        aria-label={t('filter.what')}
        className="w-52 max-sm:w-auto max-sm:flex-[1_1_40%]"
        value={filter.action ?? ''}
        onChange={(event) => set({ action: event.target.value })}
        options={withChosen([{ value: '', label: t('filter.anything') }, ...what], filter.action)}
      />
      <DayInput label={t('filter.from')} instant={filter.from} onChange={(from) => setDay({ from })} />
      <DayInput label={t('filter.to')} instant={filter.to} isEnd onChange={(to) => setDay({ to })} />
      {filter.target === undefined ? null : (
        <Button size="sm" onClick={() => set({ target: '' })}>
          {t('filter.target', { target: filter.target.slice(filter.target.indexOf(':') + 1) })}
          <X aria-hidden />
        </Button>
      )}
      {isFiltered ? (
        <Button
          variant="ghost"
          onClick={() => {
            setWords('');
            onChange({});
          }}
        >
          {t('filter.clear')}
        </Button>
      ) : null}
    </search>
  );
}

/** Removes empty values, so that a cleared filter has no properties. */
const withoutEmpty = (filter: ActivityQuery): ActivityQuery =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''));

/** Adds the chosen value, because a value from the URL may be missing from the list of recent values. */
function withChosen(options: { value: string; label: string }[], chosen: string | undefined) {
  if (chosen === undefined || chosen === '' || options.some(({ value }) => value === chosen)) return options;
  return [...options, { value: chosen, label: chosen }];
}

interface DayInputProps {
  label: string;
  instant: string | undefined;
  /** Whether the day ends the range; `instant` is then the end of the day. */
  isEnd?: boolean;
  onChange(instant: string): void;
}

const day = 86_400_000;

/** A day in the reader's time zone, stored as the time at which it begins or ends. */
function DayInput({ label, instant, isEnd = false, onChange }: DayInputProps) {
  const id = useId();
  const shift = isEnd ? 1 : 0;
  const shown = instant === undefined || instant === '' ? '' : localDay(new Date(Date.parse(instant) - shift));
  return (
    <span className="flex items-center gap-1.5 text-12 text-ink-3 max-sm:flex-1">
      <label htmlFor={id}>{label}</label>
      <Input
        id={id}
        type="date"
        className="w-36 max-sm:w-full"
        value={shown}
        onChange={(event) => {
          const [year = 0, month = 1, date = 1] = event.target.value.split('-').map(Number);
          if (event.target.value === '') onChange('');
          else if (year > 1970 && year < 10_000) onChange(new Date(year, month - 1, date + shift).toISOString());
        }}
      />
    </span>
  );
}

function localDay(moment: Date): string {
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000);
  return Number.isNaN(local.getTime()) || local.getTime() < -day ? '' : local.toISOString().slice(0, 10);
}
