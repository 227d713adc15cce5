'use client';

import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { cn } from '#app/_ui/cn.ts';
import { Input } from '#app/_ui/input.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import type { FleetFilter, ListedField } from '#server/domain/fleet/index.ts';
import { type Choice, choicesOf } from './filter-choices.tsx';
import { Count, itemClass } from './filter-item.tsx';
import type { FleetFacet } from './reading.ts';
import { useValueWords } from './use-filter-words.ts';

export interface ValueChoiceProps {
  field: ListedField;
  filter: FleetFilter;
  onPick(change: FleetFilter): void;
  onClose(): void;
}

/** A combobox of the values of a field. */
export function ValueChoice({ field, filter, onPick, onClose }: ValueChoiceProps) {
  const { t } = useTranslation('vms');
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const [part, setPart] = useState('');
  const [active, setActive] = useState(0);
  const { facets, choices, fetchChoices } = useChoices(field, filter, part);
  const pick = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    onPick(choice.change);
    onClose();
  };
  /**
   * Handles Enter before the results have loaded: waits for the results, then picks the active one unless the text
   * has changed.
   */
  const pickWhenFound = async (input: HTMLInputElement) => {
    const found = await fetchChoices();
    if (input.isConnected && input.value === part) pick(found[active]);
  };
  const walk = (event: KeyboardEvent<HTMLInputElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') {
      event.preventDefault();
      if (facets.data === undefined || facets.isPlaceholderData) void pickWhenFound(event.currentTarget);
      else pick(choices[active]);
    } else if (step !== undefined) {
      event.preventDefault();
      const next = Math.max(0, Math.min(choices.length - 1, active + step));
      setActive(next);
      list.current?.children[next]?.scrollIntoView({ block: 'nearest' });
    }
  };
  const optionId = (index: number) => `${listId}-${index}`;
  return (
    <>
      <div className="border-b border-line-subtle p-2">
        <Input
          autoFocus
          role="combobox"
          aria-expanded
          aria-controls={listId}
          aria-activedescendant={choices[active] === undefined ? undefined : optionId(active)}
          aria-label={t(field.find ?? 'filter.find.tag')}
          placeholder={t(field.find ?? 'filter.find.tag')}
          value={part}
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => {
            setPart(event.target.value);
            setActive(0);
          }}
          onKeyDown={walk}
        />
      </div>
      <div
        ref={list}
        id={listId}
        role="listbox"
        aria-label={t(field.label)}
        aria-busy={facets.isPlaceholderData}
        className="max-h-72 overflow-y-auto p-1.5"
      >
        {choices.map((choice, index) => (
          <Option
            key={choice.id}
            id={optionId(index)}
            choice={choice}
            isActive={index === active}
            onActive={() => setActive(index)}
            onPick={() => pick(choice)}
          />
        ))}
      </div>
      <ChoicesFoot facets={facets} isEmpty={choices.length === 0} />
    </>
  );
}

/** Loads the values that contain `part`, counted among VMs that match the other filters. */
function useChoices(field: ListedField, filter: FleetFilter, part: string) {
  const { t } = useTranslation('vms');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  // The field's own filter would hide its other values, and a filter by version could hide other handlers.
  const others =
    field.value.kind === 'tags'
      ? filter
      : {
          ...filter,
          [field.name]: undefined,
          ...(field.name === 'handler' && { version: undefined, olderThan: undefined }),
        };
  const words = {
    anyValue: t('filter.anyValue'),
    without: t('filter.choose.without'),
    olderThan: (version: string) => t('filter.choose.older', { version }),
    valueOf: useValueWords(),
  };
  // The reader searches the words on screen; the portal would search the stored values.
  const isWord = field.value.kind === 'words';
  const options = {
    ...trpc.fleet.facets.queryOptions({
      ...others,
      facet: field.parameter,
      ...(!isWord && part.trim() && { part: part.trim() }),
    }),
    staleTime: 10_000,
  };
  const facets = useQuery({ ...options, placeholderData: keepPreviousData });
  const found = ({ name }: FleetFacet) =>
    !isWord || words.valueOf(field.name, name).toLocaleLowerCase().includes(part.trim().toLocaleLowerCase());
  const choicesIn = (items: readonly FleetFacet[]) =>
    items.filter(found).flatMap((facet) => choicesOf(field, facet, filter, words));
  const fetchChoices = async () => {
    const found = await queryClient.fetchQuery(options).catch(() => null);
    return choicesIn(found?.items ?? []);
  };
  return { facets, choices: choicesIn(facets.data?.items ?? []), fetchChoices };
}

interface OptionProps {
  id: string;
  choice: Choice;
  isActive: boolean;
  onActive(): void;
  onPick(): void;
}

function Option({ id, choice, isActive, onActive, onPick }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the search above keeps the focus and handles the keys
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      className={cn(itemClass, 'cursor-default aria-selected:bg-hover', choice.inner && 'ps-6')}
      onPointerMove={onActive}
      onClick={onPick}
    >
      {choice.word}
      {choice.count === undefined ? null : <Count value={choice.count} />}
    </div>
  );
}

/** Says whether values are still loading, failed to load, were not found, or are not all listed. */
function ChoicesFoot({ facets, isEmpty }: Pick<ReturnType<typeof useChoices>, 'facets'> & { isEmpty: boolean }) {
  const { t } = useTranslation(['vms', 'common']);
  const explain = useProblem();
  if (!isEmpty && !facets.data?.more) return null;
  return (
    <div role="status" className="px-4 pb-3 text-12 text-ink-3">
      {facets.isPending ? (
        <Skeleton className="w-40" />
      ) : facets.error && isEmpty ? (
        <span className="flex items-center gap-2">
          {explain(facets.error).message}
          <Button size="sm" onClick={() => void facets.refetch()}>
            {t('common:tryAgain')}
          </Button>
        </span>
      ) : (
        t(isEmpty ? 'vms:filter.nothing' : 'vms:filter.more')
      )}
    </div>
  );
}
