'use client';

import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { cn } from '#app/_ui/cn.ts';
import { Input } from '#app/_ui/input.tsx';
import { Num } from '#app/_ui/num.tsx';
import { Popover, PopoverContent, PopoverTrigger } from '#app/_ui/popover.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { FleetFilter, ListedField } from '#server/domain/fleet/index.ts';
import { vmHealths } from '#server/domain/verdicts/words.ts';
import type { FleetFacet } from './reading.ts';

export interface FilterMenuProps {
  field: ListedField;
  /** The filters in use: what is counted must match them, too. */
  filter: FleetFilter;
  onPick(change: FleetFilter): void;
  onClose(): void;
  trigger: ReactNode;
}

/** The values of one field, with how many have each; typing finds those that are not among the first. */
export function FilterMenu({ field, filter, onPick, onClose, trigger }: FilterMenuProps) {
  const { t } = useTranslation('vms');
  const close = (open: boolean) => {
    if (!open) onClose();
  };
  return (
    <Popover defaultOpen onOpenChange={close}>
      <PopoverTrigger asChild>{trigger}</PopoverTrigger>
      <PopoverContent aria-label={t(field.label)} className="w-80 p-0">
        {field.name === 'health' ? (
          <HealthChoice filter={filter} onPick={onPick} />
        ) : (
          <ValueChoice field={field} filter={filter} onPick={onPick} onClose={onClose} />
        )}
      </PopoverContent>
    </Popover>
  );
}

type ChoiceProps = Pick<FilterMenuProps, 'filter' | 'onPick'>;

function HealthChoice({ filter, onPick }: ChoiceProps) {
  const { t } = useTranslation(['vms', 'reports']);
  const trpc = useTRPC();
  const summary = useQuery(trpc.fleet.summary.queryOptions());
  const [chosen, setChosen] = useState(filter.health ?? []);
  return (
    <form
      className="grid p-1.5"
      onSubmit={(event) => {
        event.preventDefault();
        onPick({ health: vmHealths.filter((health) => chosen.includes(health)) });
      }}
    >
      {vmHealths.map((health) => (
        <label key={health} className={cn(item, 'cursor-default')}>
          <input
            type="checkbox"
            checked={chosen.includes(health)}
            onChange={(event) =>
              setChosen(event.target.checked ? [...chosen, health] : chosen.filter((other) => other !== health))
            }
            className="size-3.5 accent-(--brand)"
          />
          <StatusIcon status={statusOfHealth[health]} />
          {t(`reports:health.${health}`)}
          {summary.data === undefined ? null : <Count value={summary.data.byHealth[health]} />}
        </label>
      ))}
      <div className="-mx-1.5 mt-1.5 flex justify-end border-t border-line-subtle px-3 pt-2 pb-1">
        <Button type="submit" size="sm" disabled={chosen.length === 0}>
          {t('vms:filter.apply')}
        </Button>
      </div>
    </form>
  );
}

interface Choice {
  id: string;
  /** Stands under another one. */
  inner: boolean;
  word: ReactNode;
  count: number | undefined;
  change: FleetFilter;
}

const item =
  'flex min-h-7 w-full items-center gap-2 rounded-sm px-2 py-1 text-start text-13 hover:bg-hover pointer-coarse:min-h-(--touch)';

