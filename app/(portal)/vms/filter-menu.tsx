'use client';

import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { cn } from '#app/_ui/cn.ts';
import { Form } from '#app/_ui/form.tsx';
import { Popover, PopoverContent, PopoverTrigger } from '#app/_ui/popover.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { FleetFilter, ListedField } from '#server/domain/fleet/index.ts';
import { vmHealths } from '#server/domain/verdicts/words.ts';
import { Count, itemClass } from './filter-item.tsx';
import { ValueChoice } from './value-choice.tsx';

export interface FilterMenuProps {
  field: ListedField;
  /** The active filters, which limit the VMs that are counted. */
  filter: FleetFilter;
  onPick(change: FleetFilter): void;
  onClose(): void;
  trigger: ReactNode;
}

/** The values of a field, each with its number of VMs. A search finds values that are not listed. */
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
  const facets = useQuery({
    ...trpc.fleet.facets.queryOptions({ ...filter, health: undefined, facet: 'health' }),
    staleTime: 10_000,
  });
  const counts = facets.data && new Map(facets.data.items.map(({ name, count }) => [name, count]));
  const [chosen, setChosen] = useState(filter.health ?? []);
  return (
    <Form
      className="grid p-1.5"
      onSubmit={() => onPick({ health: vmHealths.filter((health) => chosen.includes(health)) })}
    >
      {vmHealths.map((health) => (
        <label key={health} className={cn(itemClass, 'cursor-default')}>
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
          {counts === undefined ? null : <Count value={counts.get(health) ?? 0} />}
        </label>
      ))}
      <div className="-mx-1.5 mt-1.5 flex justify-end border-t border-line-subtle px-3 pt-2 pb-1">
        <Button type="submit" size="sm" disabled={chosen.length === 0}>
          {t('vms:filter.apply')}
        </Button>
      </div>
    </Form>
  );
}
