'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { readersOf } from '../moments.ts';
import type { Moment, ShownNode } from '../relation-data.ts';

export interface SeenByProps {
  node: ShownNode | undefined;
  moment: Moment;
  onOpen(unit: string): void;
}

/** How many units have confirmed a unit’s settings. Opens the list of those that have not. */
export function SeenBy({ node, moment, onOpen }: SeenByProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  if (node === undefined) return null;
  const all = readersOf(node, moment.nodes) + (node.side === 'peer' ? moment.leftOut : 0);
  if (all === 0) return <span className="text-ink-3">{t('relation.seen.noReaders')}</span>;
  const isWhole = node.confirmedBy >= all;
  return (
    <button
      type="button"
      onClick={() => onOpen(node.unit)}
      className="inline-flex min-h-8 items-center gap-1.5 rounded-sm tabular-nums hover:underline focus-visible:shadow-focus"
    >
      <StatusIcon status={isWhole ? 'healthy' : 'progressing'} />
      {t('relation.seen.count', { n: format.number(node.confirmedBy), all: format.number(all) })}
      <span className="sr-only">{t('relation.seen.of', { unit: node.unit })}</span>
    </button>
  );
}
