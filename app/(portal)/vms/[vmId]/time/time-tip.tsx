'use client';

import { cn } from '#app/_ui/cn.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { Drawn } from './axis-events.ts';
import type { EventWords } from './use-event-words.ts';

export interface TimeTipProps {
  words: EventWords;
  drawn: Drawn | null;
  hint: string | null;
  /** Position of the event and width of the axis, in pixels. */
  x: number;
  width: number;
  /**
   * Distances in pixels: from the top of the axis to the lower edge of the event's lane, and from the bottom of the
   * axis to the lane's upper edge.
   */
  top: number;
  bottom: number;
  below: boolean;
}

/** The details of an event, next to it. Screen readers get them from the event's name. */
export function TimeTip({ words, drawn, hint, x, width, top, bottom, below }: TimeTipProps) {
  const { lane, title, notes, when } = words;
  const status = drawn === 'stale' ? 'warning' : drawn === 'unrecorded' ? 'unknown' : drawn;
  return (
    <div
      aria-hidden
      dir="auto"
      style={{
        ...(below ? { top: top + 2 } : { bottom: bottom + 2 }),
        ...(x > width / 2 ? { right: Math.max(0, width - x - 12) } : { left: Math.max(0, x - 12) }),
      }}
      className={cn(
        'pointer-events-none absolute z-10 grid w-max max-w-[min(320px,80vw)] gap-0.5 rounded-md bg-raised px-3 py-2 text-12 shadow-float',
        'animate-fade motion-reduce:animate-none',
      )}
    >
      <p className="flex items-center gap-1.5">
        {status === null ? null : <StatusIcon status={status} />}
        <b className="font-semibold">{lane}</b>
        <span>{title}</span>
      </p>
      {notes.map((note) => (
        <p key={note} className="text-ink-2">
          {note}
        </p>
      ))}
      <p className="text-ink-3 tabular-nums">{when}</p>
      {hint === null ? null : <p className="text-11 text-ink-3">{hint}</p>}
    </div>
  );
}
