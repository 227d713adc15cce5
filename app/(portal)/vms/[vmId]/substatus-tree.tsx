'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { isolateText } from '#protocol/direction.ts';
import { MessageBody } from './message-body.tsx';
import { type Substatus, statusOfWord } from './vm-data.ts';

/**
 * An extension's substatuses as a tree. Shows the first substatuses and those with problems; the others are shown on
 * request.
 */
export function SubstatusTree({ parts, label }: { parts: readonly Substatus[]; label: string }) {
  const { t } = useTranslation('reports');
  const [all, setAll] = useState(false);
  const rest = parts.length - shownParts;
  const wrong = parts.slice(shownParts).filter(({ status }) => status === 'error' || status === 'warning');
  return (
    <div>
      <ul aria-label={label} className="grid text-12">
        {(all ? parts : [...parts.slice(0, shownParts), ...wrong.slice(0, shownParts)]).map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: handlers may repeat names, but keep the order
          <Part key={index} part={part} depth={0} />
        ))}
      </ul>
      {rest > 0 ? (
        <button
          type="button"
          aria-expanded={all}
          onClick={() => setAll(!all)}
          className="mt-1 min-h-6 rounded-sm px-1.5 text-12 text-brand-text hover:bg-hover"
        >
          {all ? t('card.parts.fewer') : t('card.parts.all', { count: parts.length })}
        </button>
      ) : null}
    </div>
  );
}

/**
 * Number of substatuses rendered at first. They are followed by at most as many others that have errors or warnings.
 */
const shownParts = 12;

const deepest = 4;

function Part({ part, depth }: { part: Substatus; depth: number }) {
  const { t } = useTranslation('reports');
  return (
    <li className="relative">
      <div
        className={cn(
          'grid grid-cols-[14px_minmax(0,1fr)_auto] items-baseline gap-2 py-[3px]',
          depth > 0 &&
            'before:absolute before:-start-3.5 before:-top-[7px] before:h-5 before:w-[9px] before:rounded-es-sm before:border-s before:border-b before:border-line',
        )}
      >
        <StatusIcon
          status={statusOfWord[part.status]}
          label={t(`word.${part.status}`)}
          className="mt-[3px] size-3 self-start"
        />
        <div className="flex flex-wrap items-baseline gap-x-2">
          <span translate="no" className={cn('mono-11 text-ink-2 wrap-anywhere', depth > 0 ? 'min-w-18' : 'min-w-23')}>
            {isolateText(part.name ?? part.operation ?? '')}
          </span>
          <div className="min-w-0 flex-[1_1_10rem] wrap-anywhere">
            {part.message ? <MessageBody message={part.message} marked /> : null}
          </div>
        </div>
        <span
          className="mono-11 text-ink-3 tabular-nums"
          title={part.code === null ? undefined : t('card.code', { code: part.code })}
        >
          {part.code}
        </span>
      </div>
      {part.substatus.length > 0 ? (
        <ul className={cn(depth < deepest && 'ps-5')}>
          {part.substatus.map((below, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: handlers may repeat names, but keep the order
            <Part key={index} part={below} depth={depth + 1} />
          ))}
        </ul>
      ) : null}
    </li>
  );
}
