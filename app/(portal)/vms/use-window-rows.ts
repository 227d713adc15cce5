'use client';

import { type RefObject, startTransition, useLayoutEffect, useState } from 'react';

/** Number of rows that are rendered beyond the window's edges, so that slow scrolling shows no gaps. */
const beyond = 8;
/** How long after the last scroll event the list counts as still, in milliseconds. */
const restMs = 120;

/** The visible rows, counted from 0, and whether they are scrolling. */
export interface VisibleRows {
  from: number;
  to: number;
  moving: boolean;
}

export interface WindowRows {
  visible: VisibleRows;
  /** The rows to render. */
  first: number;
  last: number;
  /** Scrolls a row into view, between the bars above and below the list. */
  show(index: number): void;
}

export interface WindowRowsOptions {
  /** The element that contains the rows, and the pixels above the first row in it. */
  frame: RefObject<HTMLElement | null>;
  head: number;
  count: number;
  /** Height of every row, so that positions are known without measuring. */
  rowHeight: number;
  /** Pixels at the window's edges that bars cover. */
  over: number;
  below: number;
}

/** Determines the visible rows of a list of any length while the page scrolls. */
export function useWindowRows({ frame, head, count, rowHeight, over, below }: WindowRowsOptions): WindowRows {
  // The rows that the server renders, and the browser too until it has measured the page.
  const [visible, setSight] = useState<VisibleRows>({ from: 0, to: 24, moving: false });
  useLayoutEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = (moving: boolean) => {
      const top = (frame.current?.getBoundingClientRect().top ?? 0) + head;
      const from = Math.max(0, Math.floor((over - top) / rowHeight));
      const to = Math.max(from, Math.ceil((window.innerHeight - below - top) / rowHeight) - 1);
      setSight((now) => (now.from === from && now.to === to && now.moving === moving ? now : { from, to, moving }));
    };
    // Rows are rendered in a transition, so that they do not delay scrolling. Until then, gaps show placeholders.
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
  const from = Math.min(visible.from, end);
  const to = Math.min(visible.to, end);
  return {
    visible: { from, to, moving: visible.moving },
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
