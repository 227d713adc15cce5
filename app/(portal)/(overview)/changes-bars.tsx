'use client';

import Link from 'next/link';
import { type KeyboardEvent, useRef, useState } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { vmsAddress } from '#app/_lib/vms-address.ts';
import { useFormat } from '#app/_ui/format.ts';
import type { StatusName } from '#app/_ui/status-icon.tsx';
import { type VmHealth, vmHealths } from '#server/domain/verdicts/words.ts';
import type { OverviewAnswers } from './answers.ts';

type Changes = OverviewAnswers['changes'];
type Bar = Changes['bars'][number];
type Kind = keyof Changes['totals'];

const kindOf = {
  failed: 'failed',
  unresponsive: 'silent',
  degraded: 'degraded',
  progressing: 'started',
  healthy: 'healthy',
} as const satisfies Record<Exclude<VmHealth, 'unknown'>, Kind>;

export interface BarLayer {
  kind: Kind;
  health: VmHealth;
  status: StatusName;
}

/** The parts of a bar, from bottom to top. Failures are at the bottom, so that they share a baseline. */
export const barLayers: readonly BarLayer[] = vmHealths.flatMap((health) =>
  health === 'unknown' ? [] : [{ kind: kindOf[health], health, status: statusOfHealth[health] }],
);

const height = 72;

/** A bar for each interval of the hour, with a link to the VMs that it counts. The bars are one tab stop. */
export function ChangesBars({ changes }: { changes: Changes }) {
  const { t } = useTranslation('overview');
  const format = useFormat();
  const list = useRef<HTMLUListElement>(null);
  const [walked, setWalked] = useState<string | null>(null);
  const { bars } = changes;
  const clock = (at: string): string => format.dateTime(new Date(at), 'clock');
  const linked = bars.filter(({ vms }) => vms > 0).map(({ from }) => from);
  // The bar that is the tab stop: the newest bar, unless the reader moved to another bar that is still shown.
  const current = walked !== null && linked.includes(walked) ? walked : linked.at(-1);
  const most = Math.max(1, ...bars.map(sizeOf));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const at = linked.indexOf(current ?? '');
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: linked.length - 1 }[event.key];
    const from = linked[next ?? -1];
    if (from === undefined) return;
    event.preventDefault();
    setWalked(from);
    list.current?.querySelector<HTMLElement>(`[data-bar="${from}"]`)?.focus();
  };
  return (
    // Time runs from left to right in every language.
    <div dir="ltr">
      {linked.length === 0 ? <p className="sr-only">{t('changes.chart.none')}</p> : null}
      <ul
        ref={list}
        aria-label={t('changes.chart')}
        onKeyDown={onKeyDown}
        className="flex items-end border-b border-line"
        style={{ height }}
      >
        {bars.map((bar) => (
          <li key={bar.from} className="h-full flex-1">
            {bar.vms > 0 ? <BarLink bar={bar} most={most} isCurrent={bar.from === current} /> : null}
          </li>
        ))}
      </ul>
      <div className="flex justify-between pt-1 text-11 text-ink-3 tabular-nums">
        {bars
          .filter((_, index) => index % 6 === 0)
          .map(({ from }) => (
            <span key={from}>{clock(from)}</span>
          ))}
        <span>{clock(bars.at(-1)?.until ?? '')}</span>
      </div>
    </div>
  );
}

const sizeOf = (bar: Bar): number => barLayers.reduce((sum, { kind }) => sum + bar[kind], 0);

function BarLink({ bar, most, isCurrent }: { bar: Bar; most: number; isCurrent: boolean }) {
  const { t } = useTranslation('overview');
  const format = useFormat();
  const layers = barLayers.filter(({ kind }) => bar[kind] > 0);
  const interval = `${format.dateTime(new Date(bar.from), 'clock')} – ${format.dateTime(new Date(bar.until), 'clock')}`;
  const vms = t('fleet.vms', { count: bar.vms, shown: format.number(bar.vms) });
  const counts = layers.map(({ kind }) => t(`changes.${kind}`, { count: bar[kind], shown: format.number(bar[kind]) }));
  return (
    <Link
      href={vmsAddress({ changedAfter: bar.from, changedBefore: bar.until })}
      prefetch={false}
      data-bar={bar.from}
      data-count={bar.vms}
      tabIndex={isCurrent ? 0 : -1}
      title={[interval, ...counts].join('\n')}
      aria-label={`${interval}, ${vms}: ${format.list(counts)}`}
      className="flex h-full flex-col-reverse gap-px rounded-xs px-[1.5px] hover:bg-hover focus-visible:shadow-focus"
    >
      {layers.map(({ kind, status }) => (
        <span
          key={kind}
          data-st={status}
          className="shrink-0 rounded-[1px] bg-st-solid"
          style={{ height: Math.max(2, (bar[kind] / most) * (height - 8)) }}
        />
      ))}
    </Link>
  );
}