function ValueChoice({ field, filter, onPick, onClose }: ChoiceProps & { field: ListedField; onClose(): void }) {
  const { t } = useTranslation(['vms', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const [part, setPart] = useState('');
  const [active, setActive] = useState(0);
  // A field's own value would hide its other values; the values of a version belong to its handler.
  const others =
    field.value.kind === 'tags'
      ? filter
      : { ...filter, [field.name]: undefined, ...(field.name === 'handler' && { version: undefined }) };
  const asked = {
    ...trpc.fleet.facets.queryOptions({ ...others, facet: field.parameter, ...(part.trim() && { part: part.trim() }) }),
    staleTime: 10_000,
  };
  const facets = useQuery({ ...asked, placeholderData: keepPreviousData });
  const choicesIn = (items: readonly FleetFacet[]) =>
    items.flatMap((facet) => choicesOf(field, facet, filter, t('vms:filter.anyValue')));
  const choices = choicesIn(facets.data?.items ?? []);
  const pick = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    onPick(choice.change);
    onClose();
  };
  /** Who types faster than the answer comes means what is found, not what stands there of an earlier word. */
  const pickWhenFound = async (field: HTMLInputElement) => {
    const found = await queryClient.fetchQuery(asked).catch(() => null);
    if (field.isConnected && field.value === part) pick(choicesIn(found?.items ?? [])[active]);
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
          aria-label={t(`vms:${field.find ?? 'filter.find.tag'}`)}
          placeholder={t(`vms:${field.find ?? 'filter.find.tag'}`)}
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
        aria-label={t(`vms:${field.label}`)}
        aria-busy={facets.isPlaceholderData}
        className="max-h-72 overflow-y-auto p-1.5"
      >
        {choices.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the search above, which keeps the focus
          <div
            key={choice.id}
            id={optionId(index)}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            className={cn(item, 'cursor-default aria-selected:bg-hover', choice.inner && 'ps-6')}
            onPointerMove={() => setActive(index)}
            onClick={() => pick(choice)}
          >
            {choice.word}
            {choice.count === undefined ? null : <Count value={choice.count} />}
          </div>
        ))}
      </div>
      {choices.length > 0 && !facets.data?.more ? null : (
        <div role="status" className="px-4 pb-3 text-12 text-ink-3">
          {facets.isPending ? (
            <Skeleton className="w-40" />
          ) : facets.error && choices.length === 0 ? (
            <span className="flex items-center gap-2">
              {explain(facets.error).message}
              <Button size="sm" onClick={() => void facets.refetch()}>
                {t('common:tryAgain')}
              </Button>
            </span>
          ) : (
            t(choices.length === 0 ? 'vms:filter.nothing' : 'vms:filter.more')
          )}
        </div>
      )}
    </>
  );
}

function choicesOf(
  field: ListedField,
  { name, count, values }: FleetFacet,
  filter: FleetFilter,
  anyValue: string,
): Choice[] {
  const tags = filter.tags ?? [];
  const word = <span className="min-w-0 truncate font-medium">{name}</span>;
  if (field.name !== 'tags' && field.name !== 'handler') {
    return [
      {
        id: name,
        inner: false,
        word: (
          <span translate="no" className="mono min-w-0 truncate">
            {name}
          </span>
        ),
        count,
        change: { [field.name]: name },
      },
    ];
  }
  const whole = field.name === 'tags' ? { tags: [...tags, { name }] } : { handler: name, version: undefined };
  const inner = (value: string, many: number | undefined): Choice => ({
    id: `${name} ${value}`,
    inner: true,
    word: <span className="min-w-0 truncate">{value}</span>,
    count: many,
    change: field.name === 'tags' ? { tags: [...tags, { name, value }] } : { handler: name, version: value },
  });
  return [
    {
      id: name,
      inner: false,
      word: (
        <>
          {word} <span className="text-ink-3">{anyValue}</span>
        </>
      ),
      count,
      change: whole,
    },
    ...(field.name === 'handler' ? lines(values).map((line) => inner(`${line}.*`, undefined)) : []),
    ...values.map((value) => inner(value.value, value.count)),
  ];
}

/** `2.4` where several versions begin so. */
function lines(values: FleetFacet['values']): string[] {
  const all = values.map(({ value }) => value.split('.').slice(0, 2).join('.'));
  return [...new Set(all.filter((line, index) => all.indexOf(line) !== index))];
}

function Count({ value }: { value: number }) {
  return (
    <span className="ms-auto ps-2 text-12 text-ink-3 tabular-nums">
      <Num value={value} />
    </span>
  );
}
