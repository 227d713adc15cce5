'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { type MemberCount, memberCounts } from '#server/domain/rollout-rules/words.ts';
import { type ShownRollout, statusOfStep } from '../rollout-data.ts';

/** States that are always shown; the others only if a VM has them. */
const always: readonly MemberCount[] = ['queued', 'inFlight', 'soaking', 'succeeded', 'failed'];

/** Two digits, so that a few VMs out of very many are not shown as zero. */
const percent = { style: 'percent', maximumSignificantDigits: 2 } as const;

/** The VMs of a rollout by state. The numbers add up to all members. */
export function CountsStrip({ rollout: { counts } }: { rollout: ShownRollout }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const shown = memberCounts.filter((name) => counts[name] > 0 || always.includes(name));
  return (
    <Card className="mb-4" aria-label={t('live.counts')}>
      <dl className="grid grid-cols-[repeat(auto-fit,minmax(7rem,1fr))] gap-px overflow-hidden rounded-lg">
        {shown.map((name) => (
          <div key={name} className="px-4 py-2.5 shadow-[1px_0_var(--line-subtle)]">
            <dt className="flex items-start gap-1.5 text-12 text-ink-2">
              <StatusIcon status={statusOfStep[name]} />
              <span className="min-w-0 hyphens-auto wrap-anywhere">{t(`step.${name}`)}</span>
            </dt>
            <dd className="text-20 font-semibold tracking-tight tabular-nums">{format.number(counts[name])}</dd>
            <dd className="text-12 text-ink-3 tabular-nums">{format.number(counts[name] / counts.members, percent)}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
