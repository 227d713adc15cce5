'use client';

import { Globe } from 'lucide-react';
import Link from 'next/link';
import type { Ref } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { countUnits, missingRelations, portsOf, type ShownService, serviceHref } from '../service-data.ts';
import { ServiceHealth } from '../service-health.tsx';
import { boxHeight, boxWidth, type PlacedBox } from './picture-layout.ts';

export interface ServiceBoxProps {
  model: string;
  service: ShownService;
  at: PlacedBox;
  /** Whether the box is the one stop of the picture for the keyboard. */
  isStop: boolean;
  /** What a screen reader says. */
  label: string;
  ref: Ref<HTMLAnchorElement>;
  onFocus(): void;
}

/** A service in the picture: its name, formula, units by health, and whether it is exposed. */
export function ServiceBox({ model, service, at, isStop, label, ref, onFocus }: ServiceBoxProps) {
  const format = useFormat();
  const { name, formula, version, units, exposed, life } = service;
  const counts = countUnits(units);
  const [worst] = counts;
  const isLoud = worst !== undefined && worst.health !== 'healthy' && worst.health !== 'progressing';
  const status = worst === undefined ? 'waiting' : statusOfHealth[worst.health];
  const needs = missingRelations(service).length > 0;
  const ports = portsOf(service);
  return (
    <Link
      ref={ref}
      href={serviceHref(model, name)}
      prefetch={false}
      tabIndex={isStop ? 0 : -1}
      aria-label={label}
      data-st={status}
      draggable={false}
      onFocus={onFocus}
      style={{ left: at.x, top: at.y, width: boxWidth, height: boxHeight }}
      className={cn(
        'absolute grid grid-cols-[minmax(0,1fr)] content-between gap-px rounded-lg bg-surface px-3 py-1.5 shadow-card [--cut:var(--surface)] hover:bg-hover focus-visible:shadow-focus',
        isLoud && 'shadow-[inset_0_0_0_1.5px_var(--st-solid)]',
        life !== 'alive' && 'opacity-60',
      )}
    >
      <span className="flex min-w-0 items-baseline gap-2">
        <span translate="no" className="min-w-0 flex-1 truncate text-13 font-semibold">
          {name}
        </span>
        <span translate="no" className="mono-11 shrink-0 text-ink-3">
          {version}
        </span>
      </span>
      <span translate="no" className="mono-11 truncate text-ink-3">
        {formula}
      </span>
      <span className="flex min-w-0 items-center gap-2 text-12 tabular-nums">
        {counts.map(({ health, count }) => (
          <span key={health} data-st={statusOfHealth[health]} className="inline-flex items-center gap-1 text-st-text">
            <StatusIcon status={statusOfHealth[health]} className="size-3" />
            {format.number(count)}
          </span>
        ))}
        {exposed ? (
          <span className="ms-auto inline-flex min-w-0 items-center gap-1 text-ink-2">
            <Globe aria-hidden className="size-3 shrink-0" />
            <span className="truncate">{ports.map((port) => Number.parseInt(port, 10)).join(', ')}</span>
          </span>
        ) : null}
      </span>
      <span className="truncate text-12">
        {isLoud || needs || worst === undefined || life !== 'alive' ? <ServiceHealth service={service} /> : null}
      </span>
    </Link>
  );
}
