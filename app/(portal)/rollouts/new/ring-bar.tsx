'use client';

import { type KeyboardEvent, type PointerEvent, useRef } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import type { SentRing } from './definition.ts';

export interface RingBarProps {
  rings: readonly SentRing[];
  /** VMs of each ring; null where only the plan knows. */
  sizes: readonly (number | null)[];
  /** Whether the end of each ring can move; undefined if all can. */
  canMove?: readonly boolean[] | undefined;
  onChange(rings: SentRing[]): void;
}

const shades = ['bg-brand', 'bg-brand/70', 'bg-brand/50', 'bg-brand/35', 'bg-brand/25'];

/** Returns the share of all members that a ring reaches, in percent; null if it is not a share. */
export const shareOf = ({ upTo }: SentRing): number | null => (upTo && 'percent' in upTo ? upTo.percent : null);

/** The rings as one bar. The boundary between two shares is dragged, or moved with the arrow keys. */
export function RingBar({ rings, sizes, canMove, onChange }: RingBarProps) {
  const bar = useRef<HTMLDivElement>(null);
  // Shares need no plan, so the bar keeps its form when the plan arrives.
  const isShared = rings.every((ring) => shareOf(ring) !== null);
  const known = sizes.filter((size) => size !== null).reduce((sum, size) => sum + size, 0);
  const weights = rings.map((ring, index) => {
    const size = sizes[index];
    if (!isShared && known > 0 && size != null) return Math.max(size / known, 0.01);
    const before = rings
      .slice(0, index)
      .map(shareOf)
      .filter((share) => share !== null);
    return Math.max(((shareOf(ring) ?? 0) - Math.max(0, ...before)) / 100, 0.01);
  });
  const move = (index: number, percent: number) => {
    const lower = Math.max(0, ...rings.slice(0, index).map((ring) => shareOf(ring) ?? 0));
    const upper = Math.min(100, ...rings.slice(index + 1).map((ring) => shareOf(ring) ?? 100));
    const next = Math.round(Math.min(upper, Math.max(lower, percent)));
    onChange(rings.map((ring, at) => (at === index ? { ...ring, upTo: { percent: next } } : ring)));
  };
  return (
    <div ref={bar} className="flex h-3.5 gap-px" dir="ltr">
      {rings.map((ring, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: rings have no id, and their names can repeat
          key={index}
          style={{ flexGrow: weights[index], flexBasis: 0 }}
          // Even a ring with a small share is wide enough to touch its boundaries separately.
          className={cn(
            'relative min-w-6 first:rounded-s-sm last:rounded-e-sm',
            shades[Math.min(index, shades.length - 1)],
          )}
        >
          {index === rings.length - 1 || shareOf(ring) === null || canMove?.[index] === false ? null : (
            <Handle ring={ring} bar={bar} onMove={(percent) => move(index, percent)} />
          )}
        </div>
      ))}
    </div>
  );
}

interface HandleProps {
  ring: SentRing;
  bar: React.RefObject<HTMLDivElement | null>;
  onMove(percent: number): void;
}

const keySteps: Readonly<Partial<Record<string, number>>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
};

function Handle({ ring, bar, onMove }: HandleProps) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const share = shareOf(ring) ?? 0;
  const start = useRef({ x: 0, share });
  const grab = (event: PointerEvent<HTMLDivElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    start.current = { x: event.clientX, share };
  };
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const box = bar.current?.getBoundingClientRect();
    if (box) onMove(start.current.share + ((event.clientX - start.current.x) / box.width) * 100);
  };
  const press = (event: KeyboardEvent) => {
    const step = keySteps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    onMove(share + step);
  };
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label={t('new.ring.boundary', { name: ring.name })}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={share}
      aria-valuetext={format.percent(share / 100)}
      onPointerDown={grab}
      onPointerMove={drag}
      onKeyDown={press}
      className="absolute -inset-y-1 -right-1 z-1 w-2 cursor-ew-resize touch-none rounded-xs bg-surface shadow-[inset_0_0_0_1.5px_var(--brand)] focus-visible:shadow-focus"
    />
  );
}
