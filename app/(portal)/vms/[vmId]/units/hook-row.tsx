'use client';

import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Td } from '#app/_ui/table.tsx';
import { Elapsed } from '#app/_ui/time.tsx';
import { limitUnit } from '../queue/limit-unit.ts';
import type { HookEntry } from './hook-entries.ts';
import { HookText, HookUnit, HookWaits } from './hook-text.tsx';

/** A hook in the table of the queue. */
export function HookRow({ hook, icon, isSilent }: { hook: HookEntry; icon: ReactNode; isSilent: boolean }) {
  const { t } = useTranslation(['reports', 'common']);
  const { turn, since, limitSeconds } = hook;
  const limit = limitSeconds === null ? null : limitUnit(limitSeconds);
  return (
    <tr className="align-top">
      <Td className="py-2 whitespace-normal">
        <span className="flex gap-2">
          {icon}
          <span className="min-w-0">
            <HookUnit hook={hook} />
            <span className="block text-12 text-pretty wrap-anywhere text-ink-2">
              <HookText hook={hook} />
            </span>
            <span className="block text-12 text-pretty wrap-anywhere text-ink-2">
              <HookWaits hook={hook} />
            </span>
          </span>
        </span>
      </Td>
      <Td className="py-2 text-ink-2 max-sm:hidden">
        {t(turn === null ? 'reports:queue.hook.byRelation' : 'reports:queue.hook.byUnit')}
      </Td>
      <Td end className="py-2 tabular-nums max-sm:hidden">
        {turn ?? '–'}
      </Td>
      <Td className="py-2 tabular-nums max-sm:hidden">
        {limit === null ? '–' : t(`common:time.for.${limit.unit}`, { n: limit.n })}
        {since === null ? null : (
          <span className="block text-12 text-ink-2">
            {isSilent ? (
              t('reports:queue.ran')
            ) : (
              <>
                {t('reports:queue.running')} <Elapsed use="since" value={new Date(since)} />
              </>
            )}
          </span>
        )}
      </Td>
    </tr>
  );
}
