'use client';

import { type RefObject, startTransition, useLayoutEffect, useState } from 'react';

/** Rows beyond the window's edges that are drawn, too, so that a slow wheel meets no gap. */
const beyond = 8;
/** After so long without movement the list rests. */
const restMs = 120;

/** Which rows are in sight, from 0, and whether they race past. */
export interface Sight {
  from: number;
  to: number;
  moving: boolean;
}

export interface WindowRows {
  sight: Sight;
  /** The rows to draw. */
  first: number;
  last: number;
  /** Brings a row between what stands over and below the list. */
  show(index: number): void;
}

export interface WindowRowsOptions {
  /** What holds the rows, and the pixels in it before the first of them. */
  frame: RefObject<HTMLElement | null>;
  head: number;
  count: number;
  /** All rows are of this height: the place of each is known without its neighbours, however many there are. */
  rowHeight: number;
  /** Pixels at the window's edges that something else covers. */
  over: number;
  below: number;
}

/** The rows of a list of any length that the window shows while the page scrolls. */
export function useWindowRows({ frame, head, count, rowHeight, over, below }: WindowRowsOptions): WindowRows {
  // What a server renders, and a browser before it has looked.
  const [sight, setSight] = useState<Sight>({ from: 0, to: 24, moving: false });
  useLayoutEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = (moving: boolean) => {
      const top = (frame.current?.getBoundingClientRect().top ?? 0) + head;
      const from = Math.max(0, Math.floor((over - top) / rowHeight));
      const to = Math.max(from, Math.ceil((window.innerHeight - below - top) / rowHeight) - 1);
      setSight((now) => (now.from === from && now.to === to && now.moving === moving ? now : { from, to, moving }));
    };
    // Rows are drawn between frames, never instead of one: until they are, the gaps show what is to come.
    const move = () => {
      startTransition(() => look(true));
      clearTimeout(timer);
      timer = setTimeout(rest, restMs);
    };
    const rest = () => startTransition(() => look(false));
    look(false);
    window.addEventListener('scroll', move, { passive: true });
    window.addEventListener('resize', rest);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('scroll', move);
      window.removeEventListener('resize', rest);
    };
  }, [frame, head, rowHeight, over, below]);

  const end = Math.max(0, count - 1);
  const from = Math.min(sight.from, end);
  const to = Math.min(sight.to, end);
  return {
    sight: { from, to, moving: sight.moving },
    first: Math.max(0, from - beyond),
    last: Math.min(end, to + beyond),
    show(index) {
      const top = (frame.current?.getBoundingClientRect().top ?? 0) + head + index * rowHeight;
      const tooHigh = top - over;
      const tooLow = top + rowHeight - (window.innerHeight - below);
      if (tooHigh < 0) window.scrollBy({ top: tooHigh });
      else if (tooLow > 0) window.scrollBy({ top: tooLow });
    },
  };
}
