'use client';

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Segmented } from '#app/_ui/segmented.tsx';
import type { ActivityQuery } from './activity-address.ts';
import { type PresetBasis, presets, rangeOf } from './presets.ts';

export interface ActivityPresetsProps {
  filter: ActivityQuery;
  basis: PresetBasis;
  onChange(filter: ActivityQuery): void;
}

/**
 * Chooses between people's actions and events of the fleet, and offers common ranges, each with its number of entries.
 */
export function ActivityPresets({ filter, basis, onChange }: ActivityPresetsProps) {
  const { t } = useTranslation('activity');
  const format = useFormat();
  const trpc = useTRPC();
  const { from: _from, to: _to, since, ...others } = filter;
  const ranges = presets.flatMap((preset) => {
    const range = rangeOf(preset, basis);
    return range === null ? [] : [{ preset, range }];
  });
  const counts = useQuery(trpc.activity.counts.queryOptions({ ...others, ranges: ranges.map(({ range }) => range) }));
  const countOf = (index: number): string | null => {
    const found = counts.data?.counts[index];
    if (found === undefined) return null;
    const shown = format.number(found.count);
    return found.atLeast ? t('preset.atLeast', { shown }) : shown;
  };
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <Segmented
        label={t('kind')}
        value={filter.kind ?? 'all'}
        onChange={(kind) => {
          const { kind: _, ...rest } = filter;
          onChange(kind === 'all' ? rest : { ...rest, kind });
        }}
        options={(['all', 'people', 'fleet'] as const).map((value) => ({ value, label: t(`kind.${value}`) }))}
      />
      <fieldset aria-label={t('preset')} className="flex flex-wrap items-center gap-1.5">
        {ranges.map(({ preset }, index) => (
          <Button
            key={preset}
            size="sm"
            variant={since === preset ? 'default' : 'ghost'}
            aria-pressed={since === preset}
            onClick={() => onChange(since === preset ? others : { ...others, since: preset })}
            // Explains why the list may have fewer lines than this number: similar entries share a line.
            title={
              (counts.data?.counts[index]?.count ?? 0) > 1 ? t('preset.entries', { shown: countOf(index) }) : undefined
            }
          >
            {t(`preset.${preset}`)}
            <span className="min-w-5 text-start text-ink-3 tabular-nums">{countOf(index)}</span>
          </Button>
        ))}
      </fieldset>
    </div>
  );
}
