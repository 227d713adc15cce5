'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { groupHooks, type HookGroup, type ShownPlan } from './document-data.ts';

/** How many rows are shown until the reader wants more. */
const firstRows = 50;
const maxNamed = 6;

export interface HooksCardProps extends Pick<ShownPlan, 'hooks'> {
  /** Whether the plan changes anything. If not, the hooks are due already. */
  hasChanges: boolean;
}

/** The hooks that would run after an apply, or that are due already, by units. */
export function HooksCard({ hooks, hasChanges }: HooksCardProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const [rows, setRows] = useState(firstRows);
  const groups = groupHooks(hooks);
  const all = groups.reduce((sum, { units, count }) => sum + units.length * count, 0);
  if (groups.length === 0) return null;
  return (
    <Card>
      <CardHeader title={t(hasChanges ? 'document.hooks' : 'document.hooksDue')} note={format.number(all)} />
      <ul>
        {groups.slice(0, rows).map((group) => (
          <HookRow key={group.units.join()} group={group} hasChanges={hasChanges} />
        ))}
      </ul>
      {groups.length > rows ? (
        <div className="border-t border-line-subtle px-4 py-2">
          <Button size="sm" variant="ghost" onClick={() => setRows(rows + firstRows)}>
            {t('document.moreRows', { count: groups.length - rows })}
          </Button>
        </div>
      ) : null}
      <p className="border-t border-line-subtle px-4 py-2 text-12 text-ink-3">{t('document.hooksMore')}</p>
    </Card>
  );
}

function HookRow({
  group: { units, hooks, count },
  hasChanges,
}: Pick<HooksCardProps, 'hasChanges'> & { group: HookGroup }) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const more = units.length - maxNamed;
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-1 border-t border-line-subtle px-4 py-2.5 sm:grid-cols-[minmax(0,8rem)_minmax(0,1fr)_auto]">
      <span className="font-medium wrap-anywhere">
        <span translate="no">{units.slice(0, maxNamed).join(', ')}</span>
        {more > 0 ? ` ${t('document.moreUnits', { count: more })}` : null}
      </span>
      <ul className="grid min-w-0 gap-0.5 text-12 max-sm:order-last max-sm:col-span-2">
        {hooks.map(({ hook, when, remoteUnits, count: times }) => (
          <li key={hook + when + remoteUnits[0]} className="min-w-0 wrap-anywhere">
            <span translate="no" className="mono">
              {hook}
            </span>{' '}
            {remoteUnits.length === 0 ? null : (
              <span className="text-ink-2">
                {times > maxNamed
                  ? t('document.forMany', { count: times })
                  : t('document.for', { units: format.list(remoteUnits) })}{' '}
              </span>
            )}
            {when === 'now' || (when === 'already' && !hasChanges) ? null : (
              <span className="text-ink-3">{t(`document.when.${when}`)}</span>
            )}
          </li>
        ))}
      </ul>
      <span className="text-end text-ink-2 tabular-nums">{format.number(count)}</span>
    </li>
  );
}
